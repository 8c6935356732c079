"""Parent-scaled self-attention (Bugliarello and Okazaki 2020, section 3)."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from pipeline_py.config.systems.network_parts import PASCALConfig
from pipeline_py.kinds.heads import NO_HEAD
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.transformer.multi_head_attention import SelfAttentionChange


class ParentScaledAttention(SelfAttentionChange):
    """e_ij · N(j; p_i, σ²), the density at position j, with p_i the middle piece position of the head word of i.

    In training, a row of a head stays unchanged with the probability `parent_ignoring`. Rows of sentences without a
    parse always stay unchanged.
    """

    def __init__(
        self, options: PASCALConfig, hidden_size: int, head_count: int, vocabulary_sizes: Mapping[str, int]
    ) -> None:
        super().__init__()
        self.sigma, self.parent_ignoring_rate = options.sigma, options.parent_ignoring

    def forward(self, scores: Tensor, states: Tensor, batch: Batch) -> Tensor:
        """Apply the parents to the scores (B, heads, J, J)."""
        parents = batch.get_syntax("parents")  # (B, J, 2)
        unknown = (parents[:, :, 0] == NO_HEAD)[:, None, :, None]
        middle = (parents.sum(dim=2).to(scores.dtype) / 2)[:, None, :, None]
        positions = torch.arange(scores.shape[3], device=scores.device, dtype=scores.dtype)
        density = torch.exp(-((positions - middle) ** 2) / (2 * self.sigma**2)) / (self.sigma * math.sqrt(2 * math.pi))
        if self.training and self.parent_ignoring_rate:
            unknown = unknown | (
                torch.rand(scores.shape[:3], device=scores.device).unsqueeze(3) < self.parent_ignoring_rate
            )
        return torch.where(unknown, scores, scores * density)
