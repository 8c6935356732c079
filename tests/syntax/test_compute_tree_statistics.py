"""Tests of tree statistics on examples and a treebank."""

import gzip
import json
from pathlib import Path

import conllu
import nltk
import pytest

from pipeline_py.syntax.compute_tree_statistics import compute_tree_statistics, read_tree_statistics
from pipeline_py.syntax.trees.constituency import read_phrase_treebank, to_bracket_string
from pipeline_py.syntax.trees.dependency import DependencyTree, build_failed_dependency_tree, write_dependency_trees
from pipeline_py.syntax.trees.tree_formats import TreeKind

TREEBANK = Path(__file__).parents[2] / "../shared/data/treebanks/en_gum"
needs_treebank = pytest.mark.skipif(not TREEBANK.exists(), reason="the treebank en_gum is not on this machine")


def tree(*heads: int) -> DependencyTree:
    odd = ["\u2028", "a\u00a0b", "ﷺ", "字", "-LRB-", "a", "b", "c"]
    return DependencyTree(tuple(odd[: len(heads)]), heads, ("x",) * len(heads), ("X",) * len(heads))


def arcs_cross(heads: list[int]) -> bool:
    """Return true if two arcs cross, including those from the artificial root before the first word."""
    arcs = [(min(head, word), max(head, word)) for word, head in enumerate(heads, start=1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


def count(annotation: TreeKind, trees: Path) -> dict[str, int | str]:
    compute_tree_statistics(annotation=annotation, trees=trees, output=trees.with_suffix(".json"))
    return json.loads(trees.with_suffix(".json").read_text(encoding="utf-8"))


def test_statistics_of_dependency_trees(tmp_path: Path) -> None:
    trees = [
        tree(2, 4, 4, 0, 2, 7, 5, 4),  # depth 4, lengths 1 2 1 3 1 2 4, not projective
        tree(),
        build_failed_dependency_tree(["b"] * 30, "too long"),
        tree(0),
        tree(0, 1, 0),  # depth 1, length 1
        build_failed_dependency_tree([], "nothing to parse"),
    ]
    with (tmp_path / "x.conllu").open("w", encoding="utf-8") as file:
        write_dependency_trees(file, trees)
    assert count(TreeKind.DEPENDENCY, tmp_path / "x.conllu") == {
        "annotation": "dependency",
        "sentences": 6,
        "empty": 2,
        "failed": 1,
        "trees": 3,
        "words": 12,
        "depth": 5,
        "dependencies": 8,
        "dependency_length": 15,
        "non_projective": 1,
        "several_roots": 1,
    }


def test_statistics_of_phrase_trees(tmp_path: Path) -> None:
    lines = [
        "(ROOT (S (NP-SBJ (NN 字)) (VP (VB a\u2028) (NP (NP (-NONE- *)) (NN -LRB-)))))",  # S, NP, VP, NP; depth 3
        "",
        "(FAILED (X a) (X b) (X c))",
        "(ROOT (UH a\u00a0b))",
        "(S (-NONE- *))",
    ]
    (tmp_path / "x.ptb").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    assert count(TreeKind.CONSTITUENCY, tmp_path / "x.ptb") == {
        "annotation": "constituency",
        "sentences": 5,
        "empty": 2,
        "failed": 1,
        "trees": 2,
        "words": 4,
        "depth": 3,
        "phrases": 4,
    }


@needs_treebank
def test_statistics_of_a_dependency_treebank(tmp_path: Path) -> None:
    trees = TREEBANK / "test.conllu.gz"
    compute_tree_statistics(annotation=TreeKind.DEPENDENCY, trees=trees, output=tmp_path / "s.json")
    statistics = json.loads((tmp_path / "s.json").read_text())
    with gzip.open(trees, "rt", encoding="utf-8") as file:
        sentences = [
            [word["head"] for word in sentence if isinstance(word["id"], int)] for sentence in conllu.parse_incr(file)
        ]
    assert statistics["trees"] == statistics["sentences"] == len(sentences)
    assert statistics["words"] == sum(map(len, sentences)) == statistics["dependencies"] + len(sentences)
    assert statistics["non_projective"] == sum(map(arcs_cross, sentences)) > 0
    assert statistics["several_roots"] == 0
    lengths = [abs(word - head) for heads in sentences for word, head in enumerate(heads, start=1) if head]
    assert statistics["dependency_length"] == sum(lengths)


@needs_treebank
def test_statistics_of_a_phrase_treebank(tmp_path: Path) -> None:
    lines = [to_bracket_string(tree.root) for tree in read_phrase_treebank(TREEBANK / "dev.ptb.gz")][:300]
    (tmp_path / "x.ptb").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    trees = [nltk.Tree.fromstring(line) for line in lines]
    trees = [tree[0] if tree.label() == "ROOT" and len(tree) == 1 else tree for tree in trees]
    statistics = count(TreeKind.CONSTITUENCY, tmp_path / "x.ptb")
    assert statistics["trees"] == len(trees)
    assert statistics["words"] == sum(len(tree.leaves()) for tree in trees)
    assert statistics["depth"] == sum(tree.height() - 2 for tree in trees)
    assert statistics["phrases"] == sum(len(list(tree.subtrees(lambda node: node.height() > 2))) for tree in trees)


def test_written_statistics_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "x.ptb").write_text("(S (X a) (X b))\n", encoding="utf-8")
    statistics = count(TreeKind.CONSTITUENCY, tmp_path / "x.ptb")
    assert {"annotation": "constituency", **read_tree_statistics(tmp_path / "x.json")} == statistics
