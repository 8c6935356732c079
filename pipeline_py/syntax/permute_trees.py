"""Assign the nodes of dependency trees to words at random: control trees with the distances of a parse."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.build_control_trees import CONTROL_LABEL
from pipeline_py.syntax.tree_origins import find_failure_reason
from pipeline_py.syntax.trees.dependency import DependencyTree, read_dependency_trees, write_dependency_trees
from pipeline_py.syntax.trees.tree_formats import TreeKind, TreeMetadata, count_fallback


def permute_trees(
    *, seed: int = 1, trees: Path, facts: Path, output: Path, counts_output: Path, facts_output: Path
) -> None:
    """Assign the nodes of each dependency tree to the words of its sentence at random.

    A tree keeps its shape, and therefore its numbers of word pairs at each distance, but which words the pairs are is
    random. The permutation of a sentence depends only on its words and the seed. Roots have the relation root, other
    words have dep; all tags are X. A failed parse is not permuted, and stays marked.

    Args:
        seed: Seed of the permutations.
        trees: CoNLL-U.
        facts: Facts of these trees.
        output: CoNLL-U.
        counts_output: JSON counts of sentences, and of failed parses.
        facts_output: The time it took, and the versions and models of the given trees, as JSON.
    """
    started = time.monotonic()
    counts = SentenceCounts()
    counted_trees = show_progress(_count_trees(read_dependency_trees(trees), counts), "permuted trees")
    with open_atomic_text_file(output) as file:
        write_dependency_trees(file, (permute_tree(tree, seed) for tree in counted_trees))
    counts.write_json_file(counts_output)
    metadata = TreeMetadata.read(facts)
    TreeMetadata(
        counts.kept_count, time.monotonic() - started, versions=metadata.versions, models=metadata.models
    ).write(facts_output)


def permute_tree(tree: DependencyTree, seed: int) -> DependencyTree:
    """Assign the nodes of a tree to its words at random; return a failed parse as it is."""
    if tree.failure_reason is not None:
        return tree
    heads = permute_heads(tree.heads, f"{seed} permuted {' '.join(tree.words)}")
    labels = tuple(["dep" if head else "root" for head in heads])
    return DependencyTree(tree.words, tuple(heads), labels, (CONTROL_LABEL,) * len(heads))


def permute_heads(heads: Sequence[int], random_key: str) -> list[int]:
    """Assign the nodes of a dependency tree to word positions at random; all permutations are equally likely.

    Args:
        heads: Heads of the tree.
        random_key: Seed of the permutation; the same key and number of words give the same one.
    """
    generator = Random(random_key)
    nodes = range(1, len(heads) + 1)
    ranks = [generator.random() for _ in nodes]  # the same in all versions of Python, unlike `shuffle`
    positions = dict(zip(sorted(nodes, key=lambda node: ranks[node - 1]), nodes, strict=True))
    permuted_heads = [0] * len(heads)
    for node, head in zip(nodes, heads, strict=True):
        permuted_heads[positions[node] - 1] = positions[head] if head else 0
    return permuted_heads


def _count_trees(trees: Iterator[DependencyTree], counts: SentenceCounts) -> Iterator[DependencyTree]:
    for tree in trees:
        counts.add_kept()
        if not tree.words:
            counts.add_noted("empty line")
        elif (reason := find_failure_reason(TreeKind.DEPENDENCY, tree)) is not None:
            count_fallback(counts, reason)
        yield tree
