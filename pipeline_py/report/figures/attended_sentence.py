"""The attention of one sentence with its source phrases.

The first J columns are the source positions, the last of which is EOS. Column J + k is the k-th phrase, sorted by
height (0 for a word, 1 + the maximum of its children for a phrase), then from left to right.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from pipeline_py.files.ragged_arrays import RaggedArrayFile
from pipeline_py.report.figures.typesetting import replace_unprintable
from pipeline_py.run.errors import InputError
from pipeline_py.subword import pieces as subword
from pipeline_py.subword.inherit import inherit_tree
from pipeline_py.subword.vocabulary import EOS, SPECIAL_TOKENS
from pipeline_py.syntax.trees.constituency import (
    PhraseNode,
    PhraseTree,
    Preterminal,
    TreeNode,
    fold_tree,
    read_phrase_trees,
)


@dataclass(frozen=True)
class PhraseColumn:
    """A phrase with a column of attention weights.

    Attributes:
        label: category.
        height: height, 1 or more.
        first, last: first and last word of its span, from 0, inclusive.
        children: columns of its children, from left to right.
    """

    label: str
    height: int
    first: int
    last: int
    children: tuple[int, ...]


@dataclass(frozen=True)
class _NodeSpan:
    """Height and span of a node."""

    height: int
    first: int
    last: int


def build_phrase_columns(trees: Sequence[TreeNode], position_count: int) -> list[PhraseColumn]:
    """List the phrases of trees in the order of their columns.

    Args:
        trees: trees over consecutive parts of a sentence: one tree over the sentence, no tree without a parse, or one
            tree over the pieces of each word.
        position_count: J, the column of the first phrase.
    """
    places = count()
    spanned_phrases: list[tuple[_NodeSpan, str, list[_NodeSpan]]] = []

    def leaf(_: Preterminal) -> _NodeSpan:
        place = next(places)
        return _NodeSpan(0, place, place)

    def phrase(node: PhraseNode, children: list[_NodeSpan]) -> _NodeSpan:
        span = _NodeSpan(1 + max(child.height for child in children), children[0].first, children[-1].last)
        spanned_phrases.append((span, node.label, children))
        return span

    for tree in trees:
        fold_tree(tree, leaf, phrase)
    # Phrases of equal height do not overlap, so height and first word define the order.
    spanned_phrases.sort(key=lambda spanned_phrase: (spanned_phrase[0].height, spanned_phrase[0].first))
    column_of = {span: position_count + place for place, (span, _, _) in enumerate(spanned_phrases)}
    return [
        PhraseColumn(
            label,
            span.height,
            span.first,
            span.last,
            tuple(column_of[child] if child.height else child.first for child in children),
        )
        for span, label, children in spanned_phrases
    ]


Item = TypeVar("Item")


@dataclass(frozen=True)
class AttendedSentence:
    """A source sentence, its translation, and the attention of each step.

    Attributes:
        words: the J source positions: pieces and EOS.
        phrases: phrases in the order of their columns.
        translation: the I target positions: pieces and EOS.
        weights: attention weights (I, J + phrases).
        gates: β, the weight of phrases (I,); None if the system has no gates.
    """

    words: Sequence[str]
    phrases: Sequence[PhraseColumn]
    translation: Sequence[str]
    weights: np.ndarray
    gates: np.ndarray | None


def read_attended_sentence(
    sentence_number: int,
    *,
    source_pieces: Path,
    translation: Path,
    attention: Path,
    tree: Path | None = None,
    lexical: bool = False,
    gates: Path | None = None,
) -> AttendedSentence:
    """Read a sentence, numbered from 1, from the files of `report.draw_attention`.

    Raises:
        InputError: if a file lacks the sentence or its attention.
    """
    source = get_sentence(subword.read_tokens(source_pieces), sentence_number, source_pieces)
    target = get_sentence(subword.read_tokens(translation), sentence_number, translation)
    trees = _build_lexical_trees(source) if lexical else [] if tree is None else _read_tree_roots(tree, sentence_number)
    phrases = build_phrase_columns(trees, len(source) + 1)
    steps, columns = len(target) + 1, len(source) + 1 + len(phrases)

    row = _read_row(attention, sentence_number)
    if not len(row):
        raise InputError(
            f"the sentence has no attention; run nmt.attend on sentence {sentence_number}, unless it is empty",
            attention,
            sentence_number,
        )
    return AttendedSentence(
        words=[*map(replace_unprintable, source), SPECIAL_TOKENS[EOS]],
        phrases=phrases,
        translation=[*map(replace_unprintable, target), SPECIAL_TOKENS[EOS]],
        weights=row.reshape(steps, columns),
        gates=None if gates is None else _read_gates(gates, sentence_number),
    )


def get_sentence(sentences: Iterable[Item], sentence_number: int, path: Path) -> Item:
    """Return a sentence by its number, from 1.

    Raises:
        InputError: if the file has fewer sentences.
    """
    for item in islice(sentences, sentence_number - 1, None):
        return item
    raise InputError(f"there is no sentence {sentence_number}; give the number of a sentence, from 1", path)


def select_informative_steps(attended: AttendedSentence, max_steps: int) -> list[int]:
    """Select up to `max_steps` steps, first those with their maximum on a phrase, then those with the highest weight.

    The step that predicts EOS is selected only if the translation is empty.
    """
    weights = attended.weights[: max(1, len(attended.translation) - 1)]
    on_phrase = weights.argmax(axis=1) >= len(attended.words)
    order = np.lexsort((-weights.max(axis=1), ~on_phrase))
    return sorted(order[:max_steps].tolist())


def _read_row(path: Path, sentence_number: int) -> np.ndarray:
    rows = RaggedArrayFile(path)
    if sentence_number > len(rows):
        raise InputError(f"there is no sentence {sentence_number}; give the number of a sentence, from 1", path)
    return rows[sentence_number - 1]


def _read_gates(path: Path, sentence_number: int) -> np.ndarray | None:
    row = _read_row(path, sentence_number)
    return row if len(row) else None


def _read_tree_roots(path: Path, sentence_number: int) -> list[TreeNode]:
    """Read the tree over the sentence; return an empty list if the parse failed."""
    tree = get_sentence(read_phrase_trees(path), sentence_number, path)
    return [] if tree.root is None or tree.is_failed else [tree.root]


def _build_lexical_trees(source_pieces: Sequence[str]) -> list[TreeNode]:
    """Build a tree over the pieces of each word."""
    words = subword.group_by_word(list(source_pieces))
    if not words:
        return []
    flat = PhraseTree(PhraseNode("", tuple(Preterminal("", "") for _ in words)))
    grown = inherit_tree(flat, words).root
    return list(grown.children) if isinstance(grown, PhraseNode) else []
