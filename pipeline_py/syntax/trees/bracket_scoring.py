"""Labelled brackets that two phrase trees have in common, counted as evalb counts them.

A bracket is (label, first word, last word). Traces and functional tags go first (`simplify`); the brackets ROOT and
TOP and the tags of words are not counted; equal brackets count as often as they stand. Punctuation is treated as by
evalb's COLLINS.prm: a word with a punctuation tag in the gold tree is left out of both, so that it does not matter
where it is attached. Unlike there, ADVP and PRT are two labels.
"""

from collections import Counter
from itertools import accumulate
from typing import NamedTuple

from pipeline_py.syntax.trees.constituency import WRAPPERS, PhraseTree, simplify, spans

PUNCTUATION = frozenset({",", ".", ":", "``", "''", "PUNCT"})


class BracketCounts(NamedTuple):
    """Brackets in common, in the gold trees and in the predicted ones."""

    common: int = 0
    gold: int = 0
    predicted: int = 0

    def plus(self, other: "BracketCounts") -> "BracketCounts":
        """The counts of both."""
        return BracketCounts(self.common + other.common, self.gold + other.gold, self.predicted + other.predicted)

    @property
    def precision(self) -> float:
        """Share of the predicted brackets that are right, in percent."""
        return 100 * self.common / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold brackets that were found, in percent."""
        return 100 * self.common / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, in percent."""
        total = self.gold + self.predicted
        return 200 * self.common / total if total else 0.0


def compare(gold: PhraseTree, predicted: PhraseTree) -> BracketCounts:
    """Count the brackets of two trees over the same words; a failed parse has none."""
    gold = simplify(gold)
    left_out = [leaf.label in PUNCTUATION for leaf in gold.leaves]
    expected = _brackets(gold, left_out)
    found = _brackets(simplify(predicted), left_out)
    return BracketCounts((expected & found).total(), expected.total(), found.total())


def _brackets(tree: PhraseTree, left_out: list[bool]) -> Counter[tuple[str, int, int]]:
    if tree.failed:
        return Counter()
    counted = [0, *accumulate(not out for out in left_out)]  # words that count in front of each
    return Counter(
        (label, counted[first], counted[end])
        for label, first, end in spans(tree)
        if counted[first] < counted[end] and label not in WRAPPERS
    )
