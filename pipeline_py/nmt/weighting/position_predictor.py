"""Where in the source a decoder state looks (Luong et al. 2015; SDAtt eq. 5)."""

import torch
from torch import Tensor, nn

from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.linear import LoopLinear
from pipeline_py.nmt.initialization import InitializationRule


class PositionPredictor(nn.Module):
    """p = J · sigmoid(vᵀ tanh(W_p s')), a real number in [0, J], with J the sentence's own length, EOS counted."""

    def __init__(self, query_size: int) -> None:
        super().__init__()
        self.query = LoopLinear(query_size, query_size, bias=False)
        self.vector = nn.Parameter(torch.empty(query_size))

    def initialize(self, rule: InitializationRule) -> None:
        """Let the vector begin as the rule says."""
        rule.fill_vector(self.vector)

    def forward(self, query: Tensor, memory: EncoderMemory) -> Tensor:
        """Predict one position a sentence: (B, Q) → (B,)."""
        seen = torch.tanh(upcast_half_precision(self.query(query)))
        # Not a matrix product: autocast would round it, and with it the position, to half precision.
        return memory.lengths * torch.sigmoid((seen * self.vector).sum(dim=1))


def build_positions(memory: EncoderMemory, reference: Tensor) -> Tensor:
    """Count the positions from 0: (J,) of the dtype of `like`."""
    return torch.arange(memory.mask.shape[1], dtype=reference.dtype, device=reference.device)
