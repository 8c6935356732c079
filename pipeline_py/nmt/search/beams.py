"""The hypotheses of a batch during a search (the rules stand in `beam_search.py`)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from pipeline_py.nmt.device import on_cpu
from pipeline_py.nmt.fast.matrix_products import split_rows
from pipeline_py.nmt.search.hypothesis import Hypothesis, LengthTerms, Trail
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


COMPACT_BELOW = 0.95
"""On a CPU idle rows leave once fewer than this share of the rows is live."""

BLOCK = 64
"""Logits whose greatest one is found first, when the greatest of a row are looked for."""


@dataclass(frozen=True)
class Candidates:
    """Prolonged hypotheses (B, K), best first: sums (−∞: none), rows of parents, tokens.

    A sum is that of log-probabilities and, where the hypothesis leaves the beam, of the term of its length.
    """

    sums: Tensor
    parents: Tensor
    tokens: Tensor


@dataclass(frozen=True)
class Rows:
    """Which hypotheses the rows (R) of the decoder hold: sentence by sentence, better ones first.

    A sentence keeps its rows until they are laid anew; meanwhile the last of them may be idle. A GPU, which computes
    many rows as fast as few, is given all rows of a sentence at once: they stay as they are, and so does the shape of
    what it computes.

    Attributes:
        sentence: (R,) the sentence of a row.
        slot: (R,) the rank of a row's hypothesis within its sentence.
        widths: (B,) rows per sentence, at most K.
        row: (B, K) the row of each slot; any row where the sentence has no such slot.
        lacking: (B, K) where that is so.
    """

    sentence: Tensor
    slot: Tensor
    widths: Tensor
    row: Tensor
    lacking: Tensor

    @staticmethod
    def lay(widths: Tensor, beam: int) -> "Rows":
        """Lay `widths` (B,) rows per sentence."""
        filled = torch.arange(beam, device=widths.device) < widths[:, None]
        sentence, slot = filled.nonzero(as_tuple=True)
        row = (filled.flatten().cumsum(0) - 1).clamp(min=0).view_as(filled)
        return Rows(sentence, slot, widths, row, ~filled)

    def best(self, sums: Tensor, tokens: Tensor) -> Candidates:
        """Choose the K best of each sentence among the C best prolongations (R, C) of each row.

        Of equal sums the first stays first: the better-ranked parent, then the order within the row.
        """
        beam, choices = self.row.shape[1], sums.shape[1]
        table = sums[self.row].masked_fill(self.lacking.unsqueeze(2), -torch.inf)
        ordered, places = table.flatten(1).sort(dim=1, descending=True, stable=True)
        places = places[:, :beam]
        parents = self.row.gather(1, places // choices)
        return Candidates(ordered[:, :beam], parents, tokens[parents, places % choices])

    def fill(self, candidates: Candidates, live: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Give the live candidates (mask (B, K)) their rows: parents' rows, tokens and sums, (R,) each.

        Idle rows get sum −∞ and a parent and a token that do no harm.
        """
        live_first = live.logical_not().byte().argsort(dim=1, stable=True)
        chosen = live_first[self.sentence, self.slot]
        sums = candidates.sums[self.sentence, chosen]
        sums = sums.masked_fill(self.slot >= live.sum(1)[self.sentence], -torch.inf)
        return candidates.parents[self.sentence, chosen], candidates.tokens[self.sentence, chosen], sums


@dataclass(frozen=True)
class Move:
    """How the decoder goes on: row r continues row `parents[r]` with `tokens[r]`; `anew`: rows were laid anew.

    Without `parents` every row continues itself.
    """

    parents: Tensor | None
    tokens: Tensor
    anew: bool


