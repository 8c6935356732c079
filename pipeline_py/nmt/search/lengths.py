"""What a length model adds to the sums of a search (tree2seq section 4.3)."""

from dataclasses import dataclass

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
