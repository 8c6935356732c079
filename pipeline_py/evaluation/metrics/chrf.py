"""chrF (Popović 2015) as sacrebleu computes it: the F2 score of character n-grams.

A sentence's statistics are three integers for each n-gram order: n-grams of the output, of the reference, and matches.
Of several references, the one with the highest score counts.
"""

from collections.abc import Sequence

import numpy as np
from sacrebleu.metrics.chrf import CHRF

from pipeline_py.evaluation.metric import SacrebleuBackedMetric, TokenizerName


class Chrf(SacrebleuBackedMetric):
    """chrF2 in percent."""

    label = "chrF"

    @staticmethod
    def build_sacrebleu_metric(
        tokenizer: TokenizerName, lowercase: bool, references: Sequence[Sequence[str]], language: str
    ) -> CHRF:
        """Return sacrebleu's chrF without word n-grams."""
        return CHRF(lowercase=lowercase, references=references)

    @staticmethod
    def score_corpora(sums: np.ndarray) -> np.ndarray:
        """Score many corpora at once; orders without n-grams in output or reference do not count."""
        output, reference, matches = (sums[:, part::3] for part in range(3))
        counts = (output > 0) & (reference > 0)
        orders = np.maximum(1, counts.sum(axis=1))
        precision, recall = (
            np.divide(matches, total, out=np.zeros(counts.shape), where=counts).sum(axis=1) / orders
            for total in (output, reference)
        )
        weight = CHRF.BETA**2
        either = weight * precision + recall
        f_score = (1 + weight) * precision * recall / np.where(either > 0, either, 1)
        return 100.0 * f_score
