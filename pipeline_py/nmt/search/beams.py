"""The hypotheses of a batch during a search on a CPU; `beam_search.py` describes the rules."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from pipeline_py.nmt.fast.matrix_products import split_rows
from pipeline_py.nmt.search.hypothesis import Backpointers, Hypothesis, LengthModelTerms
from pipeline_py.subword.vocabulary import EOS


@dataclass(frozen=True)
class EndedHypotheses:
    """Hypotheses that left the beam, in the order of steps, and sorted by score within a step and sentence.

    Attributes:
        lengths: number of predictions of each hypothesis (all tensors have the same, arbitrary shape).
        sentences: index of the sentence of each hypothesis.
        scores: ranking scores; −∞ marks an empty entry.
        log_probabilities: log-probabilities without the length model term.
        nodes: number in the `Backpointers` of the prefix before the last prediction.
        tokens: last predictions.
    """

    lengths: Tensor
    sentences: Tensor
    scores: Tensor
    log_probabilities: Tensor
    nodes: Tensor
    tokens: Tensor


@dataclass(frozen=True)
class FinishedHypotheses:
    """Hypotheses of B sentences that predicted EOS or were cut.

    Attributes:
        max_lengths: (B,) maximum number of predictions per sentence.
        length_normalization: α.
        step: number of predictions so far.
        counts: (B,) number of finished hypotheses per sentence, at most K.
        best_scores: (B, n) scores of the n best finished hypotheses; −∞ if there are fewer.
        sentence_indices: (B, 1) indices of the sentences.
        endings: finished hypotheses of each step.
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
        """Build a state without finished hypotheses, before the first prediction."""
        highest = torch.full((len(max_lengths), n_best), -torch.inf, dtype=torch.float64, device=max_lengths.device)
        sentences = torch.arange(len(max_lengths), device=max_lengths.device).unsqueeze(1)
        return FinishedHypotheses(
            max_lengths, length_normalization, 0, torch.zeros_like(max_lengths), highest, sentences
        )

    def finish_candidates(
        self, sums: Tensor, terms: Tensor | int, tokens: Tensor, nodes: Tensor
    ) -> tuple["FinishedHypotheses", Tensor]:
        """Split the candidates of a step into finished and live hypotheses.

        A sentence ends when no live hypothesis can become one of its n best.

        Args:
            sums: (B, K) sums of the candidates, best first; −∞ marks an empty entry.
            terms: (B, K) length model terms included in the sums; 0 without a length model.
            tokens: (B, K) last predictions.
            nodes: (B, K) prefixes before the last predictions.

        Returns:
            The new finished hypotheses, and the mask (B, K) of candidates that stay live.
        """
        beam = sums.shape[1]
        step = self.step + 1
        room = beam - self.counts[:, None]
        is_in_beam = (torch.arange(beam, device=sums.device) < room) & (sums > -torch.inf)
        leaving = is_in_beam & ((tokens == EOS) | (self.max_lengths[:, None] <= step))
        scores = (sums / step**self.length_normalization).masked_fill(~leaving, -torch.inf)
        finished = replace(
            self,
            step=step,
            counts=self.counts + leaving.sum(1),
            best_scores=torch.cat([self.best_scores, scores], dim=1).topk(self.best_scores.shape[1]).values,
            endings=(
                *self.endings,
                EndedHypotheses(
                    torch.full_like(tokens, step),
                    self.sentence_indices.expand_as(sums),
                    scores,
                    sums - terms,
                    nodes,
                    tokens,
                ),
            ),
        )
        live = is_in_beam & ~leaving
        best_reachable = sums.masked_fill(~live, -torch.inf).amax(1)
        if self.length_normalization:
            best_reachable = best_reachable / self.max_lengths.double().pow(self.length_normalization)
        return finished, live & (best_reachable > finished.best_scores[:, -1])[:, None]


