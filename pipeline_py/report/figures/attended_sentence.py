"""The attention of one sentence, and the phrases that its columns belong to.

J columns are those of the source's positions, EOS the last of them. Column J + k is that of the k-th phrase in the
order of height (a word has 0, a phrase 1 more than the highest of its children), then from left to right.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from pipeline_py.files.ragged import Ragged
from pipeline_py.report.figures.typesetting import shown
from pipeline_py.run.errors import InputError
from pipeline_py.subword import pieces as subword
from pipeline_py.subword.inherit import inherit_tree
from pipeline_py.subword.vocabulary import EOS, SPECIALS
from pipeline_py.syntax.trees.constituency import Node, Phrase, PhraseTree, Preterminal, fold, read_trees


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


Item = TypeVar("Item")


@dataclass(frozen=True)
class AttendedSentence:
    """A source, its translation, and the attention of each step.

    Attributes:
        words: the pieces of the source, and EOS: J of them.
        phrases: in the order of their columns.
        translation: its pieces, and EOS: I of them.
        weights: (I, J + phrases).
        gates: β, the weight of phrases (I,); None where the system has none.
    """

    words: Sequence[str]
    phrases: Sequence[PhraseColumn]
    translation: Sequence[str]
    weights: np.ndarray
    gates: np.ndarray | None


def read_attended(
    number: int,
    *,
    source_pieces: Path,
    translation: Path,
    attention: Path,
    tree: Path | None = None,
    lexical: bool = False,
    gates: Path | None = None,
) -> AttendedSentence:
    """Read sentence `number`, counted from 1; the files are those of `report.attention`.

    Raises:
        InputError: where a file lacks the sentence or its attention.
    """
    source = nth(subword.read(source_pieces), number, source_pieces)
    target = nth(subword.read(translation), number, translation)
    trees = _lexical(source) if lexical else [] if tree is None else _parsed(tree, number)
    phrases = phrase_columns(trees, len(source) + 1)
    steps, columns = len(target) + 1, len(source) + 1 + len(phrases)

    row = _row(attention, number)
    if not len(row):
        raise InputError(
            f"the sentence has no attention; run nmt.attend on sentence {number}, unless it is empty",
            attention,
            number,
        )
    return AttendedSentence(
        words=[*map(shown, source), SPECIALS[EOS]],
        phrases=phrases,
        translation=[*map(shown, target), SPECIALS[EOS]],
        weights=row.reshape(steps, columns),
        gates=None if gates is None else _gates(gates, number),
    )


def nth(items: Iterable[Item], number: int, path: Path) -> Item:
    """Take the sentence of a number, counted from 1.

    Raises:
        InputError: where the file has fewer.
    """
    for item in islice(items, number - 1, None):
        return item
    raise InputError(f"there is no sentence {number}; give the number of a sentence, from 1", path)


def telling_steps(attended: AttendedSentence, most: int) -> list[int]:
    """Choose the steps of up to `most` words: where the highest weight lies on a phrase, then where it is highest.

    The step that predicts EOS is chosen only where the translation is empty.
    """
    weights = attended.weights[: max(1, len(attended.translation) - 1)]
    on_phrase = weights.argmax(axis=1) >= len(attended.words)
    order = np.lexsort((-weights.max(axis=1), ~on_phrase))
    return sorted(order[:most].tolist())


def _row(path: Path, number: int) -> np.ndarray:
    rows = Ragged(path)
    if number > len(rows):
        raise InputError(f"there is no sentence {number}; give the number of a sentence, from 1", path)
    return rows[number - 1]


def _gates(path: Path, number: int) -> np.ndarray | None:
    row = _row(path, number)
    return row if len(row) else None


def _parsed(path: Path, number: int) -> list[Node]:
    """Read the tree over the sentence; none where the parse failed."""
    tree = nth(read_trees(path), number, path)
    return [] if tree.root is None or tree.failed else [tree.root]


def _lexical(source: Sequence[str]) -> list[Node]:
    """Grow a tree over the pieces of each word."""
    words = subword.by_word(list(source))
    if not words:
        return []
    flat = PhraseTree(Phrase("", tuple(Preterminal("", "") for _ in words)))
    grown = inherit_tree(flat, words).root
    return list(grown.children) if isinstance(grown, Phrase) else []
