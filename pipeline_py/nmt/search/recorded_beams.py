"""The hypotheses of a batch during a search on a GPU, in tensors of fixed shape that each step changes in place.

The rules are those of `beam_search.py`, the results those of `beams.py`. All operations of a step depend only on shapes
and none synchronizes, so that whole steps can be recorded. Nothing is removed: steps after the end of a sentence
compute values that have no effect.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional

from pipeline_py.nmt.fast.cuda_graphs import write_entry
from pipeline_py.nmt.search.beams import (
    EndedHypotheses,
    collect_hypotheses,
    compute_block_maxima,
    list_block_columns,
)
from pipeline_py.nmt.search.hypothesis import Backpointers, Hypothesis, LengthModelTerms, reduce_attention
from pipeline_py.subword.vocabulary import EOS

MAX_VOCABULARY_SIZE = 2**21
"""Largest vocabulary for which `rank_tokens` is exact."""


@dataclass(frozen=True)
class RecordedBeams:
    """The live and finished hypotheses of B sentences with K rows each, R = B · K; sums are in double precision.

    A row holds the extension of its rank among the K best of the last step. A row whose extension left the beam, or
    has no room in it, is idle. Tables have an entry for each of the first T predictions.

    Attributes:
        length_normalization: α.
        n_best: n, at most K.
        has_full_attention: keep all weights; otherwise keep only the position with the highest weight.
        position_count: J, the number of attention columns of positions.
        last_steps: (B, 1) maximum number of predictions per sentence, minus 1.
        length_powers: (T,) I^α for I = 1 … T predictions.
        terms: length model terms, if there is a length model.
        row_indices: (R, 1) indices of the rows.
        impossible_sum: () −∞.
        step: (1,) number of predictions so far.
        sums: (B, K) sums of the live hypotheses; −∞ for idle rows.
        choices: (2, B, K) last token and parent row of each row.
        finished_scores: (B, K) scores of the K best finished hypotheses, in ascending order; −∞ for those that are
            missing, which come first. Rank r of the beam is closed if entry r is not missing.
        choice_table: (T, 2, B, K) `choices` of each step.
        ending_table: (T, B, K) sums of the extensions that left the beam at each step; −∞ for others.
        attention_table: (T, R, N), or (T, R) positions with the highest weights.
    """

    length_normalization: float
    n_best: int
    has_full_attention: bool
    position_count: int
    last_steps: Tensor
    length_powers: Tensor
    terms: LengthModelTerms | None
    row_indices: Tensor
    impossible_sum: Tensor
    step: Tensor
    sums: Tensor
    choices: Tensor
    finished_scores: Tensor
    choice_table: Tensor
    ending_table: Tensor
    attention_table: Tensor

    @staticmethod
    def build_initial(
        beam_size: int,
        max_lengths: Tensor,
        max_steps: int,
        length_normalization: float,
        n_best: int,
        terms: LengthModelTerms | None,
        has_full_attention: bool,
        position_count: int,
        attention: Tensor,
    ) -> "RecordedBeams":
        """Start each sentence with the empty hypothesis in its first row.

        Args:
            beam_size: K.
            max_lengths: (B,) maximum number of predictions per sentence.
            max_steps: T, at least the maximum of `max_lengths`.
            length_normalization: α.
            n_best: at most `beam_size`.
            terms: length model terms, if there is a length model.
            has_full_attention: keep all weights; otherwise keep only the position with the highest weight.
            position_count: J.
            attention: (R, N) of the first prediction.
        """
        device, sentence_count = max_lengths.device, len(max_lengths)
        sums = torch.full((sentence_count, beam_size), -torch.inf, dtype=torch.float64, device=device)
        rows = torch.arange(sums.numel(), device=device).unsqueeze(1)
        if terms is not None:
            padding = (0, max_steps + 1 - terms.log_probabilities.shape[1])
            terms = replace(terms, log_probabilities=functional.pad(terms.log_probabilities, padding))
        kept_attention = reduce_attention(attention, has_full_attention, position_count)
        powers = [number**length_normalization for number in range(1, max_steps + 1)]
        return RecordedBeams(
            length_normalization=length_normalization,
            n_best=n_best,
            has_full_attention=has_full_attention,
            position_count=position_count,
            last_steps=max_lengths.unsqueeze(1) - 1,
            length_powers=torch.tensor(powers, dtype=torch.float64).to(device),
            terms=terms,
            row_indices=rows,
            impossible_sum=sums.new_full((), -torch.inf),
            step=torch.zeros(1, dtype=torch.int64, device=device),
            sums=sums.index_fill(1, rows[0], 0),
            choices=rows.new_zeros(2, sentence_count, beam_size),
            finished_scores=sums,
            choice_table=rows.new_zeros(max_steps, 2, sentence_count, beam_size),
            ending_table=sums.new_zeros(max_steps, sentence_count, beam_size),
            attention_table=kept_attention.new_zeros(max_steps, *kept_attention.shape),
        )

    @property
    def tokens(self) -> Tensor:
        """The last token of each row (R,)."""
        return self.choices[0].flatten()

    @property
    def parent_rows(self) -> Tensor:
        """The row of the previous step that each row extends (R,)."""
        return self.choices[1].flatten()

    def extend(self, logits: Tensor, attention: Tensor) -> None:
        """Extend the live hypotheses by one prediction, in place.

        Args:
            logits: (R, V) of the prediction.
            attention: (R, N) of the prediction.
        """
        sentence_count, beam_size = self.sums.shape
        kept_attention = reduce_attention(attention, self.has_full_attention, self.position_count)
        write_entry(self.attention_table, self.step, kept_attention)
        sums, tokens = self._extend_rows(logits.to(torch.promote_types(logits.dtype, torch.float32)))  # (R, C)
        # Ties go to the better-ranked parent, then to the first in the row.
        ordered, places = sums.view(sentence_count, -1).sort(dim=1, descending=True, stable=True)
        extensions = torch.stack([tokens, self.row_indices.expand_as(tokens)]).view(2, sentence_count, -1)
        torch.gather(extensions, 2, places[:, :beam_size].expand(2, -1, -1), out=self.choices)
        write_entry(self.choice_table, self.step, self.choices)
        self._finish_extensions(ordered[:, :beam_size])
        self.step.add_(1)

    def _extend_rows(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Return the sums and tokens of the C best extensions of each row (R, C), given logits (R, V)."""
        beam_size, count = self.sums.shape[1], min(self.sums.shape[1], logits.shape[1])
        previous_sums, log_probabilities = self.sums.view(-1, 1), logits.log_softmax(1)
        if self.terms is None:
            tokens = rank_tokens(logits, count)
            return previous_sums + log_probabilities.gather(1, tokens), tokens
        step, sentences = self.step + 1, self.row_indices[:, 0] // beam_size
        tokens = rank_tokens(self.terms.add_to_logits(logits, step, sentences), count)
        terms = self.terms.get_terms(tokens, step, sentences)
        return previous_sums + log_probabilities.gather(1, tokens) + terms, tokens

    def _finish_extensions(self, sums: Tensor) -> None:
        """Split the extensions in `choices`, with their sums (B, K), into finished and live hypotheses."""
        beam_size = sums.shape[1]
        sums = sums.masked_fill(self.finished_scores > -torch.inf, -torch.inf)
        is_leaving = (self.choices[0] == EOS) | (self.last_steps <= self.step)
        ending_sums = torch.where(is_leaving, sums, self.impossible_sum)
        write_entry(self.ending_table, self.step, ending_sums)
        scores, live_sums = ending_sums, sums.masked_fill(is_leaving, -torch.inf)
        reachable = live_sums.amax(1, keepdim=True)
        if self.length_normalization:
            scores = scores / self.length_powers.index_select(0, self.step)
            reachable = reachable / self.length_powers[self.last_steps]
        finished_scores = torch.cat([self.finished_scores, scores], dim=1).sort(dim=1).values
        self.finished_scores.copy_(finished_scores[:, beam_size:])
        is_hopeless = reachable <= self.finished_scores[:, beam_size - self.n_best, None]
        torch.where(is_hopeless, self.impossible_sum, live_sums, out=self.sums)

    def is_complete(self) -> bool:
        """Return whether no hypothesis is live; synchronizes with the device.

        Raises:
            FloatingPointError: a logit was not a number. Sums remember it while the hypothesis is live, then scores.
        """
        has_nan, has_live = torch.stack(
            [self.sums.isnan().any() | self.finished_scores.isnan().any(), (self.sums > -torch.inf).any()]
        ).tolist()
        if has_nan:
            raise FloatingPointError("the model predicts something that is not a number")
        return not has_live

    def collect_best(self, step_count: int, attention_mask: Tensor) -> list[list[Hypothesis]]:
        """Return the n best hypotheses of each sentence, best first.

        Args:
            step_count: number of steps that were computed.
            attention_mask: (B, N) on the CPU.
        """
        tokens, parents = self.choice_table[:step_count].flatten(2).cpu().unbind(1)  # (S, R)
        sums = self.ending_table[:step_count].flatten(1).cpu()
        lengths = torch.arange(1, step_count + 1).unsqueeze(1).expand_as(tokens)
        sentences = torch.arange(len(attention_mask)).repeat_interleave(self.sums.shape[1]).expand_as(tokens)
        log_probabilities = sums
        if self.terms is not None:
            terms = LengthModelTerms(self.terms.log_probabilities.cpu(), self.terms.max_lengths.cpu())
            rows = zip(tokens.unsqueeze(2), range(1, step_count + 1), strict=True)
            log_probabilities = sums - torch.stack(
                [terms.get_terms(column, step, sentences[0])[:, 0] for column, step in rows]
            )
        backpointers = Backpointers(self.has_full_attention, self.position_count)
        no_parents = torch.full_like(tokens[0], -1)
        backpointers.append(no_parents, no_parents)
        nodes = parents + (lengths - 1) * len(no_parents)
        backpointers.append(tokens.flatten(), nodes.flatten())
        backpointers.append_reduced_attention(self.attention_table[:step_count].flatten(0, 1))
        scores = sums / self.length_powers[:step_count].cpu().unsqueeze(1)
        endings = EndedHypotheses(lengths, sentences, scores, log_probabilities, nodes, tokens)
        return collect_hypotheses([endings], backpointers, attention_mask, self.n_best)


