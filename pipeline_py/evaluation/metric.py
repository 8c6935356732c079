"""Base classes of metrics, which score a corpus from the sum of its sentence statistics.

Each module in `metrics` defines one metric, which the configuration refers to by the module's name:
`metrics/moses_bleu.py` defines `MosesBleu`.
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
"""The metric for single sentences. BLEU is not used: a sentence often shares no 4-gram with its reference."""


class Metric(ABC):
    """A metric of translation quality.

    Attributes:
        label: the metric's name in tables.
        higher_is_better: true if higher scores are better.
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
        """The settings that affect a score, in sacrebleu's form."""

    @abstractmethod
    def compute_sentence_statistics(self, outputs: Sequence[str]) -> list[list[float]]:
        """Return the statistics of each output."""

    @abstractmethod
    def to_score_json(self, statistics: list[list[float]]) -> dict[str, Any]:
        """Return the score of a corpus as the `sacrebleu` command prints it, in full precision."""


def get_metric_class(name: str) -> type[Metric]:
    """Return the metric that a module of `metrics` defines."""
    metric_class: type[Metric] = getattr(
        import_module(f"pipeline_py.evaluation.metrics.{name}"), name.title().replace("_", "")
    )
    return metric_class


class SacrebleuBackedMetric(Metric):
    """A metric that sacrebleu computes from outputs and references.

    Attributes:
        extra_json_fields: attributes of sacrebleu's score that are added to the JSON object.
    """

    extra_json_fields: ClassVar[Sequence[str]] = ()

    def __init__(
        self, tokenizer: TokenizerName, lowercase: bool, references: Sequence[Sequence[str]], language: str = "en"
    ) -> None:
        """Count the references once for many outputs.

        Args:
            tokenizer: sacrebleu's tokenizer, for metrics that count words as BLEU does.
            lowercase: whether case is ignored.
            references: the sentences of each reference file.
            language: ISO 639 code of the target language, for metrics that count words by its rules.

        Raises:
            InputError: the tokenizer needs a package that is not installed.
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
        """Return the sacrebleu metric that counts the statistics."""

    @property
    def signature(self) -> str:
        """The signature of sacrebleu."""
        return str(self._sacrebleu_metric.get_signature().format())

    def compute_sentence_statistics(self, outputs: Sequence[str]) -> list[list[float]]:
        """Count the statistics of each output."""
        # None: the references given to the constructor.
        return self._sacrebleu_metric._extract_corpus_statistics(outputs, None)

    def to_score_json(self, statistics: list[list[float]]) -> dict[str, Any]:
        """Return the object that the `sacrebleu` command prints, with the score in full precision."""
        result = self._sacrebleu_metric._aggregate_and_compute(statistics)
        printed = json.loads(result.format(signature=self.signature, is_json=True))
        fields = {field: getattr(result, field) for field in self.extra_json_fields}
        return {**printed, "score": result.score, **fields, "sentences": len(statistics)}


class ExternalScoreMetric(Metric):
    """A metric whose sentence scores another program computes; the statistics are the score and 1."""

    def __init__(self, scores_path: Path) -> None:
        """Read sentence scores from a JSON file with `signature` and `scores`."""
        content = json.loads(scores_path.read_text(encoding="utf-8"))
        self._path, self._signature, self._scores = scores_path, str(content["signature"]), content["scores"]

    @staticmethod
    def score_corpora(sums: np.ndarray) -> np.ndarray:
        """Return the mean over the sentences of each corpus, times 100."""
        return 100.0 * sums[:, 0] / sums[:, 1]

    @property
    def signature(self) -> str:
        """The signature in the file of scores."""
        return self._signature

    def compute_sentence_statistics(self, outputs: Sequence[str]) -> list[list[float]]:
        """Return the statistics of each output.

        Raises:
            InputError: the number of scores is not that of the outputs.
        """
        if len(self._scores) != len(outputs):
            raise InputError(
                f"{len(self._scores)} scores for {len(outputs)} sentences; compute the scores again", self._path
            )
        return [[score, 1.0] for score in self._scores]

    def to_score_json(self, statistics: list[list[float]]) -> dict[str, Any]:
        """Return the score of a corpus."""
        score = float(self.score_corpora(np.sum(statistics, axis=0)[None])[0])
        return {"name": self.label, "score": score, "signature": self.signature, "sentences": len(statistics)}
