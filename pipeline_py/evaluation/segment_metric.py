"""Metrics whose scores of sentences another program computes; the score of a set is their mean."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_py.evaluation.metric import Metric
from pipeline_py.input_error import InputError


class SegmentMetric(Metric):
    """A sentence's statistics are its score and 1."""

    def __init__(self, scored: Path) -> None:
        """Read the scores of an output's sentences.

        Args:
            scored: JSON with `signature` and `scores`, one of each sentence.
        """
        content = json.loads(scored.read_text(encoding="utf-8"))
        self._path, self._signature, self._scores = scored, str(content["signature"]), content["scores"]

    @staticmethod
    def scores(sums: np.ndarray) -> np.ndarray:
        """Score many corpora at once: means over their sentences, times 100."""
        return 100.0 * sums[:, 0] / sums[:, 1]

    @property
    def signature(self) -> str:
        """What decides a score."""
        return self._signature

    def statistics(self, outputs: Sequence[str]) -> list[list[float]]:
        """The score of each output.

        Raises:
            InputError: if there are others than outputs.
        """
        if len(self._scores) != len(outputs):
            raise InputError(f"{len(self._scores)} scores of {len(outputs)} sentences; make it anew", self._path)
        return [[score, 1.0] for score in self._scores]

    def as_json(self, statistics: list[list[float]]) -> dict[str, Any]:
        """The score of a corpus, as of other metrics."""
        score = float(self.scores(np.sum(statistics, axis=0)[None])[0])
        return {"name": self.label, "score": score, "signature": self.signature, "sentences": len(statistics)}
