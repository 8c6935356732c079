"""Self-attention scaled by dependency distance (Peng et al. 2021)."""

from collections.abc import Mapping

from torch import Tensor

from pipeline_py.config.systems.network_parts import DepsSANConfig
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.transformer.multi_head_attention import SelfAttentionChange


class DependencyScaledAttention(SelfAttentionChange):
    """e_ij · exp(−d² / 2σ²) (`score`), or e_ij − d² / 2σ² (`log`), with d the distance of words i and j in the tree."""

    def __init__(
        self, options: DepsSANConfig, hidden_size: int, head_count: int, vocabulary_sizes: Mapping[str, int]
    ) -> None:
        super().__init__()
        self.sigma, self.is_score_multiplied = options.sigma, options.gaussian == "score"

    def forward(self, scores: Tensor, states: Tensor, batch: Batch) -> Tensor:
        """Apply the distances to the scores (B, heads, J, J)."""
        distance = batch.get_syntax("distances").to(scores.dtype).unsqueeze(1)
        exponent = -(distance**2) / (2 * self.sigma**2)
        return scores * exponent.exp() if self.is_score_multiplied else scores + exponent
