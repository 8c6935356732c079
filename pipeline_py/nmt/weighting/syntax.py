"""Syntax-directed attention: a Gaussian over distances in the dependency tree (SDAtt eq. 9–11)."""

import torch
from torch import Tensor

from pipeline_py.config.decoders import SyntaxContext
from pipeline_py.nmt.attention import Carried, Observation, Weighting, masked_softmax
from pipeline_py.nmt.memory import Memory
from pipeline_py.nmt.position import PredictedPosition


class Part(Weighting):
    """softmax of e_ij · exp(−m_j² / 2σ²) over the words within syntax distance n of position p, with σ = n/2.

    M is the matrix of distances in the tree, p the predicted position (eq. 5), counted from 0. The paper takes the
    row M[p]; p is real, so `position` says what m is:

    - `interpolate`: m = (1 − f) · M[⌊p⌋] + f · M[min(⌊p⌋ + 1, J − 1)] with f = p − ⌊p⌋; the words are those within n
      of the nearer row (of the right one when f is just a half), so there is always one: the row's own word.
    - `round`: m is that nearer row. The predictor of p gets no gradient.
    - `attention`: m = Σ_k α_k M[k] with α the softmax over the whole sentence; there is no predictor. Where no word
      has m ≤ n, those with the smallest m are taken.

    `gaussian: weight` multiplies the weights instead, after a softmax of e_ij over the same words, and does not make
    them sum to 1 again (as in Luong's local attention).
    """

    def __init__(self, options: SyntaxContext, query_size: int) -> None:
        super().__init__()
        self.options = options
        self.window = options.window
        self.sigma = options.window / 2
        self.position = None if options.position == "attention" else PredictedPosition(query_size)

    def forward(self, scores: Tensor, query: Tensor, memory: Memory, carried: Carried) -> tuple[Tensor, Carried]:
        """Weigh the positions: (B, J) → (B, J)."""
        distance, near = self._distance(scores, query, memory)
        gaussian = torch.exp(-(distance**2) / (2 * self.sigma**2))
        if self.options.gaussian == "score":
            return masked_softmax(scores * gaussian, near), carried
        return masked_softmax(scores, near) * gaussian, carried

    def observe(self, scores: Tensor, query: Tensor, memory: Memory, carried: Carried) -> Observation:
        """Count the words near enough, and the negative scores among them, which eq. 10 raises with distance."""
        _, near = self._distance(scores, query, memory)
        words = near.sum(dim=1)
        negative = (near & (scores < 0)).sum(dim=1)
        return {"negative_scores": (negative, words), "words_in_window": (words, torch.ones_like(words))}

    def _distance(self, scores: Tensor, query: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        """Return m (B, J) and the words that may get weight (B, J) bool."""
        matrix = memory.syntax["distances"]  # (B, J, J)
        if self.position is None:
            weights = masked_softmax(scores, memory.mask)
            with torch.autocast(weights.device.type, enabled=False):
                distance = torch.bmm(weights.unsqueeze(1), matrix.to(weights.dtype)).squeeze(1)
            least = distance.masked_fill(~memory.mask, torch.inf).amin(dim=1, keepdim=True)
            return distance, memory.mask & (distance <= least.clamp(min=self.window))
        centre = self.position(query, memory)
        last = memory.lengths - 1
        left = torch.minimum(centre.detach().floor().long(), last)
        right = torch.minimum(left + 1, last)
        fraction = (centre - left).unsqueeze(1)
        sentences = torch.arange(len(matrix), device=matrix.device)
        from_left, from_right = matrix[sentences, left], matrix[sentences, right]  # (B, J) each
        nearer = torch.where(fraction < 0.5, from_left, from_right)
        near = memory.mask & (nearer <= self.window)
        if self.options.position == "round":
            return nearer.to(scores.dtype), near
        return torch.lerp(from_left.to(centre.dtype), from_right.to(centre.dtype), fraction), near
