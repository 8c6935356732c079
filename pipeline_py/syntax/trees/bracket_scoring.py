"""Labelled brackets that two phrase trees have in common, counted as evalb counts them.

A bracket is (label, first word, last word). Traces and functional tags go first (`simplify`); the brackets ROOT and
TOP and the tags of words are not counted; equal brackets count as often as they stand. Punctuation is treated as by
evalb's COLLINS.prm: a word with a punctuation tag in the gold tree is left out of both, so that it does not matter
where it is attached. Unlike there, ADVP and PRT are two labels.
"""

from collections import Counter
from itertools import accumulate
from typing import NamedTuple

from pipeline_py.syntax.trees.constituency import WRAPPER_LABELS, PhraseTree, list_phrase_spans, simplify_tree

PUNCTUATION_TAGS = frozenset({",", ".", ":", "``", "''", "PUNCT"})


class BracketCounts(NamedTuple):
    """Brackets in common, in the gold trees and in the predicted ones."""

    matching_brackets: int = 0
    gold_brackets: int = 0
    predicted_brackets: int = 0

    def add_counts(self, counts: "BracketCounts") -> "BracketCounts":
        """The counts of both."""
        return BracketCounts(
            self.matching_brackets + counts.matching_brackets,
            self.gold_brackets + counts.gold_brackets,
            self.predicted_brackets + counts.predicted_brackets,
        )

    @property
    def precision(self) -> float:
        """Share of the predicted brackets that are right, in percent."""
        return 100 * self.matching_brackets / self.predicted_brackets if self.predicted_brackets else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold brackets that were found, in percent."""
        return 100 * self.matching_brackets / self.gold_brackets if self.gold_brackets else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, in percent."""
        total = self.gold_brackets + self.predicted_brackets
        return 200 * self.matching_brackets / total if total else 0.0


def count_matching_brackets(gold_tree: PhraseTree, predicted_tree: PhraseTree) -> BracketCounts:
    """Count the brackets of two trees over the same words; a failed parse has none."""
    gold_tree = simplify_tree(gold_tree)
    left_out = [leaf.label in PUNCTUATION_TAGS for leaf in gold_tree.leaves]
    expected = _count_brackets(gold_tree, left_out)
    found = _count_brackets(simplify_tree(predicted_tree), left_out)
    return BracketCounts((expected & found).total(), expected.total(), found.total())


def _count_brackets(tree: PhraseTree, punctuation_flags: list[bool]) -> Counter[tuple[str, int, int]]:
    if tree.is_failed:
        return Counter()
    counted = [0, *accumulate(not out for out in punctuation_flags)]  # words that count in front of each
    return Counter(
        (label, counted[first], counted[end])
        for label, first, end in list_phrase_spans(tree)
        if counted[first] < counted[end] and label not in WRAPPER_LABELS
    )
