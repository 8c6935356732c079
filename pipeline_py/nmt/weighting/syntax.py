"""Syntax-directed attention: a Gaussian over distances in the dependency tree (SDAtt eq. 9–11)."""

import torch
from torch import Tensor

from pipeline_py.config.systems.decoders import SyntaxContextConfig
from pipeline_py.nmt.attention_weighting import AttentionStatistics, Weighting, WeightingState, masked_softmax
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.weighting.position_predictor import PositionPredictor


class SyntaxWeighting(Weighting):
    """Attention to the words within syntax distance n of the attended position, with a Gaussian of it, σ = n/2.

    M is the matrix of distances in the tree. The paper takes the row M[p] of the predicted position p (eq. 5, counted
    from 0), a real number; `position` chooses the distances m:

    - `attention`: m = Σ_k α_k M[k] with α the softmax over the whole sentence; no position is predicted. If no word
      has m ≤ n, the words with the smallest m are used.
    - `interpolate`: m = (1 − f) · M[k] + f · M[k + 1] with k = min(⌊p⌋, J − 2) and f = p − k; after the last row,
      that of EOS, the line through the last two rows is extrapolated, which gives p a gradient there too. The words are
      those within n of the nearer row (the right one if f = 0.5).
    - `round`: m is the nearer row. The predictor of p gets no gradient.

    `gaussian` chooses where the Gaussian is applied:

    - `log`: its logarithm is added to the score, softmax of e_ij − m_j² / 2σ²; this is `weight`, normalized to 1.
    - `score`: it scales the score, softmax of e_ij · exp(−m_j² / 2σ²) (eq. 10 as printed).
    - `weight`: it scales the weight after the softmax of e_ij over the same words, and the weights do not sum to 1 (as
      in Luong's local attention).
    """

    def __init__(self, options: SyntaxContextConfig, query_size: int) -> None:
        super().__init__()
        self.options = options
        self.window = options.window
        self.sigma = options.window / 2
        self.position = None if options.position == "attention" else PositionPredictor(query_size)

    def forward(
        self, scores: Tensor, query: Tensor, memory: EncoderMemory, state: WeightingState
    ) -> tuple[Tensor, WeightingState]:
        """Weigh the positions: (B, J) → (B, J)."""
        distance, window_mask = self._compute_distances(scores, query, memory)
        exponent = -(distance**2) / (2 * self.sigma**2)
        if self.options.gaussian == "log":
            return masked_softmax(scores + exponent, window_mask), state
        if self.options.gaussian == "score":
            return masked_softmax(scores * exponent.exp(), window_mask), state
        return masked_softmax(scores, window_mask) * exponent.exp(), state

    def collect_statistics(
        self, scores: Tensor, query: Tensor, memory: EncoderMemory, state: WeightingState
    ) -> AttentionStatistics:
        """Count the words in the window, the negative scores among them, and positions after the last row of M."""
        _, window_mask = self._compute_distances(scores, query, memory)
        words = window_mask.sum(dim=1)
        steps = torch.ones_like(words)
        statistics = {
            "negative_scores": ((window_mask & (scores < 0)).sum(dim=1), words),
            "words_in_window": (words, steps),
        }
        if self.position is not None:
            statistics["positions_behind_the_last_word"] = (self.position(query, memory) > memory.lengths - 1, steps)
        return statistics

    def _compute_distances(self, scores: Tensor, query: Tensor, memory: EncoderMemory) -> tuple[Tensor, Tensor]:
        """Return m (B, J) and the words that may get weight (B, J) bool."""
        matrix = memory.get_syntax("distances")  # (B, J, J)
        if self.position is None:
            weights = masked_softmax(scores, memory.mask)
            with torch.autocast(weights.device.type, enabled=False):
                distance = torch.bmm(weights.unsqueeze(1), matrix.to(weights.dtype)).squeeze(1)
            least = distance.masked_fill(~memory.mask, torch.inf).amin(dim=1, keepdim=True)
            return distance, memory.mask & (distance <= least.clamp(min=self.window))
        centre = self.position(query, memory)
        # Stay within the sentence even if p is not a number.
        left = torch.minimum(centre.detach().floor().long(), memory.lengths - 2).clamp(min=0)
        right = torch.minimum(left + 1, memory.lengths - 1)
        fraction = (centre - left).unsqueeze(1)
        sentences = torch.arange(len(matrix), device=matrix.device)
        from_left, from_right = matrix[sentences, left], matrix[sentences, right]  # (B, J) each
        nearer = torch.where(fraction < 0.5, from_left, from_right)
        window_mask = memory.mask & (nearer <= self.window)
        if self.options.position == "round":
            return nearer.to(scores.dtype), window_mask
        return torch.lerp(from_left.to(centre.dtype), from_right.to(centre.dtype), fraction), window_mask
