"""Extract dependency units: the parent, siblings and children of each word (SDRNMT, Chen et al. 2017, eq. 7)."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.kinds.units import EPSILON_POSITION, PADDING_POSITION, WORDS_PER_UNIT
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.trees.dependency import DependencyTree, read_dependency_trees
from pipeline_py.syntax.trees.tree_formats import check_trees_against_tokens

MAX_WORD_POSITION = np.iinfo(np.int16).max
"""Maximum position of a word in a unit."""


def extract_units(*, trees: Path, tokens: Path, output: Path, counts_output: Path) -> None:
    """Extract the dependency unit of every word.

    A unit consists of positions of words: 0 is ε, i is the i-th word of the sentence counted from 1, and -1 is the
    padding "/".

    Args:
        trees: CoNLL-U, one block for each line of the text.
        tokens: The text of the trees, tokenized, one sentence a line.
        output: Arrow file; row k has the units of the J words of sentence k and of EOS, (J + 1) · 10 values, int16.
        counts_output: JSON counts of sentences, of failed parses (which get empty units), of units, and of units cut at
            10 words.

    Raises:
        InputError: The trees are of another text, or a sentence is too long for int16.
    """
    counts = SentenceCounts()
    aligned = show_progress(check_trees_against_tokens(read_dependency_trees(trees), trees, tokens), "units")
    write_ragged_rows(output, _compute_unit_rows(aligned, trees, counts), "int16")
    counts.write_json_file(counts_output)


def _compute_unit_rows(
    trees: Iterable[DependencyTree], trees_path: Path, counts: SentenceCounts
) -> Iterator[np.ndarray]:
    for tree in trees:
        if len(tree.words) > MAX_WORD_POSITION:
            raise InputError(
                f"the sentence has {len(tree.words)} words and units name up to {MAX_WORD_POSITION}; split the line",
                trees_path,
                tree.line_number,
            )
        counts.add_kept()
        if tree.failure_reason is not None:
            counts.add_noted("failed parse, empty units")
        elif not tree.words:
            counts.add_noted("empty line")
        units = (
            [[EPSILON_POSITION] * 3] * len(tree.words)
            if tree.failure_reason is not None
            else find_dependency_units(tree.heads)
        )
        counts.add_noted("units", len(units))
        counts.add_noted(f"units cut at {WORDS_PER_UNIT} words", sum(len(unit) > WORDS_PER_UNIT for unit in units))
        yield np.array([pad_unit(unit) for unit in [*units, [EPSILON_POSITION] * 3]], dtype=np.int16).ravel()


def find_dependency_units(heads: Sequence[int]) -> list[list[int]]:
    """Find the units of the J words of a sentence: parent, siblings from left to right, children from left to right.

    Args:
        heads: J heads; 0 for a root, i for the i-th word counted from 1. Roots are siblings.

    Returns:
        J units of at least three positions; an empty part is 0 (ε).
    """
    children: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads, start=1):
        children[head].append(word)
    return [
        [
            head,  # the parent of a root is ε
            *([sibling for sibling in children[head] if sibling != word] or [EPSILON_POSITION]),
            *(children[word] or [EPSILON_POSITION]),
        ]
        for word, head in enumerate(heads, start=1)
    ]


def pad_unit(unit: Sequence[int]) -> list[int]:
    """Pad a unit to ten positions, or truncate it."""
    return [*unit[:WORDS_PER_UNIT], *[PADDING_POSITION] * (WORDS_PER_UNIT - len(unit))]
