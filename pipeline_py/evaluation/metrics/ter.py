"""TER (Snover et al. 2006) as sacrebleu computes it: edits (with shifts) per reference word.

A sentence's statistics are its number of edits (the lowest over references) and the mean length of its references.
"""

from collections.abc import Sequence

import numpy as np
from sacrebleu.metrics.ter import TER

from pipeline_py.evaluation.metric import SacrebleuBackedMetric, TokenizerName
from pipeline_py.files.language_properties import CHINESE_JAPANESE_LANGUAGES, get_base_language


class Ter(SacrebleuBackedMetric):
    """TER in percent; less is better."""

    label = "TER"
    higher_is_better = False

    @staticmethod
    def build_sacrebleu_metric(
        tokenizer: TokenizerName, lowercase: bool, references: Sequence[Sequence[str]], language: str
    ) -> TER:
        """Return sacrebleu's TER, which splits Chinese and Japanese into characters as Tercom does."""
        is_asian = get_base_language(language) in CHINESE_JAPANESE_LANGUAGES and tokenizer != "none"
        return TER(case_sensitive=not lowercase, normalized=is_asian, asian_support=is_asian, references=references)

    @staticmethod
    def score_corpora(sums: np.ndarray) -> np.ndarray:
        """Score many corpora at once; with empty references, 100, or 0 if the output is empty too."""
        edits, lengths = sums[:, 0], sums[:, 1]
        return 100.0 * np.where(lengths > 0, edits / np.where(lengths > 0, lengths, 1), edits > 0)
