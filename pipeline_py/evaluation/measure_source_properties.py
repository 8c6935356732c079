"""Compute properties of source sentences: their length, and the depth of their trees."""

from collections.abc import Sequence
from math import isnan, nan
from pathlib import Path
from statistics import fmean

import numpy as np

from pipeline_py.evaluation.column_files import write_sentence_columns
from pipeline_py.files.text_files import read_lines, split_tokens
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.constituency import read_phrase_trees
from pipeline_py.syntax.trees.dependency import read_dependency_trees
from pipeline_py.syntax.trees.tree_shape import compute_dependency_lengths, compute_phrase_tree_size, compute_tree_depth


def measure_source_properties(
    *, source: Path, output: Path, dependencies: Path | None = None, phrases: Path | None = None
) -> None:
    """Compute for each sentence of a set the properties that scores can be broken down by.

    The properties are `length`, in words; for phrase trees `phrase_depth`; for dependency trees `depth` and
    `dependency_length`, the mean distance of words to their heads; and for either kind `parse`: 1 if there is a tree,
    or 0 if the parse failed or the sentence is empty. `syntax.trees.tree_shape` defines depths and distances. A value
    is NaN for a sentence without a tree, and the mean distance also for a sentence that has only roots.

    Args:
        source: The tokenized source, words separated by spaces.
        output: Arrow file with a column for each property.
        dependencies: A parser's dependency trees of the source, CoNLL-U.
        phrases: A parser's phrase trees of the source, Penn Treebank brackets, one tree a line. If dependencies are
            given too, `parse` is theirs.

    Raises:
        InputError: if files differ in length, or a tree is none.
    """
    columns: dict[str, Sequence[float]] = {"length": [len(split_tokens(line)) for line in read_lines(source)]}
    depths: list[float] | None = None
    if phrases is not None:
        columns["phrase_depth"] = depths = _measure_phrase_depths(phrases)
        _check_sentence_count(depths, columns["length"], phrases)
    if dependencies is not None:
        columns["depth"], columns["dependency_length"] = depths, _ = _measure_dependencies(dependencies)
        _check_sentence_count(depths, columns["length"], dependencies)
    if depths is not None:
        columns["parse"] = [not isnan(depth) for depth in depths]
    write_sentence_columns(output, {name: np.array(values, dtype=np.float64) for name, values in columns.items()})


def _check_sentence_count(values: Sequence[float], lengths: Sequence[float], path: Path) -> None:
    if len(values) != len(lengths):
        raise InputError(
            f"the file has {len(values)} sentences and the source has {len(lengths)}; give the files of one set", path
        )


def _measure_dependencies(path: Path) -> tuple[list[float], list[float]]:
    """Return depths and mean dependency lengths; NaN if a sentence has none."""
    depths, means = [], []
    for tree in read_dependency_trees(path):
        has_tree = bool(tree.words) and tree.failure_reason is None
        lengths = compute_dependency_lengths(tree.heads) if has_tree else []
        depths.append(float(compute_tree_depth(tree.heads)) if has_tree else nan)
        means.append(fmean(lengths) if lengths else nan)
    return depths, means


def _measure_phrase_depths(path: Path) -> list[float]:
    """Return tree depths; NaN if a sentence has no tree."""
    return [
        nan if tree.root is None or tree.is_failed else float(compute_phrase_tree_size(tree).depth)
        for tree in read_phrase_trees(path)
    ]
