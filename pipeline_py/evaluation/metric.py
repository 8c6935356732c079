"""What a metric is: statistics of each sentence, and the score of a corpus from their sum.

Each is a class in a module of its own in `metrics`: `metrics/moses_bleu.py` has `MosesBleu`. What stands there can be
named in the configuration, and is then counted, tested, broken down and shown as any other.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    import numpy as np

Tokenizer = Literal["13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none"]

OF_A_SENTENCE = "chrf"
"""The metric by which single sentences are laid beside each other: BLEU says little of one, which often has no sequence
of four words in common with its reference."""


class Metric(ABC):
    """One metric.

    Attributes:
        label: what people call it.
        higher_is_better: whether more of it is better.
    """

    label: ClassVar[str]
    higher_is_better: ClassVar[bool] = True

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
    @abstractmethod
    def signature(self) -> str:
        """What decides a score."""

    @abstractmethod
    def statistics(self, outputs: Sequence[str]) -> list[list[float]]:
        """Give the statistics of each output."""

    @abstractmethod
    def as_json(self, statistics: list[list[float]]) -> dict[str, Any]:
        """Score a corpus: an object like that of the `sacrebleu` command, with the score in full precision."""


def named(name: str) -> type[Metric]:
    """Find a metric by the name of its module."""
    found: type[Metric] = getattr(
        import_module(f"pipeline_py.evaluation.metrics.{name}"), name.title().replace("_", "")
    )
    return found
