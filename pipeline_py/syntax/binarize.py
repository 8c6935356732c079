"""Make phrase trees binary, as tree encoders need them: n leaves and n - 1 inner nodes for n words.

Traces, functional tags and the wrapper of the root go (`simplify`). A chain of unary phrases becomes one node under
the label of its topmost phrase (S over VP: S); over a single word only the word's tag stays (NP over NN: NN).
A phrase X of more than two children gets intermediate nodes `@X`:

- right: X(c1, @X(c2, @X(c3, c4))), right-branching;
- left: X(@X(@X(c1, c2), c3), c4), left-branching;
- head-outward: the head child (`head_rules`) first takes up its right siblings one by one, nearest first, then its
  left ones: with head c2, X(c1, @X(@X(c2, c3), c4)).

Every span of more than one word in the original is a span of the binary tree. Right-branching ones do not tell whose a
phrase behind an object is: VP(V, NP, PP) and VP(V, NP(NP, PP)) get one shape.
"""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from pipeline_py import stage
from pipeline_py.artifact import Counts, writing
from pipeline_py.progress import progress
from pipeline_py.syntax.trees.alignment import with_tokens
from pipeline_py.syntax.trees.constituency import Node, Phrase, PhraseTree, Preterminal, fold, read_trees, write_trees
from pipeline_py.syntax.trees.head_rules import head_child
from pipeline_py.syntax.trees.simplify import simplify

FAILED = "failed parse, words only"
"""What the counts call a sentence without a tree."""


class Branching(StrEnum):
    """How a phrase of more than two children is divided."""

    RIGHT = "right"
    LEFT = "left"
    HEAD_OUTWARD = "head-outward"


def binarize(
    *, trees: Path, tokens: Path, branching: Branching = Branching.HEAD_OUTWARD, output: Path, counts_output: Path
) -> None:
    """Make the phrase trees of a text binary.

    A failed parse stays marked, so that later stages use only its words; an empty line stays empty.

    Args:
        trees: Penn Treebank brackets, one tree a line.
        tokens: The text of the trees, tokenized, one sentence a line.
        branching: How phrases with more than two children are split.
        output: Binary trees, one a line; leaves keep their tags.
        counts_output: JSON counts of sentences and of failed parses.
    """
    counts = Counts()
    with writing(output) as file:
        aligned = with_tokens(read_trees(trees), trees, tokens)
        write_trees(file, _binarized(progress(aligned, "binarize"), branching, counts))
    counts.write(counts_output)


def _binarized(trees: Iterator[PhraseTree], branching: Branching, counts: Counts) -> Iterator[PhraseTree]:
    for tree in trees:
        counts.keep()
        if tree.failed:
            counts.note(FAILED)
        if tree.root is None:
            counts.note("empty line")
        yield binary(tree, branching)


def binary(tree: PhraseTree, branching: Branching) -> PhraseTree:
    """The binary tree over the same words; a failed parse and an empty sentence stay as they are."""
    tree = simplify(tree)
    if tree.root is None or tree.failed:
        return tree

    def divide(phrase: Phrase, children: list[Node]) -> Node:
        if len(children) > 1:
            return _divided(phrase, children, branching)
        child = children[0]
        return Phrase(phrase.label, child.children) if isinstance(child, Phrase) else child

    return PhraseTree(fold(tree.root, _same, divide), tree.line)


def _same(leaf: Preterminal) -> Node:
    return leaf


def _divided(phrase: Phrase, children: list[Node], branching: Branching) -> Node:
    """One binary phrase over two or more children, which are those of `phrase` made binary."""
    last = len(children) - 1
    if branching is Branching.RIGHT:
        start, joins = last, [(place, True) for place in range(last - 1, -1, -1)]
    elif branching is Branching.LEFT:
        start, joins = 0, [(place, False) for place in range(1, last + 1)]
    else:
        start = head = head_child(phrase.label, [child.label for child in phrase.children])
        joins = [(place, False) for place in range(head + 1, last + 1)]
        joins += [(place, True) for place in range(head - 1, -1, -1)]
    node = children[start]
    for count, (place, on_the_left) in enumerate(joins, start=1):
        pair = (children[place], node) if on_the_left else (node, children[place])
        node = Phrase(phrase.label if count == last else f"@{phrase.label}", pair)
    return node


if __name__ == "__main__":
    stage.run(binarize)
