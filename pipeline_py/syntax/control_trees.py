"""Make control trees, which ignore the words: trees of a given shape in place of a parser's."""

import time
from collections.abc import Iterator
from pathlib import Path

from pipeline_py.files.artifacts import Counts, writing
from pipeline_py.run.progress import progress
from pipeline_py.syntax.trees.constituency import Node, Phrase, PhraseTree, Preterminal
from pipeline_py.syntax.trees.control_shapes import Shape, heads, phrase_ends
from pipeline_py.syntax.trees.dependency import DependencyTree
from pipeline_py.syntax.trees.formats import FORMATS, Annotation, TreeFacts
from pipeline_py.syntax.words.token_alignment import read_sentences

LABEL = "X"
"""Of every phrase and, as in Universal Dependencies, of a word whose part of speech is not known."""


def control_trees(
    *,
    annotation: Annotation,
    shape: Shape,
    seed: int = 1,
    tokens: Path,
    output: Path,
    counts_output: Path,
    facts_output: Path,
) -> None:
    """Make a tree for every line of a tokenized text; tree k belongs to line k.

    The tree of a sentence depends only on its words, the shape and, for random trees, the seed; not on its position in
    the text. The root has the relation root, other words have dep; all tags and phrases are X. Phrases are binary; a
    single word has a tag and no phrase. An empty line gives an empty tree.

    Args:
        annotation: `dependency` or `constituency`.
        shape: `right-branching`, `left-branching`, `balanced`, `random`, or `chain` (each word depends on the previous
            one).
        seed: Seed of random trees.
        tokens: Tokenized text, one sentence a line.
        output: CoNLL-U, or brackets with one tree a line.
        counts_output: JSON counts of sentences.
        facts_output: The time it took, as JSON.

    Raises:
        InputError: if a line contains a tab or a carriage return.
    """
    started = time.monotonic()
    counts = Counts()
    sentences = progress(_sentences(tokens, counts), "control trees")
    with writing(output) as file:
        tree = dependency_tree if annotation is Annotation.DEPENDENCY else phrase_tree
        FORMATS[annotation].write(file, (tree(words, shape, seed) for words in sentences))
    counts.write(counts_output)
    TreeFacts(counts.kept, time.monotonic() - started).write(facts_output)


def _sentences(tokens: Path, counts: Counts) -> Iterator[tuple[str, ...]]:
    for words in read_sentences(tokens):
        counts.keep()
        if not words:
            counts.note("empty line")
        yield words


def dependency_tree(words: tuple[str, ...], shape: Shape, seed: int) -> DependencyTree:
    """The dependency tree of a shape over n words; of none the empty tree."""
    if not words:
        return DependencyTree((), (), (), ())
    found = heads(shape, len(words), _key(words, Annotation.DEPENDENCY, seed))
    labels = tuple(["dep" if head else "root" for head in found])
    return DependencyTree(words, tuple(found), labels, (LABEL,) * len(words))


def phrase_tree(words: tuple[str, ...], shape: Shape, seed: int) -> PhraseTree:
    """The binary tree of a shape over n words, with n - 1 phrases; of no words the empty tree."""
    if not words:
        return PhraseTree(None)
    nodes: list[Node] = []
    for word, ends in zip(
        words, phrase_ends(shape, len(words), _key(words, Annotation.CONSTITUENCY, seed)), strict=True
    ):
        node: Node = Preterminal(LABEL, word)
        for _ in range(ends):
            node = Phrase(LABEL, (nodes.pop(), node))
        nodes.append(node)
    (root,) = nodes
    return PhraseTree(root)


def _key(words: tuple[str, ...], annotation: Annotation, seed: int) -> str:
    """What a random tree is drawn with; no other sentence, annotation or seed has the same."""
    return f"{seed} {annotation} {' '.join(words)}"
