"""Hypotheses that a beam search returns, and the length model's share of their scores."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pipeline_py.subword.vocabulary import EOS


@dataclass(frozen=True)
class LengthModelTerms:
    """Terms of the B sentences of a search.

    Attributes:
        log_probabilities: (B, I_max + 1) float64, log p of a translation of 0 … I_max tokens, the end of sentence not counted.
        max_lengths: (B,) the most predictions per sentence, at most I_max.
    """

    log_probabilities: Tensor
    max_lengths: Tensor

    def get_terms(self, tokens: Tensor, step: int, sentence_indices: Tensor | slice = slice(None)) -> Tensor:
        """Return the terms of hypotheses whose `step`-th prediction is `tokens`.

        Args:
            tokens: (N, C) the predictions.
            step: counts predictions from 1.
            sentence_indices: (N,) whose hypotheses they are; without it, a row for each sentence.

        Returns:
            (N, C): the term of the hypothesis' length where it ends here or is cut, 0 where it lives on.
        """
        ending, otherwise = self._get_step_terms(step)
        return torch.where(tokens == EOS, ending[sentence_indices, None], otherwise[sentence_indices, None])

    def add_to_logits(self, logits: Tensor, step: int, sentence_indices: Tensor) -> Tensor:
        """Shift the logits (R, V) of EOS by its term, so that tokens of a row rank as their hypotheses will.

        Where the others are cut, what they get instead is taken from it.
        """
        ending, otherwise = self._get_step_terms(step)
        shifted = logits.clone()
        shifted[:, EOS] += (ending - otherwise)[sentence_indices]
        return shifted

    def _get_step_terms(self, step: int) -> tuple[Tensor, Tensor]:
        """Say what a hypothesis gets that ends with prediction `step`, and one that does not, (B,) each."""
        cut = self.log_probabilities.gather(1, self.max_lengths[:, None])[:, 0]
        return self.log_probabilities[:, step - 1], torch.where(self.max_lengths == step, cut, 0.0)


@dataclass(frozen=True)
class Hypothesis:
    """One translation of one sentence.

    With I predictions (the end of sentence is one of them, unless the hypothesis was cut), and N words (the end of
    sentence included) and phrases of the source to attend to, words first:

    Attributes:
        tokens: identifiers without the end of sentence.
        score: what hypotheses are ranked by, (`log_probability` + the term of a length model, if there is one) / I^α.
        log_probability: natural logarithm of the probability of all I predictions, the model's own.
        is_cut: whether the length limit was reached before the end of sentence was predicted.
        alignment: (I,) for each prediction the 0-based source position attended to most, phrases left aside.
        attention: (I, N) weights of the first context, if they were asked for.
    """

    tokens: list[int]
    score: float
    log_probability: float
    is_cut: bool
    alignment: list[int]
    attention: np.ndarray | None = None


class Backpointers:
    """The tree of all prefixes that a search expanded, numbered in the order of their making.

    Each step of a search calls `append` with the prefixes that it is about to expand, then `append_attention` with the
    attention that predicts their next token. All of it stays on the device until `trace_back`.
    """

    def __init__(self, has_full_attention: bool, position_count: int) -> None:
        """Begin without prefixes.

        Args:
            has_full_attention: keep all weights; otherwise only the position attended to most.
            position_count: J, the columns of the attention that belong to positions; what lies behind them belongs to phrases.
        """
        self.has_full_attention = has_full_attention
        self.position_count = position_count
        self._tokens: list[Tensor] = []
        self._parents: list[Tensor] = []
        self._attention: list[Tensor] = []
        self._size = 0

    def append(self, tokens: Tensor, parents: Tensor) -> Tensor:
        """Add prefixes (R,) that prolong `parents` (R,) by `tokens` (R,); return their numbers (R,)."""
        self._tokens.append(tokens)
        self._parents.append(parents)
        self._size += len(tokens)
        return torch.arange(self._size - len(tokens), self._size, device=tokens.device)

    def append_attention(self, attention: Tensor) -> None:
        """Add the attention (R, N) of the prefixes that were added last."""
        self._attention.append(attention if self.has_full_attention else attention[:, : self.position_count].argmax(1))

    def trace_back(self, end_nodes: Sequence[int], lengths: Sequence[int]) -> list[tuple[list[int], Tensor]]:
        """Read the prefix before each hypothesis' last prediction.

        Args:
            end_nodes: the prefixes' numbers.
            lengths: for each, I: the prediction that follows it is the I-th.

        Returns:
            For each, its I − 1 tokens, and the attention (I, N), or the positions attended to most (I,), of all I
            predictions.
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
