"""Which column of an attention matrix belongs to which phrase of the trees that a system read.

J columns are those of the source's positions, EOS the last of them. Column J + k is that of the k-th phrase in the
order of height (a word has 0, a phrase 1 more than the highest of its children), then from left to right.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from pipeline_py.syntax.trees.constituency import Node, Phrase, Preterminal, fold


@dataclass(frozen=True)
class PhraseColumn:
    """A phrase that is attended to.

    Attributes:
        label: its category.
        height: 1 or more.
        first, last: the words that it spans, counted from 0; `last` is one of them.
        children: columns of its children, from left to right.
    """

    label: str
    height: int
    first: int
    last: int
    children: tuple[int, ...]


@dataclass(frozen=True)
class _Spanned:
    """A node as its parent sees it."""

    height: int
    first: int
    last: int


def phrase_columns(trees: Sequence[Node], positions: int) -> list[PhraseColumn]:
    """Put the phrases of trees in the order of their columns.

    Args:
        trees: over the words of a sentence from left to right, which they share out among them: one tree over all of
            it, none where there is no parse, or one for each word that is made of pieces.
        positions: J, the column of the first phrase.
    """
    places = count()
    found: list[tuple[_Spanned, str, list[_Spanned]]] = []

    def leaf(_: Preterminal) -> _Spanned:
        place = next(places)
        return _Spanned(0, place, place)

    def phrase(node: Phrase, children: list[_Spanned]) -> _Spanned:
        spanned = _Spanned(1 + max(child.height for child in children), children[0].first, children[-1].last)
        found.append((spanned, node.label, children))
        return spanned

    for tree in trees:
        fold(tree, leaf, phrase)
    # Phrases of one height cannot lie within each other, so the first word tells them apart.
    found.sort(key=lambda one: (one[0].height, one[0].first))
    column_of = {spanned: positions + place for place, (spanned, _, _) in enumerate(found)}
    return [
        PhraseColumn(
            label,
            spanned.height,
            spanned.first,
            spanned.last,
            tuple(column_of[child] if child.height else child.first for child in children),
        )
        for spanned, label, children in found
    ]
