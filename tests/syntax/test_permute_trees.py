"""Tests of the stage that permutes trees: distances against networkx, randomness, and failed parses."""

import json
from collections import Counter
from pathlib import Path
from random import Random

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chisquare

from pipeline_py.syntax.compute_distances import compute_batch_distances
from pipeline_py.syntax.permute_trees import permute_heads, permute_tree, permute_trees
from pipeline_py.syntax.trees.control_shapes import ControlShape, build_control_heads
from pipeline_py.syntax.trees.dependency import (
    DependencyTree,
    build_failed_dependency_tree,
    find_head_error,
    read_dependency_trees,
    write_dependency_trees,
)
from pipeline_py.syntax.trees.tree_formats import TreeMetadata

METADATA = TreeMetadata(9, 5.0, "cuda", {"stanza": "1.10"}, {"depparse.pt": "abc"})
EMPTY_TREE = DependencyTree((), (), (), ())


def build_parse(words: tuple[str, ...], key: str) -> DependencyTree:
    """Build a tree with labels and tags that differ from those of control trees."""
    heads = build_control_heads(ControlShape.RANDOM, len(words), key)
    labels = tuple("root" if head == 0 else "nsubj" for head in heads)
    return DependencyTree(words, tuple(heads), labels, ("NOUN",) * len(words))


def build_parses() -> list[DependencyTree]:
    lengths = [1, 2, 3, 7, 7, 20, 60]
    return [
        build_parse(tuple(f"{place}-{word}" for word in range(length)), f"{place}")
        for place, length in enumerate(lengths)
    ]


def run_stage(folder: Path, trees: list[DependencyTree], seed: int = 1) -> list[DependencyTree]:
    """Run the stage on the trees of a text."""
    with (folder / "t.conllu").open("w", encoding="utf-8") as file:
        write_dependency_trees(file, trees)
    METADATA.write(folder / "t.facts")
    permute_trees(
        seed=seed,
        trees=folder / "t.conllu",
        facts=folder / "t.facts",
        output=folder / "o.conllu",
        counts_output=folder / "o.json",
        facts_output=folder / "o.facts",
    )
    return list(read_dependency_trees(folder / "o.conllu"))


def list_distances(tree: DependencyTree) -> list[int]:
    """List the distances of all pairs of words and EOS, a child of the root, by networkx; sorted."""
    edges = [(word, head) for word, head in enumerate(tree.heads, start=1) if head]
    edges += [("EOS", root) for root in tree.root_words]
    graph = nx.Graph(edges)
    return sorted(length for _, lengths in nx.all_pairs_shortest_path_length(graph) for length in lengths.values())


def test_permuted_trees_have_the_distances_of_the_parse(tmp_path: Path) -> None:
    parses = build_parses()
    permuted = run_stage(tmp_path, parses)
    for parse, tree in zip(parses, permuted, strict=True):
        assert list_distances(tree) == list_distances(parse)
        (matrix,) = compute_batch_distances([tree.heads], [len(tree.words)])
        assert sorted(matrix.ravel().tolist()) == list_distances(parse)
    assert [tree.heads for tree in permuted[3:]] != [tree.heads for tree in parses[3:]]


def test_permuted_trees_are_trees_over_the_same_words(tmp_path: Path) -> None:
    parses = build_parses()
    for parse, tree in zip(parses, run_stage(tmp_path, parses), strict=True):
        assert tree.words == parse.words and tree.failure_reason is None
        graph = nx.DiGraph((head, word) for word, head in enumerate(tree.heads, start=1))
        assert nx.is_arborescence(graph) and len(tree.root_words) == 1
        assert tree.labels == tuple("dep" if head else "root" for head in tree.heads)
        assert {*tree.upos} == {"X"}


def test_permutations_depend_on_words_and_seed_only(tmp_path: Path) -> None:
    parses = build_parses()
    permuted = run_stage(tmp_path, parses)
    assert run_stage(tmp_path, parses[::-1]) == permuted[::-1], "not on the position in the text"
    assert run_stage(tmp_path, parses, seed=2)[3:] != permuted[3:]


def test_sentences_with_the_same_tree_get_different_permutations() -> None:
    heads = tuple(build_control_heads(ControlShape.CHAIN, 8, ""))
    sentences = [tuple(f"{number}{word}" for word in "abcdefgh") for number in range(100)]
    trees = [permute_tree(DependencyTree(words, heads, ("_",) * 8, ("_",) * 8), 1) for words in sentences]
    assert len({tree.heads for tree in trees}) == 100  # of 40,320


def test_all_permutations_are_equally_likely() -> None:
    """A chain over n words has a different tree for each of the n! permutations."""
    counts = Counter(tuple(permute_heads([0, 1, 2, 3], f"key {number}")) for number in range(9000))
    assert len(counts) == 24 and chisquare(list(counts.values())).pvalue > 0.001


def test_distances_do_not_depend_on_the_words() -> None:
    """Over many seeds, each pair of words has the same mean distance, also the neighbours of a chain."""
    words = tuple("abcdef")
    chain = DependencyTree(words, (0, 1, 2, 3, 4, 5), ("_",) * 6, ("_",) * 6)
    trees = [permute_tree(chain, seed) for seed in range(4000)]
    matrices = compute_batch_distances([tree.heads for tree in trees], [6] * len(trees))
    means = np.mean([matrix[:6, :6] for matrix in matrices], axis=0)[np.triu_indices(6, 1)]
    assert means == pytest.approx(7 / 3, abs=0.12)  # (n + 1) / 3


def test_several_roots_stay_roots() -> None:
    generator = Random(1)
    heads = [0, 1, 0, 3, 3, 5, 0]
    for _ in range(50):
        permuted = permute_heads(heads, str(generator.random()))
        assert permuted.count(0) == 3 and find_head_error(permuted) is None
        assert sorted(Counter(filter(None, permuted)).values()) == [1, 1, 2]


def test_failed_parses_and_empty_lines_stay_as_they_are(tmp_path: Path) -> None:
    failed = build_failed_dependency_tree(("a", "b", "c"), "too long")
    trees = [EMPTY_TREE, failed, *build_parses()]
    permuted = run_stage(tmp_path, trees)
    assert permuted[:2] == [EMPTY_TREE, failed] and permuted[1].failure_reason == "too long"
    assert json.loads((tmp_path / "o.json").read_text()) == {
        "in": 9,
        "kept": 9,
        "dropped": {},
        "noted": {"empty line": 1, "parsed by fallback: too long": 1},
    }
    facts = TreeMetadata.read(tmp_path / "o.facts")
    assert (facts.sentences, facts.device) == (9, "cpu")
    assert (facts.versions, facts.models) == (METADATA.versions, METADATA.models), "of the permuted trees"
