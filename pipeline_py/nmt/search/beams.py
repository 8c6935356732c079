"""The hypotheses of a batch during a search (the rules stand in `beam_search.py`)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from pipeline_py.nmt.fast.matrix_products import split_rows
from pipeline_py.nmt.search.hypothesis import Backpointers, Hypothesis, LengthModelTerms
from pipeline_py.nmt.torch_setup import is_cpu
from pipeline_py.subword.vocabulary import EOS


@dataclass(frozen=True)
class EndedHypotheses:
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
class FinishedHypotheses:
    """Hypotheses of B sentences that ended or were cut.

    Attributes:
        max_lengths: (B,) the most predictions per sentence.
        length_normalization: α.
        step: predictions made so far.
        counts: (B,) finished hypotheses per sentence, at most K.
        best_scores: (B, n) the scores of the n best ones; −∞: there are fewer.
        sentence_indices: (B, 1) their numbers.
        endings: of each step.
    """

    max_lengths: Tensor
    length_normalization: float
    step: int
    counts: Tensor
    best_scores: Tensor
    sentence_indices: Tensor
    endings: tuple[EndedHypotheses, ...] = ()

    @staticmethod
    def build_empty(max_lengths: Tensor, length_normalization: float, n_best: int) -> "FinishedHypotheses":
        """Nothing is finished before the first prediction."""
        highest = torch.full((len(max_lengths), n_best), -torch.inf, dtype=torch.float64, device=max_lengths.device)
        sentences = torch.arange(len(max_lengths), device=max_lengths.device).unsqueeze(1)
        return FinishedHypotheses(
            max_lengths, length_normalization, 0, torch.zeros_like(max_lengths), highest, sentences
        )

    def finish_candidates(
        self, sums: Tensor, terms: Tensor | int, tokens: Tensor, nodes: Tensor
    ) -> tuple["FinishedHypotheses", Tensor]:
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
        room = beam - self.counts[:, None]
        taken = (torch.arange(beam, device=sums.device) < room) & (sums > -torch.inf)
        leaving = taken & ((tokens == EOS) | (self.max_lengths[:, None] <= step))
        scores = (sums / step**self.length_normalization).masked_fill(~leaving, -torch.inf)
        finished = replace(
            self,
            step=step,
            counts=self.counts + leaving.sum(1),
            best_scores=torch.cat([self.best_scores, scores], dim=1).topk(self.best_scores.shape[1]).values,
            endings=(
                *self.endings,
                EndedHypotheses(step, self.sentence_indices.expand_as(sums), scores, sums - terms, nodes, tokens),
            ),
        )
        live = taken & ~leaving
        within_reach = sums.masked_fill(~live, -torch.inf).amax(1)
        if self.length_normalization:
            within_reach = within_reach / self.max_lengths.double().pow(self.length_normalization)
        return finished, live & (within_reach > finished.best_scores[:, -1])[:, None]


def collect_hypotheses(
    endings: Sequence[EndedHypotheses], backpointers: Backpointers, attention_mask: Tensor, n_best: int
) -> list[list[Hypothesis]]:
    """Return at most `n_best` hypotheses of each sentence, best first, with the columns of attention that it has.

    Of equal scores the first stays first.

    Args:
        endings: in the order of steps.
        backpointers: the prefixes.
        attention_mask: (B, N), on the CPU, the mask of what there is to attend to.
        n_best: at least 1.
    """
    lengths = torch.tensor([each.length for each in endings]).repeat_interleave(
        torch.tensor([each.scores.numel() for each in endings])
    )
    parts = zip(*((e.sentences, e.scores, e.log_probabilities, e.nodes, e.tokens) for e in endings), strict=True)
    table = [torch.cat([part.flatten() for part in of_steps]).cpu() for of_steps in parts]
    there = (table[1] > -torch.inf).nonzero().squeeze(1)
    ranked = there[table[1][there].argsort(descending=True, stable=True)]
    sentences, scores, log_probabilities, nodes, tokens = (column[ranked].tolist() for column in table)
    wanted: list[list[int]] = [[] for _ in attention_mask]
    for place, sentence in enumerate(sentences):
        if len(wanted[sentence]) < n_best:
            wanted[sentence].append(place)
    chosen = [place for places in wanted for place in places]
    of_ranked = lengths[ranked].tolist()
    paths = backpointers.trace_back([nodes[place] for place in chosen], [of_ranked[place] for place in chosen])
    hypotheses: list[list[Hypothesis]] = [[] for _ in attention_mask]
    for place, (prefix, attention) in zip(chosen, paths, strict=True):
        sentence, token, whole = sentences[place], tokens[place], backpointers.has_full_attention
        hypotheses[sentence].append(
            Hypothesis(
                tokens=prefix if token == EOS else [*prefix, token],
                score=scores[place],
                log_probability=log_probabilities[place],
                is_cut=token != EOS,
                alignment=(attention[:, : backpointers.position_count].argmax(1) if whole else attention).tolist(),
                attention=attention[:, attention_mask[sentence]].numpy() if whole else None,
            )
        )
    return hypotheses


MIN_LIVE_SHARE = 0.95
"""On a CPU idle rows leave once fewer than this share of the rows is live."""

BLOCK_SIZE = 64
"""Logits whose greatest one is found first, when the greatest of a row are looked for."""


@dataclass(frozen=True)
class Candidates:
    """Prolonged hypotheses (B, K), best first: sums (−∞: none), rows of parents, tokens.

    A sum is that of log-probabilities and, where the hypothesis leaves the beam, of the term of its length.
    """

    sums: Tensor
    parent_rows: Tensor
    tokens: Tensor


@dataclass(frozen=True)
class RowLayout:
    """Which hypotheses the rows (R) of the decoder hold: sentence by sentence, better ones first.

    A sentence keeps its rows until they are laid anew; meanwhile the last of them may be idle. A GPU, which computes
    many rows as fast as few, is given all rows of a sentence at once: they stay as they are, and so does the shape of
    what it computes.

    Attributes:
        sentence_indices: (R,) the sentence of a row.
        ranks: (R,) the rank of a row's hypothesis within its sentence.
        row_counts: (B,) rows per sentence, at most K.
        rows_by_rank: (B, K) the row of each slot; any row where the sentence has no such slot.
        missing_mask: (B, K) where that is so.
    """

    sentence_indices: Tensor
    ranks: Tensor
    row_counts: Tensor
    rows_by_rank: Tensor
    missing_mask: Tensor

    @staticmethod
    def allocate(row_counts: Tensor, beam_size: int) -> "RowLayout":
        """Lay `row_counts` (B,) rows per sentence."""
        filled = torch.arange(beam_size, device=row_counts.device) < row_counts[:, None]
        sentence, slot = filled.nonzero(as_tuple=True)
        row = (filled.flatten().cumsum(0) - 1).clamp(min=0).view_as(filled)
        return RowLayout(sentence, slot, row_counts, row, ~filled)

    def select_best(self, sums: Tensor, tokens: Tensor) -> Candidates:
        """Choose the K best of each sentence among the C best prolongations (R, C) of each row.

        Of equal sums the first stays first: the better-ranked parent, then the order within the row.
        """
        beam, choices = self.rows_by_rank.shape[1], sums.shape[1]
        table = sums[self.rows_by_rank].masked_fill(self.missing_mask.unsqueeze(2), -torch.inf)
        ordered, places = table.flatten(1).sort(dim=1, descending=True, stable=True)
        places = places[:, :beam]
        parents = self.rows_by_rank.gather(1, places // choices)
        return Candidates(ordered[:, :beam], parents, tokens[parents, places % choices])

    def assign_candidates(self, candidates: Candidates, live_mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Give the live candidates (mask (B, K)) their rows: parents' rows, tokens and sums, (R,) each.

        Idle rows get sum −∞ and a parent and a token that do no harm.
        """
        live_first = live_mask.logical_not().byte().argsort(dim=1, stable=True)
        chosen = live_first[self.sentence_indices, self.ranks]
        sums = candidates.sums[self.sentence_indices, chosen]
        sums = sums.masked_fill(self.ranks >= live_mask.sum(1)[self.sentence_indices], -torch.inf)
        return (
            candidates.parent_rows[self.sentence_indices, chosen],
            candidates.tokens[self.sentence_indices, chosen],
            sums,
        )


