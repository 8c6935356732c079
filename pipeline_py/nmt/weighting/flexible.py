"""Flexible attention: a penalty for moving away from the previous centre (Shu and Nakayama 2017, W17-3201)."""

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.decoders import FlexibleContextConfig
from pipeline_py.nmt.attention_weighting import (
    AttentionStatistics,
    Weighting,
    WeightingState,
    masked_softmax,
    upcast_half_precision,
)
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.linear import LoopLinear
from pipeline_py.nmt.initialization import InitializationRule
from pipeline_py.nmt.weighting.position_predictor import build_positions

MAX_EXPONENT = 50.0
"""Upper bound of log g, which keeps penalties finite."""


class FlexibleWeighting(Weighting):
    """softmax(e_ij − g · (j − p)² / 2σ²), where p = Σ_j α_{i−1,j} · j is the centre of the previous step.

    g = exp(vᵀ tanh(W s' + b)) > 0 is the strictness; the first centre is 0. With a `threshold`, positions with a
    higher penalty get no weight when decoding (never in training), except the position with the lowest penalty.
    """

    def __init__(self, options: FlexibleContextConfig, query_size: int) -> None:
        super().__init__()
        self.sigma = options.sigma
        self.threshold = options.threshold
        self.query = LoopLinear(query_size, query_size, bias=True)
        self.vector = nn.Parameter(torch.empty(query_size))

    def initialize(self, rule: InitializationRule) -> None:
        """Initialize the vector."""
        rule.fill_vector(self.vector)

    def build_initial_state(self, memory: EncoderMemory) -> WeightingState:
        """Return a centre of 0 for each sentence (B,)."""
        return (memory.annotations[0].new_zeros(len(memory.lengths)),)

    def forward(
        self, scores: Tensor, query: Tensor, memory: EncoderMemory, state: WeightingState
    ) -> tuple[Tensor, WeightingState]:
        """Weigh the positions: (B, J) → (B, J); the new state is the centre (B,)."""
        penalty = self._compute_penalty(query, memory, state)
        allowed = memory.mask if self.training else self._build_allowed_mask(penalty, memory)
        weights = masked_softmax(scores - penalty, allowed)
        return weights, ((weights * build_positions(memory, weights)).sum(dim=1),)

    def collect_statistics(
        self, scores: Tensor, query: Tensor, memory: EncoderMemory, state: WeightingState
    ) -> AttentionStatistics:
        """Count the positions below the threshold, the vision span of the paper."""
        span = self._build_allowed_mask(self._compute_penalty(query, memory, state), memory).sum(dim=1)
        return {"vision_span": (span, torch.ones_like(span))}

    def _compute_penalty(self, query: Tensor, memory: EncoderMemory, state: WeightingState) -> Tensor:
        hidden = torch.tanh(upcast_half_precision(self.query(query)))
        # Elementwise products, here and of the centre: autocast would round matrix products to half precision.
        strictness = (hidden * self.vector).sum(dim=1).clamp(max=MAX_EXPONENT).exp()
        (centre,) = state
        distance = build_positions(memory, centre) - centre.unsqueeze(1)  # (B, J)
        return strictness.unsqueeze(1) * distance**2 / (2 * self.sigma**2)

    def _build_allowed_mask(self, penalty: Tensor, memory: EncoderMemory) -> Tensor:
        if self.threshold is None:
            return memory.mask
        least = penalty.masked_fill(~memory.mask, torch.inf).amin(dim=1, keepdim=True)
        return memory.mask & (penalty <= least.clamp(min=self.threshold))
