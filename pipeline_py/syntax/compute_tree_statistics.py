"""Measure the shapes of the trees of a text, as sums that can be added over shards.

sentences = empty + failed + trees; all other sums are over trees. `dependencies` are the words that have a head word,
and `dependency_length` is the sum of their distances to it, in words. `phrases` are the nodes above words and their
tags, after `simplify_tree`.
"""

import json
from collections import Counter
from pathlib import Path

from pipeline_py.files.artifacts import write_json
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.trees.constituency import PhraseTree
from pipeline_py.syntax.trees.dependency import DependencyTree
from pipeline_py.syntax.trees.tree_formats import TREE_FILE_FORMATS, TreeKind
from pipeline_py.syntax.trees.tree_shape import (
    compute_dependency_lengths,
    compute_phrase_tree_size,
    compute_tree_depth,
    is_projective,
)

COMMON_SUM_NAMES = ("sentences", "empty", "failed", "trees", "words", "depth")
SUM_NAMES_BY_KIND = {
    TreeKind.DEPENDENCY: (*COMMON_SUM_NAMES, "dependencies", "dependency_length", "non_projective", "several_roots"),
    TreeKind.CONSTITUENCY: (*COMMON_SUM_NAMES, "phrases"),
}


def compute_tree_statistics(*, annotation: TreeKind, trees: Path, output: Path) -> None:
    """Sum depths, lengths of dependencies, numbers of phrases and other measures over the trees of a text.

    Empty lines and failed parses are counted, but not included in the sums. `trees.tree_shape` defines the measures.

    Args:
        annotation: Kind of trees.
        trees: CoNLL-U (dependency) or brackets, one tree a line (constituency), from `parse`.
        output: The sums as JSON.
    """
    sums = Counter(dict.fromkeys(SUM_NAMES_BY_KIND[annotation], 0))
    measure = _measure_dependency_tree if annotation is TreeKind.DEPENDENCY else _measure_phrase_tree
    for tree in show_progress(TREE_FILE_FORMATS[annotation].read_trees(trees), "tree statistics"):
        measures = measure(tree)
        failed = TREE_FILE_FORMATS[annotation].get_failure_reason(tree) is not None
        kind = "empty" if not measures["words"] else "failed" if failed else "trees"
        sums.update({"sentences": 1, kind: 1})
        if kind == "trees":
            sums.update(measures)
    write_json(output, {"annotation": annotation, **sums})


def read_tree_statistics(path: Path) -> dict[str, int]:
    """Read the sums that `compute_tree_statistics` wrote."""
    content: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))
    del content["annotation"]
    return content


def _measure_dependency_tree(tree: DependencyTree) -> dict[str, int]:
    lengths = compute_dependency_lengths(tree.heads)
    return {
        "words": len(tree.words),
        "depth": compute_tree_depth(tree.heads),
        "dependencies": len(lengths),
        "dependency_length": sum(lengths),
        "non_projective": int(not is_projective(tree.heads)),
        "several_roots": int(len(lengths) < len(tree.heads) - 1),
    }


def _measure_phrase_tree(tree: PhraseTree) -> dict[str, int]:
    return compute_phrase_tree_size(tree)._asdict()
