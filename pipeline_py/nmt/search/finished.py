"""Hypotheses that left the beam of a search (the rules stand in `search.py`)."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from pipeline_py.nmt.search.hypothesis import Hypothesis, Trail
from pipeline_py.subword.vocabulary import EOS


@dataclass(frozen=True)
class Finished:
    """Hypotheses of B sentences that ended or were cut, each sentence's in the order in which they left the beam.

    Attributes:
        limits: (B,) the most predictions per sentence.
        length_normalization: α.
        step: predictions made so far.
        count: (B,) finished hypotheses per sentence, at most K.
        scores, log_probabilities, nodes, tokens, lengths: (B, K + 1) of each: what it is ranked by (−∞: there is
            none), its log-probability without the term of its length, the prefix (its number in the `Trail`) before
            its last prediction, that prediction, its number of predictions. Column K takes what is not finished, and
            is never read.
    """

    limits: Tensor
    length_normalization: float
    step: int
    count: Tensor
    scores: Tensor
    log_probabilities: Tensor
    nodes: Tensor
    tokens: Tensor
    lengths: Tensor

    @staticmethod
    def none(limits: Tensor, beam: int, length_normalization: float) -> "Finished":
        """Nothing is finished before the first prediction."""
        scores = torch.full((len(limits), beam + 1), -torch.inf, dtype=torch.float64, device=limits.device)
        numbers = torch.zeros(scores.shape, dtype=torch.int64, device=limits.device)
        count = torch.zeros_like(limits)
        return Finished(limits, length_normalization, 0, count, scores, scores, numbers, numbers, numbers)

    def sort_out(
        self, sums: Tensor, terms: Tensor | int, tokens: Tensor, nodes: Tensor, n_best: int
    ) -> tuple["Finished", Tensor]:
        """Take the candidates that fit the beam, add those that finish here, and find those that live on.

        Args:
            sums: (B, K) of the candidates of the next step, best first; −∞: there is none.
            terms: (B, K) what the lengths of those that leave the beam have in these sums; 0 without a length model.
            tokens: (B, K) their last predictions.
            nodes: (B, K) the prefixes before.
            n_best: a sentence ends when no live hypothesis can become one of its `n_best` best.

        Returns:
            What is finished then, and the mask (B, K) of candidates that live on.
        """
        beam = sums.shape[1]
        step = self.step + 1
        room = beam - self.count[:, None]
        taken = (torch.arange(beam, device=sums.device) < room) & (sums > -torch.inf)
        leaving = taken & ((tokens == EOS) | (self.limits[:, None] <= step))
        places = torch.where(leaving, self.count[:, None] + leaving.cumsum(1) - 1, beam)
        finished = replace(
            self,
            step=step,
            count=self.count + leaving.sum(1),
            scores=self.scores.scatter(1, places, sums / step**self.length_normalization),
            log_probabilities=self.log_probabilities.scatter(1, places, sums - terms),
            nodes=self.nodes.scatter(1, places, nodes),
            tokens=self.tokens.scatter(1, places, tokens),
            lengths=self.lengths.scatter(1, places, step),
        )
        live = taken & ~leaving
        highest = sums.masked_fill(~live, -torch.inf).amax(1)
        within_reach = highest / self.limits.double().pow(self.length_normalization)
        to_beat = finished.scores[:, :beam].topk(n_best, dim=1).values[:, -1]
        return finished, live & (within_reach > to_beat)[:, None]

    def best(self, trail: Trail, attended: Tensor, n_best: int) -> list[list[Hypothesis]]:
        """Return at most `n_best` hypotheses of each sentence, with the columns of attention that it has.

        `attended` (B, N), on the CPU, says which these are.
        """
        ranked, order = self.scores[:, :-1].sort(dim=1, descending=True, stable=True)
        exists = ranked[:, :n_best] > -torch.inf
        sentences = exists.nonzero()[:, 0]
        columns = order[:, :n_best][exists]
        tables = (self.scores, self.log_probabilities, self.nodes, self.tokens, self.lengths)
        scores, log_probabilities, nodes, tokens, lengths = (table[sentences, columns].tolist() for table in tables)
        paths = trail.read_back(nodes, lengths)
        hypotheses: list[list[Hypothesis]] = [[] for _ in attended]
        for i, sentence in enumerate(sentences.tolist()):
            prefix, attention = paths[i]
            whole = trail.whole_attention
            hypotheses[sentence].append(
                Hypothesis(
                    tokens=prefix if tokens[i] == EOS else [*prefix, tokens[i]],
                    score=scores[i],
                    log_probability=log_probabilities[i],
                    cut=tokens[i] != EOS,
                    alignment=(attention[:, : trail.words].argmax(1) if whole else attention).tolist(),
                    attention=attention[:, attended[sentence]].numpy() if whole else None,
                )
            )
        return hypotheses
