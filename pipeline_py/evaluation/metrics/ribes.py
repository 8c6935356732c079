"""RIBES (Isozaki et al. 2010): agreement of an output with the word order of the reference.

RIBES = NKT · P^α · BP^β of a sentence: Kendall's τ of the aligned words, normalized to 0 … 1; the share of the output's
words that are aligned; the brevity penalty. Of several references, the best one counts. The score of a corpus is the
mean over its sentences.

Values are those of the authors' script, RIBES.py 1.02.4. Of two contexts of equal width, the script tries the left one
first, and therefore aligns the paper's example (H0, R0) differently from the paper. nltk 3.10.4 differs from the
script: it tries the right context first, omits the widest left context in the second half of a sentence, and gives 0
for a reference of one word.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sacrebleu.metrics.base import Metric as SacrebleuMetric
from sacrebleu.metrics.base import Score, Signature

from pipeline_py.evaluation.metric import SacrebleuBackedMetric, TokenizerName
from pipeline_py.evaluation.metrics.bleu import Bleu

PRECISION_EXPONENT = 0.25
BREVITY_EXPONENT = 0.10


class Ribes(SacrebleuBackedMetric):
    """RIBES in percent."""

    label = "RIBES"

    @staticmethod
    def build_sacrebleu_metric(
        tokenizer: TokenizerName, lowercase: bool, references: Sequence[Sequence[str]], language: str
    ) -> "SacrebleuRibes":
        """Return RIBES on the words of BLEU."""
        return SacrebleuRibes(tokenizer, lowercase, references)

    @staticmethod
    def score_corpora(sums: np.ndarray) -> np.ndarray:
        """Score many corpora at once."""
        return 100.0 * sums[:, 0] / sums[:, 1]


class RibesSignature(Signature):
    """A sacrebleu signature of RIBES."""

    def __init__(self, args: dict[str, Any]) -> None:
        super().__init__(args)
        self._abbr.update({"case": "c", "tok": "tok", "alpha": "a", "beta": "b"})
        self.info.update(
            {
                "case": "lc" if args["lowercase"] else "mixed",
                "tok": args["tokenizer_signature"],
                "alpha": PRECISION_EXPONENT,
                "beta": BREVITY_EXPONENT,
            }
        )


class SacrebleuRibes(SacrebleuMetric):
    """RIBES as a metric of sacrebleu.

    A sentence's statistics are its RIBES and 1.

    Args:
        tokenizer: sacrebleu's tokenizer.
        lowercase: whether case is ignored, as the authors' script does.
        references: the sentences of each reference file.
    """

    _SIGNATURE_TYPE = RibesSignature

    def __init__(
        self, tokenizer: TokenizerName, lowercase: bool, references: Sequence[Sequence[str]] | None = None
    ) -> None:
        super().__init__()
        self._bleu_metric = Bleu.build_sacrebleu_metric(tokenizer, lowercase, [], language="")
        self.lowercase = lowercase
        self.tokenizer_signature = self._bleu_metric.tokenizer_signature
        if references is not None:
            self._ref_cache = self._cache_references(references)

    def _preprocess_segment(self, sent: str) -> str:
        return self._bleu_metric._preprocess_segment(sent)

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        return {"references": [line.split() for line in refs]}

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[float]:
        return [compute_sentence_ribes(hypothesis.split(), ref_kwargs["references"]), 1]

    def _aggregate_and_compute(self, stats: list[list[float]]) -> Score:
        return self._compute_score_from_stats(np.sum(stats, axis=0))

    def _compute_score_from_stats(self, stats: Any) -> Score:
        return Score("RIBES", float(Ribes.score_corpora(np.asarray(stats)[None])[0]))


def compute_sentence_ribes(hypothesis: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Compute RIBES of one tokenized output, 0 … 1; 0 without words."""
    return max((_score_against_reference(hypothesis, reference) for reference in references), default=0.0)


def _score_against_reference(hypothesis: Sequence[str], reference: Sequence[str]) -> float:
    if not hypothesis or not reference:
        return 0.0
    places = align_words(hypothesis, reference)
    # A single aligned word has no order and scores 0, except in a reference of one word.
    order = float(len(places) == len(reference) == 1)
    if len(places) > 1:
        order = sum(before < after for before, after in combinations(places, 2)) / math.comb(len(places), 2)
    precision = len(places) / len(hypothesis)
    brevity = min(1.0, math.exp(1 - len(reference) / len(hypothesis)))
    return order * precision**PRECISION_EXPONENT * brevity**BREVITY_EXPONENT


def align_words(hypothesis: Sequence[str], reference: Sequence[str]) -> list[int]:
    """Return the positions in the reference of the hypothesis's words, in the order of the hypothesis.

    A word is aligned by its narrowest context that occurs exactly once in each sentence: the word itself, or the word
    with 1, 2 … words to its left, or as many to its right. Words without such a context are left out.
    """
    # Words are mapped to characters, so that contexts are found by string search.
    characters: dict[str, str] = {}
    output, text = (
        "".join(characters.setdefault(word, chr(len(characters))) for word in words)
        for words in (hypothesis, reference)
    )
    positions = (_find_reference_position(position, output, text) for position in range(len(output)))
    return [position for position in positions if position is not None]


def _find_reference_position(position: int, output_characters: str, reference_characters: str) -> int | None:
    if output_characters[position] not in reference_characters:
        return None
    for width in range(1, len(reference_characters) + 1):
        for start in (position + 1 - width, position):
            context = output_characters[start : start + width] if start >= 0 else ""
            if (
                len(context) == width
                and _is_unique_substring(context, output_characters)
                and _is_unique_substring(context, reference_characters)
            ):
                return reference_characters.index(context) + position - start
    return None


def _is_unique_substring(context: str, text: str) -> bool:
    # str.count does not count overlapping occurrences.
    first = text.find(context)
    return first >= 0 and text.find(context, first + 1) < 0
