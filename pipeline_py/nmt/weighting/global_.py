"""Global attention (Bahdanau et al. 2015; SDAtt eq. 2)."""

from torch import Tensor

from pipeline_py.config.systems.decoders import GlobalContextConfig
from pipeline_py.nmt.attention_weighting import Weighting, WeightingState, masked_softmax
from pipeline_py.nmt.encoder_memory import EncoderMemory


class GlobalWeighting(Weighting):
    """α_ij = exp(e_ij) / Σ_k exp(e_ik) over all positions and phrases of the sentence."""

    def __init__(self, options: GlobalContextConfig, query_size: int) -> None:
        super().__init__()

    def forward(
        self, scores: Tensor, query: Tensor, memory: EncoderMemory, state: WeightingState
    ) -> tuple[Tensor, WeightingState]:
        """Weigh positions and phrases: (B, N) → (B, N)."""
        return masked_softmax(scores, memory.mask), state