@dataclass(frozen=True)
class DecoderInput:
    """How the decoder goes on: row r continues row `parents[r]` with `tokens[r]`; `is_reallocated`: rows were laid anew.

    Without `parent_rows` every row continues itself.
    """

    parent_rows: Tensor | None
    tokens: Tensor
    is_reallocated: bool


class BeamHypotheses:
    """All hypotheses of B sentences: live ones in rows, and finished ones. Sums are kept in double precision."""

    def __init__(
        self,
        beam_size: int,
        max_lengths: Tensor,
        length_normalization: float,
        n_best: int,
        backpointers: Backpointers,
        terms: LengthModelTerms | None = None,
    ) -> None:
        """Start each sentence with the empty hypothesis.

        Args:
            beam_size: as in `beam_search`, like `n_best`.
            max_lengths: (B,) the most predictions per sentence.
            length_normalization: α.
            n_best: at most `beam_size`.
            backpointers: an empty one, which takes the prefixes.
            terms: those of a length model, if there is one.
        """
        if not 1 <= n_best <= beam_size:
            raise ValueError(f"n_best {n_best} is not between 1 and the beam {beam_size}")
        self._beam_size = beam_size
        self._n_best = n_best
        self._row_layout = RowLayout.allocate(torch.ones_like(max_lengths), beam_size)
        self._sums = torch.zeros(max_lengths.shape, dtype=torch.float64, device=max_lengths.device)  # (R,)
        self._finished = FinishedHypotheses.build_empty(max_lengths, length_normalization, n_best)
        self._backpointers = backpointers
        self._terms = terms
        nothing = torch.full_like(max_lengths, -1)
        self._nodes = self._backpointers.append(nothing, nothing)  # (R,)

    def extend(self, logits: Tensor, attention: Tensor) -> DecoderInput | None:
        """Prolong the live hypotheses by one prediction; None where none is live afterwards.

        The device is waited for once; twice where rows are laid anew or logits of a row tie.

        Args:
            logits: (R, V) of the prediction.
            attention: (R, N) that went into it.

        Raises:
            FloatingPointError: where logits are not numbers.
        """
        self._backpointers.append_attention(attention)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        normalizer, maxima = scan_logits(logits)
        ranked = logits
        if self._terms is not None:
            ranked = self._terms.add_to_logits(logits, self._finished.step + 1, self._row_layout.sentence_indices)
            maxima = _compute_block_maxima(ranked)
        tokens, tied = _select_top_tokens(ranked, maxima, self._beam_size)
        candidates, finished, live = self._select_candidates(logits.gather(1, tokens) - normalizer, tokens)
        facts = [candidates.sums.isnan().any(), tied.any(), *self._count_needed_rows(live)]
        wrong, ties, wanted, too_few = torch.stack(facts).tolist()
        if wrong:
            raise FloatingPointError("the model predicts something that is not a number")
        if ties:
            tokens[tied] = _select_top_tokens_stably(ranked[tied], self._beam_size)
            candidates, finished, live = self._select_candidates(logits.gather(1, tokens) - normalizer, tokens)
            wanted, too_few = torch.stack(self._count_needed_rows(live)).tolist()
        self._finished = finished
        if not wanted:
            return None
        leave = is_cpu(live.device)
        anew = bool(too_few) or (leave and wanted < MIN_LIVE_SHARE * len(self._sums))
        if anew:
            widths = live.sum(1)
            self._row_layout = RowLayout.allocate(
                widths if leave else torch.full_like(widths, self._beam_size), self._beam_size
            )
        parents, previous, self._sums = self._row_layout.assign_candidates(candidates, live)
        self._nodes = self._backpointers.append(previous, self._nodes[parents])
        return DecoderInput(parents, previous, anew)

    def _select_candidates(
        self, log_probabilities: Tensor, tokens: Tensor
    ) -> tuple[Candidates, FinishedHypotheses, Tensor]:
        """Choose among (R, C) prolongations: candidates, what is finished then, which candidates live on (B, K)."""
        # No probability exceeds 1: rounding must not let a hypothesis rise.
        sums, step = self._sums[:, None] + log_probabilities.clamp(max=0), self._finished.step + 1
        if self._terms is not None:
            sums = sums + self._terms.get_terms(tokens, step, self._row_layout.sentence_indices)
        candidates = self._row_layout.select_best(sums, tokens)
        terms = 0 if self._terms is None else self._terms.get_terms(candidates.tokens, step)
        nodes = self._nodes[candidates.parent_rows]
        return candidates, *self._finished.finish_candidates(candidates.sums, terms, candidates.tokens, nodes)

    def _count_needed_rows(self, live_mask: Tensor) -> list[Tensor]:
        """How many rows are wanted, and how many sentences have too few."""
        widths = live_mask.sum(1)
        return [widths.sum(), (widths > self._row_layout.row_counts).sum()]

    def collect_best(self, attention_mask: Tensor) -> list[list[Hypothesis]]:
        """The best of each sentence, best first; `attention_mask` (B, N) is the mask of what there is to attend to."""
        return collect_hypotheses(self._finished.endings, self._backpointers, attention_mask, self._n_best)


