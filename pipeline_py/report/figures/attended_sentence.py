"""What a system attended to in one sentence, read from the files of the whole set."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from pipeline_py.input_error import InputError
from pipeline_py.ragged import Ragged
from pipeline_py.report.figures.phrase_columns import PhraseColumn, phrase_columns
from pipeline_py.report.figures.typesetting import shown
from pipeline_py.subword import pieces as subword
from pipeline_py.subword.inherit import inherit_tree
from pipeline_py.subword.vocabulary import EOS, SPECIALS
from pipeline_py.syntax.trees.constituency import Node, Phrase, PhraseTree, Preterminal, read_trees

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
        InputError: where a file lacks the sentence, or files do not belong together.
    """
    source = nth(subword.read(source_pieces), number, source_pieces)
    target = nth(subword.read(translation), number, translation)
    trees = _lexical(source) if lexical else [] if tree is None else _parsed(tree, number, source, source_pieces)
    phrases = phrase_columns(trees, len(source) + 1)
    steps, columns = len(target) + 1, len(source) + 1 + len(phrases)

    row = _row(attention, number)
    if not len(row):
        raise InputError(
            f"the sentence has no attention; run nmt.attend on sentence {number}, unless it is empty",
            attention,
            number,
        )
    if len(row) != steps * columns:
        raise InputError(
            f"{len(row)} weights, but {len(target)} pieces and EOS attend to {len(source)} pieces, EOS and "
            f"{len(phrases)} phrases, which makes {steps * columns}; "
            "give translation, source and tree that the system read",
            attention,
            number,
        )
    return AttendedSentence(
        words=[*map(shown, source), SPECIALS[EOS]],
        phrases=phrases,
        translation=[*map(shown, target), SPECIALS[EOS]],
        weights=row.reshape(steps, columns),
        gates=None if gates is None else _gates(gates, number, steps),
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


def _gates(path: Path, number: int, steps: int) -> np.ndarray | None:
    row = _row(path, number)
    if len(row) not in (0, steps):
        raise InputError(
            f"{len(row)} weights of phrases for {steps - 1} pieces and EOS; give the file that nmt.attend wrote",
            path,
            number,
        )
    return row if len(row) else None


def _parsed(path: Path, number: int, source: Sequence[str], source_path: Path) -> list[Node]:
    """Read the tree over the sentence; none where the parse failed."""
    tree = nth(read_trees(path), number, path)
    if [leaf.word for leaf in tree.leaves] != list(source):
        raise InputError(
            f"the leaves of the tree are not the pieces of {source_path}; give the trees over these pieces",
            path,
            number,
        )
    return [] if tree.root is None or tree.failed else [tree.root]


def _lexical(source: Sequence[str]) -> list[Node]:
    """Grow a tree over the pieces of each word."""
    words = subword.by_word(list(source))
    if not words:
        return []
    flat = PhraseTree(Phrase("", tuple(Preterminal("", "") for _ in words)))
    grown = inherit_tree(flat, words).root
    return list(grown.children) if isinstance(grown, Phrase) else []
