"""A search with a beam of one: what `Beams` does with one hypothesis for each sentence, in fewer steps."""

import torch
from torch import Tensor

from pipeline_py.nmt.device import on_cpu
from pipeline_py.nmt.search.beams import Move, log_of_sum
from pipeline_py.nmt.search.finished import Ends, best_of
from pipeline_py.nmt.search.hypothesis import Hypothesis, Trail
from pipeline_py.subword.vocabulary import EOS


class Greedy:
    """The hypotheses of B sentences. Scores are those of `Beams`, to the last digit.

    On a CPU those that end leave at once; a GPU goes on with all rows until the last one ends.
    """

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
        self._over = torch.zeros(limits.shape, dtype=torch.bool, device=limits.device)
        self._length_normalization = length_normalization
        self._step = 0
        self._ends: list[Ends] = []
        self._trail = trail
        nothing = torch.full_like(limits, -1)
        self._nodes = trail.grow(nothing, nothing)

    def advance(self, logits: Tensor, attention: Tensor) -> Move | None:
        """Prolong the hypotheses by one prediction; None where none is live afterwards.

        The device is waited for once.

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
        self._step += 1
        ended = (tokens == EOS) | (self._limits <= self._step)
        ends = ended & ~self._over
        self._over = self._over | ended
        wrong, some, all_over = torch.stack([self._sums.isnan().any(), ends.any(), self._over.all()]).tolist()
        if wrong:
            raise FloatingPointError("the model predicts something that is not a number")
        if some:
            scores = (self._sums / self._step**self._length_normalization).masked_fill(~ends, -torch.inf)
            self._ends.append(Ends(self._step, self._sentences, scores, self._sums, self._nodes, tokens))
        if all_over:
            return None
        if some and on_cpu(tokens.device):
            return self._leave(tokens)
        self._nodes = self._trail.grow(tokens, self._nodes)
        return Move(None, tokens, anew=False)

    def _leave(self, tokens: Tensor) -> Move:
        """Keep the rows of hypotheses that go on."""
        live = self._over.logical_not().nonzero().squeeze(1)
        self._limits, self._sentences, self._sums = self._limits[live], self._sentences[live], self._sums[live]
        self._over, tokens = self._over[live], tokens[live]
        self._nodes = self._trail.grow(tokens, self._nodes[live])
        return Move(live, tokens, anew=True)

    def hypotheses(self, attended: Tensor) -> list[list[Hypothesis]]:
        """The one of each sentence; `attended` (B, N) is the mask of what there is to attend to."""
        return best_of(self._ends, self._trail, attended, 1)
