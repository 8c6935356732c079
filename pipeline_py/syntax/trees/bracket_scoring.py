"""Labelled bracket scoring of phrase trees, as in evalb.

A bracket is (label, first word, last word). Trees are simplified first (`simplify_tree`). The brackets ROOT and TOP and
the tags of words do not count; repeated brackets count repeatedly. As in evalb's COLLINS.prm, words with a punctuation
tag in the gold tree are removed from both trees. Unlike in COLLINS.prm, ADVP and PRT are different labels.
"""

from collections import Counter
from itertools import accumulate
from typing import NamedTuple

from pipeline_py.syntax.trees.constituency import WRAPPER_LABELS, PhraseTree, list_phrase_spans, simplify_tree

PUNCTUATION_TAGS = frozenset({",", ".", ":", "``", "''", "PUNCT"})


class BracketCounts(NamedTuple):
    """Counts of matching, gold and predicted brackets."""

    matching_brackets: int = 0
    gold_brackets: int = 0
    predicted_brackets: int = 0

    def add_counts(self, counts: "BracketCounts") -> "BracketCounts":
        """Return the sums of two counts."""
        return BracketCounts(
            self.matching_brackets + counts.matching_brackets,
            self.gold_brackets + counts.gold_brackets,
            self.predicted_brackets + counts.predicted_brackets,
        )

    @property
    def precision(self) -> float:
        """Share of predicted brackets that are correct, in percent."""
        return 100 * self.matching_brackets / self.predicted_brackets if self.predicted_brackets else 0.0

    @property
    def recall(self) -> float:
        """Share of gold brackets that are predicted, in percent."""
        return 100 * self.matching_brackets / self.gold_brackets if self.gold_brackets else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, in percent."""
        total = self.gold_brackets + self.predicted_brackets
        return 200 * self.matching_brackets / total if total else 0.0


def count_matching_brackets(gold_tree: PhraseTree, predicted_tree: PhraseTree) -> BracketCounts:
    """Count the brackets of two trees over the same words; a failed parse has no brackets."""
    gold_tree = simplify_tree(gold_tree)
    punctuation_flags = [leaf.label in PUNCTUATION_TAGS for leaf in gold_tree.leaves]
    gold_counts = _count_brackets(gold_tree, punctuation_flags)
    predicted_counts = _count_brackets(simplify_tree(predicted_tree), punctuation_flags)
    return BracketCounts((gold_counts & predicted_counts).total(), gold_counts.total(), predicted_counts.total())


def _count_brackets(tree: PhraseTree, punctuation_flags: list[bool]) -> Counter[tuple[str, int, int]]:
    if tree.is_failed:
        return Counter()
    positions = [0, *accumulate(not is_punctuation for is_punctuation in punctuation_flags)]
    return Counter(
        (label, positions[first], positions[end])
        for label, first, end in list_phrase_spans(tree)
        if positions[first] < positions[end] and label not in WRAPPER_LABELS
    )
