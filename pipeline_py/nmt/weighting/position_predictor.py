"""Prediction of the source position to attend to (Luong et al. 2015; SDAtt eq. 5)."""

import torch
from torch import Tensor, nn

from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.linear import LoopLinear
from pipeline_py.nmt.initialization import InitializationRule


class PositionPredictor(nn.Module):
    """p = J · sigmoid(vᵀ tanh(W_p s')), a real number in [0, J], with J the length of the sentence, EOS included."""

    def __init__(self, query_size: int) -> None:
        super().__init__()
        self.query = LoopLinear(query_size, query_size, bias=False)
        self.vector = nn.Parameter(torch.empty(query_size))

    def initialize(self, rule: InitializationRule) -> None:
        """Initialize the vector."""
        rule.fill_vector(self.vector)

    def forward(self, query: Tensor, memory: EncoderMemory) -> Tensor:
        """Predict one position for each sentence: (B, Q) → (B,)."""
        hidden = torch.tanh(upcast_half_precision(self.query(query)))
        # Elementwise, since autocast would round a matrix product to half precision.
        return memory.lengths * torch.sigmoid((hidden * self.vector).sum(dim=1))


def build_positions(memory: EncoderMemory, reference: Tensor) -> Tensor:
    """Return the positions 0, 1, …, J − 1 in the dtype and on the device of `reference`."""
    return torch.arange(memory.mask.shape[1], dtype=reference.dtype, device=reference.device)
