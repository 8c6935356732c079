"""Syntax-directed attention (SDAtt eq. 9–11) in heads of a Transformer's attention to the source."""

from collections.abc import Mapping

import torch
from torch import Tensor

from pipeline_py.config.systems.network_parts import SyntaxCrossAttentionConfig
from pipeline_py.nmt.attention_weighting import masked_softmax
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.transformer.multi_head_attention import CrossAttentionChange


class SyntaxDirectedCrossAttention(CrossAttentionChange):
    """A Gaussian of the syntax distance from the attended position of a head, as in `weighting.syntax` (`attention`).

    m = Σ_k α_k M[k], with M the distances in the tree and α the softmax of the head's scores e over the sentence. Words
    with m > n get no weight, unless no word has m ≤ n: then the words with the smallest m are used. σ = n/2. The
    scores become e − m² / 2σ² (`log`) or e · exp(−m² / 2σ²) (`score`).
    """

    def __init__(
        self,
        options: SyntaxCrossAttentionConfig,
        hidden_size: int,
        head_count: int,
        vocabulary_sizes: Mapping[str, int],
    ) -> None:
        super().__init__()
        self.window, self.sigma = options.window, options.window / 2
        self.is_score_multiplied = options.gaussian == "score"

    def forward(self, scores: Tensor, memory: EncoderMemory) -> Tensor:
        """Apply the distances to the scores (B, heads, I, J)."""
        mask = memory.mask[:, None, None]
        weights = masked_softmax(scores, mask)
        with torch.autocast(weights.device.type, enabled=False):
            distance = weights @ memory.get_syntax("distances").to(weights.dtype).unsqueeze(1)
        least = distance.masked_fill(~mask, torch.inf).amin(dim=3, keepdim=True)
        exponent = -(distance**2) / (2 * self.sigma**2)
        changed = scores * exponent.exp() if self.is_score_multiplied else scores + exponent
        return changed.masked_fill(distance > least.clamp(min=self.window), -torch.inf)
