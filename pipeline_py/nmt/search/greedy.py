"""A search with a beam of one: what `Beams` does with one hypothesis for each sentence, in fewer steps."""

from dataclasses import replace

import torch
from torch import Tensor

from pipeline_py.nmt.search.beams import Move, log_of_sum
from pipeline_py.nmt.search.finished import Finished
from pipeline_py.nmt.search.hypothesis import Hypothesis, Trail
from pipeline_py.subword.vocabulary import EOS


class Greedy:
    """The hypotheses of B sentences; those that end leave at once. Scores are those of `Beams`, to the last digit."""

    def __init__(self, limits: Tensor, length_normalization: float, trail: Trail) -> None:
        """Start each sentence with the empty hypothesis.

        Args:
            limits: (B,) the most predictions per sentence.
            length_normalization: α.
            trail: an empty one, which takes the prefixes.
        """
        self._limits = limits  # (R,), like all that follows
        self._sentences = torch.arange(len(limits), device=limits.device)
        self._sums = torch.zeros(limits.shape, dtype=torch.float64, device=limits.device)
        self._finished = Finished.none(limits, 1, length_normalization)
        self._trail = trail
        nothing = torch.full_like(limits, -1)
        self._nodes = trail.grow(nothing, nothing)

    def advance(self, logits: Tensor, attention: Tensor) -> Move | None:
        """Prolong the hypotheses by one prediction; None where none is live afterwards.

        The device is waited for once; twice where a hypothesis ends.

        Args:
            logits: (R, V) of the prediction.
            attention: (R, N) that went into it.

        Raises:
            FloatingPointError: where logits are not numbers.
        """
        self._trail.attend(attention)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        tokens = logits.argmax(dim=1)
        greatest = logits.gather(1, tokens.unsqueeze(1))
        normalizer = log_of_sum(logits, greatest)
        self._sums = self._sums + (greatest - normalizer).squeeze(1).clamp(max=0)
        step = self._finished.step + 1
        ended = (tokens == EOS) | (self._limits <= step)
        wrong, ends = torch.stack([self._sums.isnan().any(), ended.any()]).tolist()
        if wrong:
            raise FloatingPointError("the model predicts something that is not a number")
        self._finished = replace(self._finished, step=step)
        if not ends:
            self._nodes = self._trail.grow(tokens, self._nodes)
            return Move(None, tokens, anew=False)
        self._end(ended.nonzero().squeeze(1), tokens)
        live = ended.logical_not().nonzero().squeeze(1)
        if not len(live):
            return None
        self._limits, self._sentences, self._sums = self._limits[live], self._sentences[live], self._sums[live]
        self._nodes = self._trail.grow(tokens[live], self._nodes[live])
        return Move(live, tokens[live], anew=True)

    def _end(self, rows: Tensor, tokens: Tensor) -> None:
        """Let hypotheses leave."""
        finished, places = self._finished, (self._sentences[rows], torch.zeros_like(rows))
        sums = self._sums[rows]
        lengths = torch.full_like(rows, finished.step)
        self._finished = replace(
            finished,
            scores=finished.scores.index_put(places, sums / finished.step**finished.length_normalization),
            log_probabilities=finished.log_probabilities.index_put(places, sums),
            nodes=finished.nodes.index_put(places, self._nodes[rows]),
            tokens=finished.tokens.index_put(places, tokens[rows]),
            lengths=finished.lengths.index_put(places, lengths),
        )

    def hypotheses(self, attended: Tensor) -> list[list[Hypothesis]]:
        """The one of each sentence; `attended` (B, N) is the mask of what there is to attend to."""
        return self._finished.best(self._trail, attended, 1)