def rank_tokens(logits: Tensor, count: int) -> Tensor:
    """Return the tokens of the greatest logits of each row, greatest first; ties go to the lower token.

    If there are many tokens, only the blocks of columns with the greatest maxima are searched, because `topk` starts
    two kernels for each byte of the keys of long rows. Ties between maxima go to the lower block, whose tokens are
    lower. Logits of double precision are compared in single precision.

    Args:
        logits: (R, V), at most `MAX_VOCABULARY_SIZE` columns.
        count: C.

    Returns:
        (R, C).
    """
    assert logits.shape[1] <= MAX_VOCABULARY_SIZE
    logits = logits.float()
    maxima = compute_block_maxima(logits)
    if maxima.shape[1] <= 2 * count:
        return _rank_columns(logits, _number_columns(logits), count)
    columns = list_block_columns(_rank_columns(maxima, _number_columns(maxima), count), logits.shape[1])
    return columns.gather(1, _rank_columns(logits.gather(1, columns), columns.double(), count))


def _number_columns(values: Tensor) -> Tensor:
    return torch.arange(values.shape[1], dtype=torch.float64, device=values.device)


def _rank_columns(values: Tensor, numbers: Tensor, count: int) -> Tensor:
    """Return the columns with the greatest values of each row (R, X); ties go to the lower number, (X,) or (R, X).

    `topk` leaves the order of ties open, so that columns are selected by a key without ties: number − 2²¹ · b, where b
    is the bit pattern of the magnitude with the sign of the value, which orders numbers of single precision. Keys are
    below 2⁵³ and therefore exact.
    """
    keys = torch.addcmul(numbers, values.abs().view(torch.int32), values.sign(), value=-MAX_VOCABULARY_SIZE)
    return keys.topk(count, dim=1, largest=False).indices
