"""Metrics: statistics of each sentence, and the score of a corpus from their sum.

Each is a class in a module of its own in `metrics`: `metrics/moses_bleu.py` has `MosesBleu`. What stands there can be
named in the configuration, and is then counted, tested, broken down and shown as any other.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from pipeline_py.run.errors import InputError

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as Counter


TokenizerName = Literal["13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none"]

SENTENCE_METRIC = "chrf"
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
    def score_corpora(sums: "np.ndarray") -> "np.ndarray":
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
    def compute_sentence_statistics(self, outputs: Sequence[str]) -> list[list[float]]:
        """Give the statistics of each output."""

    @abstractmethod
    def to_score_json(self, statistics: list[list[float]]) -> dict[str, Any]:
        """Score a corpus: an object like that of the `sacrebleu` command, with the score in full precision."""


def get_metric_class(name: str) -> type[Metric]:
    """Find a metric by the name of its module."""
    found: type[Metric] = getattr(
        import_module(f"pipeline_py.evaluation.metrics.{name}"), name.title().replace("_", "")
    )
    return found


class SacrebleuBackedMetric(Metric):
    """Its statistics are counted from outputs and references.

    Attributes:
        extra_json_fields: what its score as JSON says beside what all metrics say, by their names in sacrebleu's score.
    """

    extra_json_fields: ClassVar[Sequence[str]] = ()

    def __init__(
        self, tokenizer: TokenizerName, lowercase: bool, references: Sequence[Sequence[str]], language: str = "en"
    ) -> None:
        """Count the references once for many outputs.

        Args:
            tokenizer: sacrebleu's tokenizer, for metrics that count words as BLEU does.
            lowercase: whether case is ignored.
            references: for each reference its sentences.
            language: ISO 639 code of the target language, for metrics that count words by its rules.

        Raises:
            InputError: if the tokenizer needs a package that is not installed.
        """
        try:
            self._sacrebleu_metric = self.build_sacrebleu_metric(tokenizer, lowercase, references, language)
        except (ImportError, RuntimeError) as error:
            extra = tokenizer.partition("-")[0]
            raise InputError(
                f'tokenizer {tokenizer} is not installed; run pip install "sacrebleu[{extra}]" or choose another one'
            ) from error

    @staticmethod
    @abstractmethod
    def build_sacrebleu_metric(
        tokenizer: TokenizerName, lowercase: bool, references: Sequence[Sequence[str]], language: str
    ) -> "Counter":
        """Give the metric of sacrebleu, or one made after its pattern, that counts statistics of sentences."""

    @property
    def signature(self) -> str:
        """What decides a score, in sacrebleu's form."""
        return str(self._sacrebleu_metric.get_signature().format())

    def compute_sentence_statistics(self, outputs: Sequence[str]) -> list[list[float]]:
        """Count the statistics of each output."""
        # None: the references that it was made with.
        return self._sacrebleu_metric._extract_corpus_statistics(outputs, None)

    def to_score_json(self, statistics: list[list[float]]) -> dict[str, Any]:
        """The object that the `sacrebleu` command prints of a corpus, with the score in full precision."""
        result = self._sacrebleu_metric._aggregate_and_compute(statistics)
        printed = json.loads(result.format(signature=self.signature, is_json=True))
        fields = {field: getattr(result, field) for field in self.extra_json_fields}
        return {**printed, "score": result.score, **fields, "sentences": len(statistics)}


class ExternalScoreMetric(Metric):
    """A sentence's statistics are its score and 1."""

    def __init__(self, scores_path: Path) -> None:
        """Read the scores of an output's sentences.

        Args:
            scores_path: JSON with `signature` and `score_corpora`, one of each sentence.
        """
        content = json.loads(scores_path.read_text(encoding="utf-8"))
        self._path, self._signature, self._scores = scores_path, str(content["signature"]), content["scores"]

    @staticmethod
    def score_corpora(sums: np.ndarray) -> np.ndarray:
        """Score many corpora at once: means over their sentences, times 100."""
        return 100.0 * sums[:, 0] / sums[:, 1]

    @property
    def signature(self) -> str:
        """What decides a score."""
        return self._signature

    def compute_sentence_statistics(self, outputs: Sequence[str]) -> list[list[float]]:
        """The score of each output.

        Raises:
            InputError: if there are others than outputs.
        """
        if len(self._scores) != len(outputs):
            raise InputError(f"{len(self._scores)} scores of {len(outputs)} sentences; make it anew", self._path)
        return [[score, 1.0] for score in self._scores]

    def to_score_json(self, statistics: list[list[float]]) -> dict[str, Any]:
        """The score of a corpus, as of other metrics."""
        score = float(self.score_corpora(np.sum(statistics, axis=0)[None])[0])
        return {"name": self.label, "score": score, "signature": self.signature, "sentences": len(statistics)}
