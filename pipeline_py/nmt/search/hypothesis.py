"""Hypotheses that a beam search returns, and the length model's share of their scores."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pipeline_py.subword.vocabulary import EOS


@dataclass(frozen=True)
class LengthTerms:
    """Terms of the B sentences of a search.

    Attributes:
        table: (B, I_max + 1) float64, log p of a translation of 0 … I_max tokens, the end of sentence not counted.
        limits: (B,) the most predictions per sentence, at most I_max.
    """

    table: Tensor
    limits: Tensor

    def of(self, tokens: Tensor, step: int, sentence: Tensor | slice = slice(None)) -> Tensor:
        """Return the terms of hypotheses whose `step`-th prediction is `tokens`.

        Args:
            tokens: (N, C) the predictions.
            step: counts predictions from 1.
            sentence: (N,) whose hypotheses they are; without it, a row for each sentence.

        Returns:
            (N, C): the term of the hypothesis' length where it ends here or is cut, 0 where it lives on.
        """
        ending, otherwise = self._at(step)
        return torch.where(tokens == EOS, ending[sentence, None], otherwise[sentence, None])

    def lay_over(self, logits: Tensor, step: int, sentence: Tensor) -> Tensor:
        """Shift the logits (R, V) of EOS by its term, so that tokens of a row rank as their hypotheses will.

        Where the others are cut, what they get instead is taken from it.
        """
        ending, otherwise = self._at(step)
        shifted = logits.clone()
        shifted[:, EOS] += (ending - otherwise)[sentence]
        return shifted

    def _at(self, step: int) -> tuple[Tensor, Tensor]:
        """Say what a hypothesis gets that ends with prediction `step`, and one that does not, (B,) each."""
        cut = self.table.gather(1, self.limits[:, None])[:, 0]
        return self.table[:, step - 1], torch.where(self.limits == step, cut, 0.0)


@dataclass(frozen=True)
class Hypothesis:
    """One translation of one sentence.

    With I predictions (the end of sentence is one of them, unless the hypothesis was cut), and N words (the end of
    sentence included) and phrases of the source to attend to, words first:

    Attributes:
        tokens: identifiers without the end of sentence.
        score: what hypotheses are ranked by, (`log_probability` + the term of a length model, if there is one) / I^α.
        log_probability: natural logarithm of the probability of all I predictions, the model's own.
        cut: whether the length limit was reached before the end of sentence was predicted.
        alignment: (I,) for each prediction the 0-based source position attended to most, phrases left aside.
        attention: (I, N) weights of the first context, if they were asked for.
    """

    tokens: list[int]
    score: float
    log_probability: float
    cut: bool
    alignment: list[int]
    attention: np.ndarray | None = None


class Trail:
    """The tree of all prefixes that a search expanded, numbered in the order of their making.

    Each step of a search calls `grow` with the prefixes that it is about to expand, then `attend` with the
    attention that predicts their next token. All of it stays on the device until `read_back`.
    """

    def __init__(self, whole_attention: bool, words: int) -> None:
        """Begin without prefixes.

        Args:
            whole_attention: keep all weights; otherwise only the position attended to most.
            words: J, the columns of the attention that belong to positions; what lies behind them belongs to phrases.
        """
        self.whole_attention = whole_attention
        self.words = words
        self._tokens: list[Tensor] = []
        self._parents: list[Tensor] = []
        self._attention: list[Tensor] = []
        self._size = 0

    def grow(self, tokens: Tensor, parents: Tensor) -> Tensor:
        """Add prefixes (R,) that prolong `parents` (R,) by `tokens` (R,); return their numbers (R,)."""
        self._tokens.append(tokens)
        self._parents.append(parents)
        self._size += len(tokens)
        return torch.arange(self._size - len(tokens), self._size, device=tokens.device)

    def attend(self, attention: Tensor) -> None:
        """Add the attention (R, N) of the prefixes that were added last."""
        self._attention.append(attention if self.whole_attention else attention[:, : self.words].argmax(1))

    def read_back(self, ends: Sequence[int], lengths: Sequence[int]) -> list[tuple[list[int], Tensor]]:
        """Read the prefix before each hypothesis' last prediction.

        Args:
            ends: the prefixes' numbers.
            lengths: for each, I: the prediction that follows it is the I-th.

        Returns:
            For each, its I − 1 tokens, and the attention (I, N), or the positions attended to most (I,), of all I
            predictions.
        """
        tokens = torch.cat(self._tokens).tolist()
        parents = torch.cat(self._parents).tolist()
        trails = []
        for end, length in zip(ends, lengths, strict=True):
            trail = [end]
            while len(trail) < length:
                trail.append(parents[trail[-1]])
            trails.append(trail[::-1])
        attention = torch.cat(self._attention)
        visited = torch.tensor([node for trail in trails for node in trail], device=attention.device)
        attended = attention[visited].cpu().split(list(lengths))
        return [([tokens[node] for node in trail[1:]], part) for trail, part in zip(trails, attended, strict=True)]
