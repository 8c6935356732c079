"""Build control trees, whose shape does not depend on syntax."""

import time
from collections.abc import Iterator
from pathlib import Path

from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.trees.constituency import PhraseNode, PhraseTree, Preterminal, TreeNode
from pipeline_py.syntax.trees.control_shapes import ControlShape, build_control_heads, count_control_phrase_ends
from pipeline_py.syntax.trees.dependency import DependencyTree
from pipeline_py.syntax.trees.tree_formats import TREE_FILE_FORMATS, TreeKind, TreeMetadata
from pipeline_py.syntax.words.token_alignment import read_sentences

CONTROL_LABEL = "X"
"""Label of all phrases and tags; in Universal Dependencies, the tag of an unknown part of speech."""


def build_control_trees(
    *,
    annotation: TreeKind,
    shape: ControlShape,
    seed: int = 1,
    tokens: Path,
    output: Path,
    counts_output: Path,
    facts_output: Path,
) -> None:
    """Build a control tree for every line of a tokenized text; tree k belongs to line k.

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
        InputError: A line contains a tab or a carriage return.
    """
    started = time.monotonic()
    counts = SentenceCounts()
    sentences = show_progress(_read_counted_sentences(tokens, counts), "control trees")
    with open_atomic_text_file(output) as file:
        build_tree = build_dependency_tree if annotation is TreeKind.DEPENDENCY else build_phrase_tree
        TREE_FILE_FORMATS[annotation].write_trees(file, (build_tree(words, shape, seed) for words in sentences))
    counts.write_json_file(counts_output)
    TreeMetadata(counts.kept_count, time.monotonic() - started).write(facts_output)


def _read_counted_sentences(tokens_path: Path, counts: SentenceCounts) -> Iterator[tuple[str, ...]]:
    for words in read_sentences(tokens_path):
        counts.add_kept()
        if not words:
            counts.add_noted("empty line")
        yield words


def build_dependency_tree(words: tuple[str, ...], shape: ControlShape, seed: int) -> DependencyTree:
    """Build the dependency tree of a shape over some words."""
    if not words:
        return DependencyTree((), (), (), ())
    heads = build_control_heads(shape, len(words), _build_random_key(words, TreeKind.DEPENDENCY, seed))
    labels = tuple(["dep" if head else "root" for head in heads])
    return DependencyTree(words, tuple(heads), labels, (CONTROL_LABEL,) * len(words))


def build_phrase_tree(words: tuple[str, ...], shape: ControlShape, seed: int) -> PhraseTree:
    """Build the binary phrase tree of a shape over some words."""
    if not words:
        return PhraseTree(None)
    nodes: list[TreeNode] = []
    random_key = _build_random_key(words, TreeKind.CONSTITUENCY, seed)
    for word, end_count in zip(words, count_control_phrase_ends(shape, len(words), random_key), strict=True):
        node: TreeNode = Preterminal(CONTROL_LABEL, word)
        for _ in range(end_count):
            node = PhraseNode(CONTROL_LABEL, (nodes.pop(), node))
        nodes.append(node)
    (root,) = nodes
    return PhraseTree(root)


def _build_random_key(words: tuple[str, ...], annotation: TreeKind, seed: int) -> str:
    """Build the random key of a tree, which is unique for its words, kind and seed."""
    return f"{seed} {annotation} {' '.join(words)}"