def collect_hypotheses(
    endings: Sequence[EndedHypotheses], backpointers: Backpointers, attention_mask: Tensor, n_best: int
) -> list[list[Hypothesis]]:
    """Return at most `n_best` hypotheses of each sentence, best first, with the attention columns of its mask.

    Equal scores keep the order of steps.

    Args:
        endings: finished hypotheses in the order of steps, on the CPU.
        backpointers: prefixes of the hypotheses.
        attention_mask: (B, N) on the CPU.
        n_best: at least 1.
    """
    parts = zip(
        *(
            (ending.scores, ending.sentences, ending.log_probabilities, ending.lengths, ending.nodes, ending.tokens)
            for ending in endings
        ),
        strict=True,
    )
    table = [torch.cat([part.flatten() for part in step_parts]) for step_parts in parts]
    valid = (table[0] > -torch.inf).nonzero().squeeze(1)
    ranked = valid[table[0][valid].argsort(descending=True, stable=True)]
    scores, sentences, log_probabilities, lengths, nodes, tokens = (column[ranked].tolist() for column in table)
    ranks_by_sentence: list[list[int]] = [[] for _ in attention_mask]
    for rank, sentence in enumerate(sentences):
        if len(ranks_by_sentence[sentence]) < n_best:
            ranks_by_sentence[sentence].append(rank)
    best_ranks = [rank for ranks in ranks_by_sentence for rank in ranks]
    paths = backpointers.trace_hypotheses([nodes[rank] for rank in best_ranks], [lengths[rank] for rank in best_ranks])
    hypotheses: list[list[Hypothesis]] = [[] for _ in attention_mask]
    for rank, (prefix, attention) in zip(best_ranks, paths, strict=True):
        sentence, token, is_full = sentences[rank], tokens[rank], backpointers.has_full_attention
        hypotheses[sentence].append(
            Hypothesis(
                tokens=prefix if token == EOS else [*prefix, token],
                score=scores[rank],
                log_probability=log_probabilities[rank],
                is_cut=token != EOS,
                alignment=(attention[:, : backpointers.position_count].argmax(1) if is_full else attention).tolist(),
                attention=attention[:, attention_mask[sentence]].numpy() if is_full else None,
            )
        )
    return hypotheses


MIN_LIVE_SHARE = 0.95
"""Idle rows are removed if a smaller share of the rows is live."""

BLOCK_SIZE = 64
"""Number of logits whose maximum is computed first, to find the greatest logits of a row."""


@dataclass(frozen=True)
class Candidates:
    """The K best extended hypotheses of B sentences, best first.

    Attributes:
        sums: (B, K) sums of log-probabilities, plus the length model term of hypotheses that leave the beam; −∞ marks
            an empty entry.
        parent_rows: (B, K) rows of the extended hypotheses.
        tokens: (B, K) new tokens.
    """

    sums: Tensor
    parent_rows: Tensor
    tokens: Tensor


