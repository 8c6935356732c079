"""Local attention with a predicted position (Luong et al. 2015; SDAtt eq. 5–7)."""

import torch
from torch import Tensor

from pipeline_py.config.systems.decoders import LocalContextConfig
from pipeline_py.nmt.attention_weighting import Weighting, WeightingState, masked_softmax
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.weighting.position_predictor import PositionPredictor, build_positions


class LocalWeighting(Weighting):
    """α_ij · exp(−(j − p)² / 2σ²) within a window around p and 0 outside, with σ = D/2.

    `normalized` chooses α: the softmax over the whole `sentence` (eq. 6) with the window [p − D, p + D], or the softmax
    over the `window` [⌊p⌋ − D, ⌊p⌋ + D] only (as in Luong's code). In both cases the weights do not sum to 1. The
    window is never empty: p lies in [0, J], and D is at least 1.
    """

    def __init__(self, options: LocalContextConfig, query_size: int) -> None:
        super().__init__()
        self.window = options.window
        self.sigma = options.window / 2
        self.is_normalized_over_sentence = options.normalized == "sentence"
        self.position = PositionPredictor(query_size)

    def forward(
        self, scores: Tensor, query: Tensor, memory: EncoderMemory, state: WeightingState
    ) -> tuple[Tensor, WeightingState]:
        """Weigh the positions: (B, J) → (B, J)."""
        centre = self.position(query, memory).unsqueeze(1)  # (B, 1)
        positions = build_positions(memory, centre)  # (J,)
        distance = positions - centre  # (B, J)
        gaussian = torch.exp(-(distance**2) / (2 * self.sigma**2))
        if self.is_normalized_over_sentence:
            window_mask = distance.abs() <= self.window
            return masked_softmax(scores, memory.mask) * gaussian * window_mask, state
        window_mask = (positions - centre.detach().floor()).abs() <= self.window
        return masked_softmax(scores, memory.mask & window_mask) * gaussian, state
