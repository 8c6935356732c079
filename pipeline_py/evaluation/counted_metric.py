"""Metrics that sacrebleu counts, or a metric written after its pattern."""

import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pipeline_py.evaluation.metric import Metric, Tokenizer
from pipeline_py.input_error import InputError

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as Counter


class CountedMetric(Metric):
    """Its statistics are counted from outputs and references.

    Attributes:
        fields: what its score as JSON says beside what all metrics say, by their names in sacrebleu's score.
    """

    fields: ClassVar[Sequence[str]] = ()

    def __init__(
        self, tokenizer: Tokenizer, lowercase: bool, references: Sequence[Sequence[str]], language: str = "en"
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
            self._counter = self.counter(tokenizer, lowercase, references, language)
        except (ImportError, RuntimeError) as error:
            extra = tokenizer.partition("-")[0]
            raise InputError(
                f'tokenizer {tokenizer} is not installed; run pip install "sacrebleu[{extra}]" or choose another one'
            ) from error

    @staticmethod
    @abstractmethod
    def counter(tokenizer: Tokenizer, lowercase: bool, references: Sequence[Sequence[str]], language: str) -> "Counter":
        """Give the metric of sacrebleu, or one made after its pattern, that counts statistics of sentences."""

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