@dataclass(frozen=True)
class RowLayout:
    """Assignment of hypotheses to decoder rows (R), grouped by sentence and sorted by score.

    A sentence keeps its rows until the next reallocation; until then its last rows may be idle.

    Attributes:
        sentence_indices: (R,) sentence of each row.
        ranks: (R,) rank of the hypothesis of each row within its sentence.
        row_counts: (B,) number of rows per sentence, at most K.
        rows_by_rank: (B, K) row of each rank; an arbitrary row if the sentence has fewer rows.
        missing_mask: (B, K) true for ranks without a row.
    """

    sentence_indices: Tensor
    ranks: Tensor
    row_counts: Tensor
    rows_by_rank: Tensor
    missing_mask: Tensor

    @staticmethod
    def allocate(row_counts: Tensor, beam_size: int) -> "RowLayout":
        """Allocate `row_counts` (B,) rows per sentence."""
        filled = torch.arange(beam_size, device=row_counts.device) < row_counts[:, None]
        sentence, slot = filled.nonzero(as_tuple=True)
        row = (filled.flatten().cumsum(0) - 1).clamp(min=0).view_as(filled)
        return RowLayout(sentence, slot, row_counts, row, ~filled)

    def select_best(self, sums: Tensor, tokens: Tensor) -> Candidates:
        """Select the K best of each sentence among the C best extensions (R, C) of each row.

        Ties go to the better-ranked parent, then to the first in the row.
        """
        beam, choices = self.rows_by_rank.shape[1], sums.shape[1]
        table = sums[self.rows_by_rank].masked_fill(self.missing_mask.unsqueeze(2), -torch.inf)
        ordered, places = table.flatten(1).sort(dim=1, descending=True, stable=True)
        places = places[:, :beam]
        parents = self.rows_by_rank.gather(1, places // choices)
        return Candidates(ordered[:, :beam], parents, tokens[parents, places % choices])

    def assign_candidates(self, candidates: Candidates, live_mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Assign the live candidates (mask (B, K)) to rows.

        Returns:
            Parent rows, tokens and sums of each row, (R,) each. Idle rows get the sum −∞ and a valid parent and token.
        """
        live_first = live_mask.logical_not().byte().argsort(dim=1, stable=True)
        candidate_ranks = live_first[self.sentence_indices, self.ranks]
        sums = candidates.sums[self.sentence_indices, candidate_ranks]
        sums = sums.masked_fill(self.ranks >= live_mask.sum(1)[self.sentence_indices], -torch.inf)
        return (
            candidates.parent_rows[self.sentence_indices, candidate_ranks],
            candidates.tokens[self.sentence_indices, candidate_ranks],
            sums,
        )


@dataclass(frozen=True)
class DecoderInput:
    """The next decoder input: row r extends the hypothesis in row `parent_rows[r]` by `tokens[r]`.

    Without `parent_rows` every row extends itself. `is_reallocated` is true if the row layout changed.
    """

    parent_rows: Tensor | None
    tokens: Tensor
    is_reallocated: bool


class BeamHypotheses:
    """The live and finished hypotheses of B sentences on a CPU; sums are in double precision."""

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
            beam_size: K, as in `beam_search`.
            max_lengths: (B,) maximum number of predictions per sentence.
            length_normalization: α.
            n_best: at most `beam_size`.
            backpointers: an empty tree, to which the search adds its prefixes.
            terms: length model terms, if there is a length model.
        """
        self._beam_size = beam_size
        self._n_best = n_best
        self._row_layout = RowLayout.allocate(torch.ones_like(max_lengths), beam_size)
        self._sums = torch.zeros(max_lengths.shape, dtype=torch.float64, device=max_lengths.device)  # (R,)
        self._finished = FinishedHypotheses.build_empty(max_lengths, length_normalization, n_best)
        self._backpointers = backpointers
        self._terms = terms
        no_parents = torch.full_like(max_lengths, -1)
        self._nodes = self._backpointers.append(no_parents, no_parents)  # (R,)

    def extend(self, logits: Tensor, attention: Tensor) -> DecoderInput | None:
        """Extend the live hypotheses by one prediction; return None if no hypothesis stays live.

        Args:
            logits: (R, V) of the prediction.
            attention: (R, N) of the prediction.

        Raises:
            FloatingPointError: a logit is not a number.
        """
        self._backpointers.append_attention(attention)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        normalizer, maxima = scan_logits(logits)
        ranked = logits
        if self._terms is not None:
            ranked = self._terms.add_to_logits(logits, self._finished.step + 1, self._row_layout.sentence_indices)
            maxima = compute_block_maxima(ranked)
        tokens, tied = _select_top_tokens(ranked, maxima, self._beam_size)
        candidates, finished, live = self._select_candidates(logits.gather(1, tokens) - normalizer, tokens)
        checks = [candidates.sums.isnan().any(), tied.any(), *self._count_needed_rows(live)]
        has_nan, has_ties, live_count, short_count = torch.stack(checks).tolist()
        if has_nan:
            raise FloatingPointError("the model predicts something that is not a number")
        if has_ties:
            tokens[tied] = _select_top_tokens_stably(ranked[tied], self._beam_size)
            candidates, finished, live = self._select_candidates(logits.gather(1, tokens) - normalizer, tokens)
            live_count, short_count = torch.stack(self._count_needed_rows(live)).tolist()
        self._finished = finished
        if not live_count:
            return None
        is_reallocated = bool(short_count) or live_count < MIN_LIVE_SHARE * len(self._sums)
        if is_reallocated:
            self._row_layout = RowLayout.allocate(live.sum(1), self._beam_size)
        parents, previous, self._sums = self._row_layout.assign_candidates(candidates, live)
        self._nodes = self._backpointers.append(previous, self._nodes[parents])
        return DecoderInput(parents, previous, is_reallocated)

    def _select_candidates(
        self, log_probabilities: Tensor, tokens: Tensor
    ) -> tuple[Candidates, FinishedHypotheses, Tensor]:
        """Select among (R, C) extensions: candidates, finished hypotheses, mask of live candidates (B, K)."""
        # No probability exceeds 1: rounding must not let a hypothesis rise.
        sums, step = self._sums[:, None] + log_probabilities.clamp(max=0), self._finished.step + 1
        if self._terms is not None:
            sums = sums + self._terms.get_terms(tokens, step, self._row_layout.sentence_indices)
        candidates = self._row_layout.select_best(sums, tokens)
        terms = 0 if self._terms is None else self._terms.get_terms(candidates.tokens, step)
        nodes = self._nodes[candidates.parent_rows]
        return candidates, *self._finished.finish_candidates(candidates.sums, terms, candidates.tokens, nodes)

    def _count_needed_rows(self, live_mask: Tensor) -> list[Tensor]:
        """Count the live candidates and the sentences that have too few rows for them."""
        widths = live_mask.sum(1)
        return [widths.sum(), (widths > self._row_layout.row_counts).sum()]

    def collect_best(self, attention_mask: Tensor) -> list[list[Hypothesis]]:
        """Return the best hypotheses of each sentence, best first, given the attention mask (B, N)."""
        return collect_hypotheses(self._finished.endings, self._backpointers, attention_mask, self._n_best)


def scan_logits(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Return log-sum-exp (R, 1) and `compute_block_maxima` of logits (R, V) in one pass."""
    normalizers, maxima = [], []
    for rows in split_rows(len(logits), logits.shape[1], logits.device):
        part = logits[rows]
        part_maxima = compute_block_maxima(part)
        rest = part[:, part_maxima.shape[1] * BLOCK_SIZE :]
        peak = torch.cat([part_maxima, rest], dim=1).amax(dim=1, keepdim=True)
        normalizers.append(compute_log_sum_exp(part, peak))
        maxima.append(part_maxima)
    return torch.cat(normalizers), torch.cat(maxima)


def compute_log_sum_exp(logits: Tensor, max_logits: Tensor) -> Tensor:
    """Return log-sum-exp of each row: logits (R, V), maxima (R, 1) → (R, 1)."""
    return (logits - max_logits).exp_().sum(dim=1, keepdim=True).log_().add_(max_logits)


def compute_block_maxima(logits: Tensor) -> Tensor:
    """Return the maximum of each full block of 64 columns: (R, V) → (R, ⌊V / 64⌋)."""
    blocks = logits.shape[1] // BLOCK_SIZE
    return logits[:, : blocks * BLOCK_SIZE].unflatten(1, (blocks, BLOCK_SIZE)).amax(dim=2)


def _select_top_tokens(logits: Tensor, block_maxima: Tensor, beam_size: int) -> tuple[Tensor, Tensor]:
    """Return the tokens of the `beam_size` highest values of each row, and a mask (R,) of rows with ties."""
    values, tokens = _find_greatest_values(logits, block_maxima, min(beam_size + 1, logits.shape[1]))
    tied = (values[:, 1:] == values[:, :-1]).any(1)
    return tokens[:, :beam_size], tied


def _find_greatest_values(logits: Tensor, block_maxima: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Find the greatest values of each row and their columns, greatest first: (R, V) → (R, count) each.

    Only the blocks with the greatest maxima are searched.
    """
    blocks = block_maxima.shape[1]
    if blocks <= 2 * count:
        return logits.topk(count, dim=1)
    columns = list_block_columns(block_maxima.topk(count, dim=1).indices, logits.shape[1])
    values, places = logits.gather(1, columns).topk(count, dim=1)
    return values, columns.gather(1, places)


def list_block_columns(blocks: Tensor, column_count: int) -> Tensor:
    """List the columns (R, X) of blocks (R, C), and those that are in no full block."""
    device = blocks.device
    columns = torch.add(torch.arange(BLOCK_SIZE, device=device), blocks.unsqueeze(2), alpha=BLOCK_SIZE).flatten(1)
    rest = torch.arange(column_count // BLOCK_SIZE * BLOCK_SIZE, column_count, device=device).expand(len(blocks), -1)
    return torch.cat([columns, rest], dim=1)


def _select_top_tokens_stably(logits: Tensor, beam_size: int) -> Tensor:
    """Return the tokens of the highest values like `_select_top_tokens`; ties go to the lower token."""
    return logits.argsort(dim=1, descending=True, stable=True)[:, :beam_size]
