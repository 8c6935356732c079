"""Hypotheses that left the beam of a search (the rules stand in `beam_search.py`)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from pipeline_py.nmt.search.hypothesis import Hypothesis, Trail
from pipeline_py.subword.vocabulary import EOS


@dataclass(frozen=True)
class Ends:
    """Hypotheses that left the beam at the same step; of each sentence the better ones first.

    Attributes:
        length: number of predictions of each.
        sentences, scores, log_probabilities, nodes, tokens: of each, in any shape: whose translation it is, what it is
            ranked by (−∞: here is none), its log-probability without the term of its length, the prefix (its number in
            the `Trail`) before its last prediction, that prediction.
    """

    length: int
    sentences: Tensor
    scores: Tensor
    log_probabilities: Tensor
    nodes: Tensor
    tokens: Tensor


@dataclass(frozen=True)
class Finished:
    """Hypotheses of B sentences that ended or were cut.

    Attributes:
        limits: (B,) the most predictions per sentence.
        length_normalization: α.
        step: predictions made so far.
        count: (B,) finished hypotheses per sentence, at most K.
        highest: (B, n) the scores of the n best ones; −∞: there are fewer.
        sentences: (B, 1) their numbers.
        ends: of each step.
    """

    limits: Tensor
    length_normalization: float
    step: int
    count: Tensor
    highest: Tensor
    sentences: Tensor
    ends: tuple[Ends, ...] = ()

    @staticmethod
    def none(limits: Tensor, length_normalization: float, n_best: int) -> "Finished":
        """Nothing is finished before the first prediction."""
        highest = torch.full((len(limits), n_best), -torch.inf, dtype=torch.float64, device=limits.device)
        sentences = torch.arange(len(limits), device=limits.device).unsqueeze(1)
        return Finished(limits, length_normalization, 0, torch.zeros_like(limits), highest, sentences)

    def sort_out(self, sums: Tensor, terms: Tensor | int, tokens: Tensor, nodes: Tensor) -> tuple["Finished", Tensor]:
        """Take the candidates that fit the beam, add those that finish here, and find those that live on.

        A sentence ends when no live hypothesis can become one of its n best.

        Args:
            sums: (B, K) of the candidates of the next step, best first; −∞: there is none.
            terms: (B, K) what the lengths of those that leave the beam have in these sums; 0 without a length model.
            tokens: (B, K) their last predictions.
            nodes: (B, K) the prefixes before.

        Returns:
            What is finished then, and the mask (B, K) of candidates that live on.
        """
        beam = sums.shape[1]
        step = self.step + 1
        room = beam - self.count[:, None]
        taken = (torch.arange(beam, device=sums.device) < room) & (sums > -torch.inf)
        leaving = taken & ((tokens == EOS) | (self.limits[:, None] <= step))
        scores = (sums / step**self.length_normalization).masked_fill(~leaving, -torch.inf)
        finished = replace(
            self,
            step=step,
            count=self.count + leaving.sum(1),
            highest=torch.cat([self.highest, scores], dim=1).topk(self.highest.shape[1]).values,
            ends=(*self.ends, Ends(step, self.sentences.expand_as(sums), scores, sums - terms, nodes, tokens)),
        )
        live = taken & ~leaving
        within_reach = sums.masked_fill(~live, -torch.inf).amax(1)
        if self.length_normalization:
            within_reach = within_reach / self.limits.double().pow(self.length_normalization)
        return finished, live & (within_reach > finished.highest[:, -1])[:, None]


def best_of(ends: Sequence[Ends], trail: Trail, attended: Tensor, n_best: int) -> list[list[Hypothesis]]:
    """Return at most `n_best` hypotheses of each sentence, best first, with the columns of attention that it has.

    Of equal scores the first stays first.

    Args:
        ends: in the order of steps.
        trail: the prefixes.
        attended: (B, N), on the CPU, the mask of what there is to attend to.
        n_best: at least 1.
    """
    lengths = torch.tensor([each.length for each in ends]).repeat_interleave(
        torch.tensor([each.scores.numel() for each in ends])
    )
    parts = zip(*((e.sentences, e.scores, e.log_probabilities, e.nodes, e.tokens) for e in ends), strict=True)
    table = [torch.cat([part.flatten() for part in of_steps]).cpu() for of_steps in parts]
    there = (table[1] > -torch.inf).nonzero().squeeze(1)
    ranked = there[table[1][there].argsort(descending=True, stable=True)]
    sentences, scores, log_probabilities, nodes, tokens = (column[ranked].tolist() for column in table)
    wanted: list[list[int]] = [[] for _ in attended]
    for place, sentence in enumerate(sentences):
        if len(wanted[sentence]) < n_best:
            wanted[sentence].append(place)
    chosen = [place for places in wanted for place in places]
    of_ranked = lengths[ranked].tolist()
    paths = trail.read_back([nodes[place] for place in chosen], [of_ranked[place] for place in chosen])
    hypotheses: list[list[Hypothesis]] = [[] for _ in attended]
    for place, (prefix, attention) in zip(chosen, paths, strict=True):
        sentence, token, whole = sentences[place], tokens[place], trail.whole_attention
        hypotheses[sentence].append(
            Hypothesis(
                tokens=prefix if token == EOS else [*prefix, token],
                score=scores[place],
                log_probability=log_probabilities[place],
                cut=token != EOS,
                alignment=(attention[:, : trail.words].argmax(1) if whole else attention).tolist(),
                attention=attention[:, attended[sentence]].numpy() if whole else None,
            )
        )
    return hypotheses
