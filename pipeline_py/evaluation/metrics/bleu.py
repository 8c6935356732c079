"""BLEU (Papineni et al. 2002) as sacrebleu computes it, with its default smoothing ("exp").

A sentence's statistics are ten integers: length of the output, closest reference length, matched n-grams
and output n-grams for n = 1 … 4.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from pipeline_py.evaluation.metric import SacrebleuBackedMetric, TokenizerName

MAX_NGRAM_LENGTH = 4


class Bleu(SacrebleuBackedMetric):
    """BLEU in percent."""

    label = "BLEU"
    extra_json_fields = ("counts", "totals", "precisions", "bp", "sys_len", "ref_len")

    @staticmethod
    def build_sacrebleu_metric(
        tokenizer: TokenizerName, lowercase: bool, references: Sequence[Sequence[str]], language: str
    ) -> BLEU:
        """Return sacrebleu's BLEU."""
        # `force` only silences the warning about text that looks tokenized.
        options: Any = {"lowercase": lowercase, "tokenize": tokenizer, "force": tokenizer == "none"}
        return BLEU(**options, references=references or None)

    @staticmethod
    def score_corpora(sums: np.ndarray) -> np.ndarray:
        """Score many corpora at once.

        The k-th order without a match counts as 1/2^k matches (NIST's mteval-v13a.pl; Chen and Cherry 2014, method
        3). A corpus without any match, or with no n-gram of some order, has BLEU 0.
        """
        matches, ngrams = sums[:, 2 : 2 + MAX_NGRAM_LENGTH], sums[:, 2 + MAX_NGRAM_LENGTH :]
        defined = (ngrams > 0).all(axis=1) & (matches > 0).any(axis=1)
        missing = matches == 0
        smoothed = np.where(missing, 0.5 ** missing.cumsum(axis=1), matches)
        precisions = smoothed / np.where(ngrams > 0, ngrams, 1)
        return np.where(
            defined, 100.0 * np.exp(compute_log_brevity_penalty(sums) + np.log(precisions).mean(axis=1)), 0.0
        )


def compute_log_brevity_penalty(sums: np.ndarray) -> np.ndarray:
    """Compute the logarithm of the brevity penalty of many corpora, (corpora,)."""
    lengths, reference_lengths = sums[:, 0], sums[:, 1]
    return np.minimum(0.0, 1.0 - reference_lengths / np.where(lengths > 0, lengths, 1))


def build_word_splitter(tokenizer: TokenizerName, lowercase: bool) -> Callable[[str], list[str]]:
    """Return a function that splits a line into the words of BLEU.

    Raises:
        InputError: the tokenizer needs a package that is not installed.
    """
    counter = Bleu(tokenizer, lowercase, [])._sacrebleu_metric
    return lambda line: counter._preprocess_segment(line).split()