def scan_logits(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Look through logits (R, V) once: the logarithm of each row's sum of exponents (R, 1), and `_compute_block_maxima`."""
    normalizers, maxima = [], []
    for rows in split_rows(len(logits), logits.shape[1], logits.device):
        part = logits[rows]
        of_blocks = _compute_block_maxima(part)
        rest = part[:, of_blocks.shape[1] * BLOCK_SIZE :]
        peak = torch.cat([of_blocks, rest], dim=1).amax(dim=1, keepdim=True)
        normalizers.append(compute_log_sum_exp(part, peak))
        maxima.append(of_blocks)
    return torch.cat(normalizers), torch.cat(maxima)


def compute_log_sum_exp(logits: Tensor, max_logits: Tensor) -> Tensor:
    """The logarithm of each row's sum of exponents: (R, V), the greatest (R, 1) → (R, 1)."""
    return (logits - max_logits).exp_().sum(dim=1, keepdim=True).log_().add_(max_logits)


def _compute_block_maxima(logits: Tensor) -> Tensor:
    """The greatest of each block of 64 columns, (R, V) → (R, ⌊V / 64⌋); what is behind the last block is in none."""
    blocks = logits.shape[1] // BLOCK_SIZE
    return logits[:, : blocks * BLOCK_SIZE].unflatten(1, (blocks, BLOCK_SIZE)).amax(dim=2)


def _select_top_tokens(logits: Tensor, block_maxima: Tensor, beam_size: int) -> tuple[Tensor, Tensor]:
    """The tokens of the `beam_size` highest values of each row, and rows (R,) where equal values leave the order open."""
    values, tokens = _find_greatest_values(logits, block_maxima, min(beam_size + 1, logits.shape[1]))
    tied = (values[:, 1:] == values[:, :-1]).any(1)
    return tokens[:, :beam_size], tied


def _find_greatest_values(logits: Tensor, block_maxima: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Find the greatest values of each row, greatest first, and where they stand: (R, V) → (R, count) each.

    They are among the blocks with the greatest maxima, so that most of a row is looked at only once.
    """
    blocks = block_maxima.shape[1]
    if blocks <= 2 * count:
        return logits.topk(count, dim=1)
    chosen = block_maxima.topk(count, dim=1).indices  # (R, count)
    columns = (chosen.unsqueeze(2) * BLOCK_SIZE + torch.arange(BLOCK_SIZE, device=logits.device)).flatten(1)
    rest = torch.arange(blocks * BLOCK_SIZE, logits.shape[1], device=logits.device).expand(len(logits), -1)
    columns = torch.cat([columns, rest], dim=1)
    values, places = logits.gather(1, columns).topk(count, dim=1)
    return values, columns.gather(1, places)


def _select_top_tokens_stably(logits: Tensor, beam_size: int) -> Tensor:
    """The same tokens, the lower one first where values are equal."""
    return logits.argsort(dim=1, descending=True, stable=True)[:, :beam_size]
