"""Dependency units: for each word its parent, its siblings and its children (SDRNMT, Chen et al. 2017, eq. 7)."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from pipeline_py.files.artifacts import Counts
from pipeline_py.files.ragged import write_rows
from pipeline_py.kinds.units import NOTHING, PADDING, UNIT_SIZE
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress
from pipeline_py.syntax.trees.dependency import DependencyTree, read_dependencies
from pipeline_py.syntax.trees.formats import with_tokens

LAST_PLACE = np.iinfo(np.int16).max
"""The last word of a sentence that a unit can name."""


def units(*, trees: Path, tokens: Path, output: Path, counts_output: Path) -> None:
    """Find the dependency unit of every word.

    A unit consists of positions of words, so that it does not depend on a vocabulary: 0 means ε, i the i-th word of the
    sentence counted from 1, and -1 the padding "/".

    Args:
        trees: CoNLL-U, one block for each line of the text.
        tokens: The text of the trees, tokenized, one sentence a line.
        output: Arrow file; row k has the units of the J words of sentence k and of EOS, (J + 1) · 10 values, int16.
        counts_output: JSON counts of sentences, of failed parses (which get empty units), of units, and of units cut at
            10 words.

    Raises:
        InputError: the trees are not those of the text, or a sentence is too long for int16.
    """
    counts = Counts()
    aligned = progress(with_tokens(read_dependencies(trees), trees, tokens), "units")
    write_rows(output, _rows(aligned, trees, counts), "int16")
    counts.write(counts_output)


def _rows(trees: Iterable[DependencyTree], path: Path, counts: Counts) -> Iterator[np.ndarray]:
    for tree in trees:
        if len(tree.words) > LAST_PLACE:
            raise InputError(
                f"the sentence has {len(tree.words)} words and units name up to {LAST_PLACE}; split the line",
                path,
                tree.line,
            )
        counts.keep()
        if tree.failed is not None:
            counts.note("failed parse, empty units")
        elif not tree.words:
            counts.note("empty line")
        found = [[NOTHING] * 3] * len(tree.words) if tree.failed is not None else dependency_units(tree.heads)
        counts.note("units", len(found))
        counts.note(f"units cut at {UNIT_SIZE} words", sum(len(unit) > UNIT_SIZE for unit in found))
        yield np.array([padded(unit) for unit in [*found, [NOTHING] * 3]], dtype=np.int16).ravel()


def dependency_units(heads: Sequence[int]) -> list[list[int]]:
    """The units of one sentence's J words: parent, siblings from left to right, children from left to right.

    Args:
        heads: J heads, 0 for a root, i for the i-th word counted from 1. Roots are siblings of each other.

    Returns:
        J units of at least three places; 0 (ε) stands for a part that is empty.
    """
    children: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads, start=1):
        children[head].append(word)
    return [
        [
            head,  # a root has no parent, which is ε
            *([sibling for sibling in children[head] if sibling != word] or [NOTHING]),
            *(children[word] or [NOTHING]),
        ]
        for word, head in enumerate(heads, start=1)
    ]


def padded(unit: Sequence[int]) -> list[int]:
    """Fill a unit up to ten places, or cut it."""
    return [*unit[:UNIT_SIZE], *[PADDING] * (UNIT_SIZE - len(unit))]
