"""Measure the shapes of the trees of a text, as sums that can be added over shards.

sentences = empty + failed + trees, where empty ones have no words; everything else is of trees alone. Of dependencies,
`dependencies` are words that have a head word, and `dependency_length` is the sum of their distances to it, in words;
of phrase trees, after `simplify`, `phrases` are the nodes above words and their tags.
"""

import json
from collections import Counter
from pathlib import Path

from pipeline_py.files.artifacts import write_json
from pipeline_py.run.progress import progress
from pipeline_py.syntax.trees.constituency import PhraseTree
from pipeline_py.syntax.trees.dependency import DependencyTree
from pipeline_py.syntax.trees.formats import FORMATS, Annotation
from pipeline_py.syntax.trees.shape import dependency_lengths, depth, is_projective, phrase_shape

OF_ALL = ("sentences", "empty", "failed", "trees", "words", "depth")
SUMS = {
    Annotation.DEPENDENCY: (*OF_ALL, "dependencies", "dependency_length", "non_projective", "several_roots"),
    Annotation.CONSTITUENCY: (*OF_ALL, "phrases"),
}


def tree_statistics(*, annotation: Annotation, trees: Path, output: Path) -> None:
    """Sum up depths, lengths of dependencies, phrases and the like over the trees of a text.

    Empty lines and failed parses are counted, but not included in the sums. `trees.shape` defines depth and the other
    measures.

    Args:
        annotation: Kind of trees.
        trees: CoNLL-U (dependency) or brackets, one tree a line (constituency), from `parse`.
        output: The sums as JSON.
    """
    sums = Counter(dict.fromkeys(SUMS[annotation], 0))
    shape = _of_dependencies if annotation is Annotation.DEPENDENCY else _of_phrases
    for tree in progress(FORMATS[annotation].read(trees), "tree statistics"):
        found = shape(tree)
        failed = FORMATS[annotation].reason(tree) is not None
        kind = "empty" if not found["words"] else "failed" if failed else "trees"
        sums.update({"sentences": 1, kind: 1})
        if kind == "trees":
            sums.update(found)
    write_json(output, {"annotation": annotation, **sums})


def read_statistics(path: Path) -> dict[str, int]:
    """Read the sums that `tree_statistics` wrote."""
    content: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))
    del content["annotation"]
    return content


def _of_dependencies(tree: DependencyTree) -> dict[str, int]:
    lengths = dependency_lengths(tree.heads)
    return {
        "words": len(tree.words),
        "depth": depth(tree.heads),
        "dependencies": len(lengths),
        "dependency_length": sum(lengths),
        "non_projective": int(not is_projective(tree.heads)),
        "several_roots": int(len(lengths) < len(tree.heads) - 1),
    }


def _of_phrases(tree: PhraseTree) -> dict[str, int]:
    return phrase_shape(tree)._asdict()
