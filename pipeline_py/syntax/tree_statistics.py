"""The shapes of all trees of a text, as sums: parts of a text can be added, and a mean is a sum over a sum."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from pipeline_py import stage
from pipeline_py.artifact import write_json
from pipeline_py.progress import progress
from pipeline_py.stage import InputError
from pipeline_py.syntax.trees.annotation import Annotation
from pipeline_py.syntax.trees.constituency import PhraseTree, read_trees
from pipeline_py.syntax.trees.dependency import DependencyTree, read_dependencies
from pipeline_py.syntax.trees.shape import dependency_lengths, depth, is_projective, phrase_shape


@dataclass
class Statistics:
    """Sums over the sentences of a text: sentences = empty + failed + trees, and the rest is of trees alone.

    Attributes:
        sentences: all of them.
        empty: sentences without words.
        failed: sentences with words and without a parse.
        trees: parsed sentences.
        words: their words.
        depth: their depths.
    """

    annotation: ClassVar[Annotation]
    sentences: int = 0
    empty: int = 0
    failed: int = 0
    trees: int = 0
    words: int = 0
    depth: int = 0

    def write(self, path: Path) -> None:
        """Write the sums as JSON, with the kind of trees."""
        write_json(path, {"annotation": self.annotation, **asdict(self)})

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what `write` wrote.

        Raises:
            InputError: if it is no such file, or of the other kind of trees.
        """
        problem = f"no statistics of {cls.annotation} trees"
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            found = content.pop("annotation")
            statistics = cls(**content)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise InputError(f"{problem}; count the trees again", path) from None
        if found != cls.annotation or not all(isinstance(value, int) for value in content.values()):
            raise InputError(f"{problem}; count the trees again", path)
        return statistics

    def _has_tree(self, words: int, failed: bool) -> bool:
        """Count a sentence, and say whether it has a tree to be looked at."""
        self.sentences += 1
        self.empty += not words
        self.failed += bool(words and failed)
        has_tree = bool(words) and not failed
        self.trees += has_tree
        self.words += words * has_tree
        return has_tree


@dataclass
class DependencyStatistics(Statistics):
    """Sums over dependency trees.

    Attributes:
        dependencies: words that have a head word.
        dependency_length: sum of their distances to it, in words.
        non_projective: trees that are not projective.
        several_roots: trees of more than one root.
    """

    annotation = Annotation.DEPENDENCY
    dependencies: int = 0
    dependency_length: int = 0
    non_projective: int = 0
    several_roots: int = 0

    def add(self, tree: DependencyTree) -> None:
        """Count one sentence more."""
        if not self._has_tree(len(tree.words), tree.failed is not None):
            return
        lengths = dependency_lengths(tree.heads)
        self.depth += depth(tree.heads)
        self.dependencies += len(lengths)
        self.dependency_length += sum(lengths)
        self.non_projective += not is_projective(tree.heads)
        self.several_roots += len(lengths) < len(tree.heads) - 1


@dataclass
class PhraseStatistics(Statistics):
    """Sums over phrase trees after `simplify`.

    Attributes:
        phrases: nodes above words and their tags.
    """

    annotation = Annotation.CONSTITUENCY
    phrases: int = 0

    def add(self, tree: PhraseTree) -> None:
        """Count one sentence more."""
        shape = phrase_shape(tree)
        if self._has_tree(shape.words, tree.failed):
            self.depth += shape.depth
            self.phrases += shape.phrases


def tree_statistics(*, annotation: Annotation, trees: Path, output: Path) -> None:
    """Sum up depths, lengths of dependencies, phrases and the like over the trees of a text.

    Empty lines and failed parses are counted and have no part in the sums. Depth and the rest are defined in
    `tree_shape`.

    Args:
        annotation: which kind of trees.
        trees: CoNLL-U (dependency) or brackets, one tree a line (constituency), as `parse` writes them.
        output: the sums as JSON.
    """
    if annotation is Annotation.DEPENDENCY:
        statistics = DependencyStatistics()
        for tree in progress(read_dependencies(trees), "tree statistics"):
            statistics.add(tree)
        statistics.write(output)
    else:
        phrases = PhraseStatistics()
        for phrase_tree in progress(read_trees(trees), "tree statistics"):
            phrases.add(phrase_tree)
        phrases.write(output)


if __name__ == "__main__":
    stage.run(tree_statistics)
