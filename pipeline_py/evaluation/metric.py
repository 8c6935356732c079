"""What a metric is: statistics of each sentence, and the score of a corpus from their sum.

Each is a class in a module of its own in `metrics`: `metrics/bleu.py` has `Bleu`. What stands there can be named in the
configuration, and is then counted, tested, broken down and shown as any other.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pipeline_py.input_error import InputError

if TYPE_CHECKING:
    import numpy as np
    from sacrebleu.metrics.base import Metric as Counter

Tokenizer = Literal["13a", "intl", "zh", "ja-mecab", "char", "none"]

OF_A_SENTENCE = "chrf"
"""The metric by which single sentences are laid beside each other: BLEU says little of one, which often has no sequence
of four words in common with its reference."""


class Metric(ABC):
    """One metric.

    Attributes:
        label: what people call it.
        higher_is_better: whether more of it is better.
        fields: what its score as JSON says beside what all metrics say, by their names in sacrebleu's score.
    """

    label: ClassVar[str]
    higher_is_better: ClassVar[bool] = True
    fields: ClassVar[Sequence[str]] = ()

    def __init__(self, tokenizer: Tokenizer, lowercase: bool, references: Sequence[Sequence[str]]) -> None:
        """Count the references once for many outputs.

        Args:
            tokenizer: sacrebleu's tokenizer, for metrics that count words as BLEU does.
            lowercase: whether case is ignored.
            references: for each reference its sentences.

        Raises:
            InputError: if the tokenizer needs a package that is not installed.
        """
        try:
            self._counter = self.counter(tokenizer, lowercase, references)
        except (ImportError, RuntimeError) as error:
            raise InputError(
                f'tokenizer {tokenizer} is not installed; run pip install "sacrebleu[ja]" or choose another one'
            ) from error

    @staticmethod
    @abstractmethod
    def counter(tokenizer: Tokenizer, lowercase: bool, references: Sequence[Sequence[str]]) -> "Counter":
        """Give the metric of sacrebleu, or one made after its pattern, that counts statistics of sentences."""

    @staticmethod
    @abstractmethod
    def scores(sums: "np.ndarray") -> "np.ndarray":
        """Score many corpora at once.

        Args:
            sums: statistics summed over each corpus, (corpora, statistics).

        Returns:
            Scores in percent, (corpora,), float64.
        """

    @property
    def signature(self) -> str:
        """What decides a score, in sacrebleu's form."""
        return str(self._counter.get_signature().format())

    def statistics(self, outputs: Sequence[str]) -> list[list[float]]:
        """Count the statistics of each output."""
        # None: the references that it was made with.
        return self._counter._extract_corpus_statistics(outputs, None)

    def as_json(self, statistics: list[list[float]]) -> dict[str, Any]:
        """The object that the `sacrebleu` command prints of a corpus, with the score in full precision."""
        result = self._counter._aggregate_and_compute(statistics)
        printed = json.loads(result.format(signature=self.signature, is_json=True))
        fields = {field: getattr(result, field) for field in self.fields}
        return {**printed, "score": result.score, **fields, "sentences": len(statistics)}


def named(name: str) -> type[Metric]:
    """Find a metric by the name of its module."""
    found: type[Metric] = getattr(import_module(f"pipeline_py.evaluation.metrics.{name}"), name.capitalize())
    return found