class Beams:
    """All hypotheses of B sentences: live ones in rows, and finished ones. Sums are kept in double precision."""

    def __init__(
        self,
        beam: int,
        limits: Tensor,
        length_normalization: float,
        n_best: int,
        trail: Trail,
        terms: LengthTerms | None = None,
    ) -> None:
        """Start each sentence with the empty hypothesis.

        Args:
            beam: as in `beam_search`, like `n_best`.
            limits: (B,) the most predictions per sentence.
            length_normalization: α.
            n_best: at most `beam`.
            trail: an empty one, which takes the prefixes.
            terms: those of a length model, if there is one.
        """
        if not 1 <= n_best <= beam:
            raise ValueError(f"n_best {n_best} is not between 1 and the beam {beam}")
        self._beam = beam
        self._n_best = n_best
        self._rows = Rows.lay(torch.ones_like(limits), beam)
        self._sums = torch.zeros(limits.shape, dtype=torch.float64, device=limits.device)  # (R,)
        self._finished = Finished.none(limits, length_normalization, n_best)
        self._trail = trail
        self._terms = terms
        nothing = torch.full_like(limits, -1)
        self._nodes = self._trail.grow(nothing, nothing)  # (R,)

    def advance(self, logits: Tensor, attention: Tensor) -> Move | None:
        """Prolong the live hypotheses by one prediction; None where none is live afterwards.

        The device is waited for once; twice where rows are laid anew or logits of a row tie.

        Args:
            logits: (R, V) of the prediction.
            attention: (R, N) that went into it.

        Raises:
            FloatingPointError: where logits are not numbers.
        """
        self._trail.attend(attention)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        normalizer, maxima = survey(logits)
        ranked = logits
        if self._terms is not None:
            ranked = self._terms.lay_over(logits, self._finished.step + 1, self._rows.sentence)
            maxima = _maxima(ranked)
        tokens, tied = _top(ranked, maxima, self._beam)
        candidates, finished, live = self._prolong(logits.gather(1, tokens) - normalizer, tokens)
        facts = [candidates.sums.isnan().any(), tied.any(), *self._demand(live)]
        wrong, ties, wanted, too_few = torch.stack(facts).tolist()
        if wrong:
            raise FloatingPointError("the model predicts something that is not a number")
        if ties:
            tokens[tied] = _top_in_order(ranked[tied], self._beam)
            candidates, finished, live = self._prolong(logits.gather(1, tokens) - normalizer, tokens)
            wanted, too_few = torch.stack(self._demand(live)).tolist()
        self._finished = finished
        if not wanted:
            return None
        leave = on_cpu(live.device)
        anew = bool(too_few) or (leave and wanted < COMPACT_BELOW * len(self._sums))
        if anew:
            widths = live.sum(1)
            self._rows = Rows.lay(widths if leave else torch.full_like(widths, self._beam), self._beam)
        parents, previous, self._sums = self._rows.fill(candidates, live)
        self._nodes = self._trail.grow(previous, self._nodes[parents])
        return Move(parents, previous, anew)

    def _prolong(self, log_probabilities: Tensor, tokens: Tensor) -> tuple[Candidates, Finished, Tensor]:
        """Choose among (R, C) prolongations: candidates, what is finished then, which candidates live on (B, K)."""
        # No probability exceeds 1: rounding must not let a hypothesis rise.
        sums, step = self._sums[:, None] + log_probabilities.clamp(max=0), self._finished.step + 1
        if self._terms is not None:
            sums = sums + self._terms.of(tokens, step, self._rows.sentence)
        candidates = self._rows.best(sums, tokens)
        terms = 0 if self._terms is None else self._terms.of(candidates.tokens, step)
        nodes = self._nodes[candidates.parents]
        return candidates, *self._finished.sort_out(candidates.sums, terms, candidates.tokens, nodes)

    def _demand(self, live: Tensor) -> list[Tensor]:
        """How many rows are wanted, and how many sentences have too few."""
        widths = live.sum(1)
        return [widths.sum(), (widths > self._rows.widths).sum()]

    def hypotheses(self, attended: Tensor) -> list[list[Hypothesis]]:
        """The best of each sentence, best first; `attended` (B, N) is the mask of what there is to attend to."""
        return best_of(self._finished.ends, self._trail, attended, self._n_best)


def survey(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Look through logits (R, V) once: the logarithm of each row's sum of exponents (R, 1), and `_maxima`."""
    normalizers, maxima = [], []
    for rows in split_rows(len(logits), logits.shape[1], logits.device):
        part = logits[rows]
        of_blocks = _maxima(part)
        rest = part[:, of_blocks.shape[1] * BLOCK :]
        peak = torch.cat([of_blocks, rest], dim=1).amax(dim=1, keepdim=True)
        normalizers.append(log_of_sum(part, peak))
        maxima.append(of_blocks)
    return torch.cat(normalizers), torch.cat(maxima)


def log_of_sum(logits: Tensor, peak: Tensor) -> Tensor:
    """The logarithm of each row's sum of exponents: (R, V), the greatest (R, 1) → (R, 1)."""
    return (logits - peak).exp_().sum(dim=1, keepdim=True).log_().add_(peak)


def _maxima(logits: Tensor) -> Tensor:
    """The greatest of each block of 64 columns, (R, V) → (R, ⌊V / 64⌋); what is behind the last block is in none."""
    blocks = logits.shape[1] // BLOCK
    return logits[:, : blocks * BLOCK].unflatten(1, (blocks, BLOCK)).amax(dim=2)


def _top(logits: Tensor, maxima: Tensor, beam: int) -> tuple[Tensor, Tensor]:
    """The tokens of the `beam` highest values of each row, and rows (R,) where equal values leave the order open."""
    values, tokens = _greatest(logits, maxima, min(beam + 1, logits.shape[1]))
    tied = (values[:, 1:] == values[:, :-1]).any(1)
    return tokens[:, :beam], tied


def _greatest(logits: Tensor, maxima: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Find the greatest values of each row, greatest first, and where they stand: (R, V) → (R, count) each.

    They are among the blocks with the greatest maxima, so that most of a row is looked at only once.
    """
    blocks = maxima.shape[1]
    if blocks <= 2 * count:
        return logits.topk(count, dim=1)
    chosen = maxima.topk(count, dim=1).indices  # (R, count)
    columns = (chosen.unsqueeze(2) * BLOCK + torch.arange(BLOCK, device=logits.device)).flatten(1)
    rest = torch.arange(blocks * BLOCK, logits.shape[1], device=logits.device).expand(len(logits), -1)
    columns = torch.cat([columns, rest], dim=1)
    values, places = logits.gather(1, columns).topk(count, dim=1)
    return values, columns.gather(1, places)


def _top_in_order(logits: Tensor, beam: int) -> Tensor:
    """The same tokens, the lower one first where values are equal."""
    return logits.argsort(dim=1, descending=True, stable=True)[:, :beam]
