"""Hypotheses of a beam search, their backpointers, and length model terms."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pipeline_py.subword.vocabulary import EOS


@dataclass(frozen=True)
class LengthModelTerms:
    """Length model terms of the B sentences of a search.

    Attributes:
        log_probabilities: (B, I_max + 1) float64, log p of a translation of 0 … I_max tokens, excluding EOS.
        max_lengths: (B,) maximum number of predictions per sentence, at most I_max.
    """

    log_probabilities: Tensor
    max_lengths: Tensor

    def get_terms(self, tokens: Tensor, step: int | Tensor, sentence_indices: Tensor | slice = slice(None)) -> Tensor:
        """Return the terms of hypotheses whose `step`-th prediction is `tokens`.

        Args:
            tokens: (N, C) the predictions.
            step: counts predictions from 1; a number, or a tensor (1,) on the device.
            sentence_indices: (N,) sentence of each row; default: one row for each sentence.

        Returns:
            (N, C): the term of the hypothesis' length if it ends here or is cut, otherwise 0.
        """
        end_terms, other_terms = self._get_step_terms(step)
        return torch.where(tokens == EOS, end_terms[sentence_indices, None], other_terms[sentence_indices, None])

    def add_to_logits(self, logits: Tensor, step: int | Tensor, sentence_indices: Tensor) -> Tensor:
        """Shift the logits (R, V) of EOS so that the tokens of a row rank like their hypotheses.

        If all other tokens are cut at this step, the shift is the difference between both terms.
        """
        end_terms, other_terms = self._get_step_terms(step)
        shifted = logits.clone()
        shifted[:, EOS] += (end_terms - other_terms)[sentence_indices]
        return shifted

    def _get_step_terms(self, step: int | Tensor) -> tuple[Tensor, Tensor]:
        """Return the terms of hypotheses that end with prediction `step`, and of those that do not, (B,) each."""
        number = step if isinstance(step, Tensor) else torch.tensor([step])
        end_terms = self.log_probabilities.index_select(1, number - 1)[:, 0]
        cut_terms = self.log_probabilities.gather(1, self.max_lengths[:, None])[:, 0]
        return end_terms, torch.where(self.max_lengths == number, cut_terms, 0.0)


@dataclass(frozen=True)
class Hypothesis:
    """One translation of one sentence.

    I is the number of predictions, including EOS unless the hypothesis was cut. N is the number of source words
    (including EOS) and phrases that the network attends to, words first.

    Attributes:
        tokens: identifiers without EOS.
        score: (`log_probability` + the term of a length model, if there is one) / I^α, by which hypotheses are ranked.
        log_probability: natural logarithm of the model's probability of all I predictions.
        is_cut: whether the length limit was reached before EOS was predicted.
        alignment: (I,) for each prediction the 0-based source position with the highest weight, excluding phrases.
        attention: (I, N) weights of the first context, if requested.
    """

    tokens: list[int]
    score: float
    log_probability: float
    is_cut: bool
    alignment: list[int]
    attention: np.ndarray | None = None


def reduce_attention(attention: Tensor, has_full_attention: bool, position_count: int) -> Tensor:
    """Return the attention (R, N) that a search keeps: all, or the position with the highest weight (R,).

    Columns from `position_count` on belong to phrases.
    """
    return attention if has_full_attention else attention[:, :position_count].argmax(1)


class Backpointers:
    """The tree of all prefixes that a search expanded, numbered in the order of their creation.

    Each step of a search calls `append` with the prefixes to expand, then `append_attention` with the attention that
    predicts their next token. All tensors stay on the device until `trace_hypotheses`.
    """

    def __init__(self, has_full_attention: bool, position_count: int) -> None:
        """Create an empty tree.

        Args:
            has_full_attention: keep all weights; otherwise keep only the position with the highest weight.
            position_count: J, the number of attention columns of positions; further columns belong to phrases.
        """
        self.has_full_attention = has_full_attention
        self.position_count = position_count
        self._tokens: list[Tensor] = []
        self._parents: list[Tensor] = []
        self._attention: list[Tensor] = []
        self._size = 0

    def append(self, tokens: Tensor, parents: Tensor) -> Tensor:
        """Add prefixes (R,) that extend `parents` (R,) by `tokens` (R,); return their numbers (R,)."""
        self._tokens.append(tokens)
        self._parents.append(parents)
        self._size += len(tokens)
        return torch.arange(self._size - len(tokens), self._size, device=tokens.device)

    def append_attention(self, attention: Tensor) -> None:
        """Add the attention (R, N) of the most recently added prefixes."""
        self.append_reduced_attention(reduce_attention(attention, self.has_full_attention, self.position_count))

    def append_reduced_attention(self, attention: Tensor) -> None:
        """Add the result of `reduce_attention` for the most recently added prefixes."""
        self._attention.append(attention)

    def trace_hypotheses(self, end_nodes: Sequence[int], lengths: Sequence[int]) -> list[tuple[list[int], Tensor]]:
        """Reconstruct the prefix before the last prediction of each hypothesis.

        Args:
            end_nodes: numbers of the prefixes.
            lengths: for each, I: the prediction that follows it is the I-th.

        Returns:
            For each, its I − 1 tokens, and the attention (I, N) of all I predictions, or the positions with the highest
            weights (I,).
        """
        tokens = torch.cat(self._tokens).tolist()
        parents = torch.cat(self._parents).tolist()
        trails = []
        for end, length in zip(end_nodes, lengths, strict=True):
            trail = [end]
            while len(trail) < length:
                trail.append(parents[trail[-1]])
            trails.append(trail[::-1])
        attention = torch.cat(self._attention)
        visited = torch.tensor([node for trail in trails for node in trail], device=attention.device)
        attended = attention[visited].cpu().split(list(lengths))
        return [([tokens[node] for node in trail[1:]], part) for trail, part in zip(trails, attended, strict=True)]
