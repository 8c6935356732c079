"""Tests of syntactic distances against the example of the paper and networkx."""

import json
from collections.abc import Sequence
from pathlib import Path

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.files.ragged_arrays import RaggedArrayFile
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.compute_distances import compute_batch_distances, compute_distances
from pipeline_py.syntax.trees.dependency import DependencyTree, build_failed_dependency_tree, write_dependency_trees
from tests.syntax.random_heads import draw_forest_heads


def compute_by_graph_search(heads: list[int]) -> np.ndarray:
    """Compute shortest paths in the undirected tree with EOS."""
    size, roots = len(heads), [word for word, head in enumerate(heads, 1) if head == 0]
    graph = networkx.Graph()
    graph.add_nodes_from(range(1, size + 2))
    graph.add_edges_from((word, head) for word, head in enumerate(heads, 1) if head)
    if len(roots) == 1:
        graph.add_edge(size + 1, roots[0])
    elif roots:
        graph.add_edges_from(("artificial root", node) for node in [*roots, size + 1])
    paths = dict(networkx.all_pairs_shortest_path_length(graph))
    return np.array([[min(paths[i][j], 255) for j in range(1, size + 2)] for i in range(1, size + 2)])


def compute_matrix(heads: Sequence[int] | None, size: int) -> np.ndarray:
    return compute_batch_distances([heads], [size])[0]


def test_distances_match_the_example_of_the_paper() -> None:
    words = ["zhexie", "weixian", "fenzi", "yanzhong", "yingxiang", "zhengchang", "de", "yimin", "zhengce"]
    arcs = {
        "zhexie": "fenzi", "weixian": "fenzi", "fenzi": "yingxiang", "zhengce": "yingxiang",
        "yanzhong": "yingxiang", "zhengchang": "zhengce", "de": "zhengce", "yimin": "zhengce",
    }  # fmt: skip
    heads = [words.index(arcs[word]) + 1 if word in arcs else 0 for word in words]
    row = compute_matrix(heads, len(heads))[words.index("fenzi")]
    assert dict(zip(words, row[:-1].tolist(), strict=True)) == {
        "zhexie": 1, "weixian": 1, "fenzi": 0, "yanzhong": 2, "yingxiang": 1, "zhengce": 2,
        "zhengchang": 3, "de": 3, "yimin": 3,
    }  # fmt: skip
    assert row[-1] == 2, "EOS is a child of yingxiang"


@given(st.lists(draw_forest_heads(max_words=30), min_size=1, max_size=8))
def test_distances_are_shortest_paths(sentences: list[list[int]]) -> None:
    matrices = compute_batch_distances(sentences, [len(heads) for heads in sentences])
    for heads, matrix in zip(sentences, matrices, strict=True):
        assert matrix.dtype == np.uint8
        np.testing.assert_array_equal(matrix, compute_by_graph_search(heads))


def test_several_roots_and_eos_are_children_of_an_artificial_root() -> None:
    assert compute_matrix([0, 1, 0], 3).tolist() == [[0, 1, 2, 2], [1, 0, 3, 3], [2, 3, 0, 2], [2, 3, 2, 0]]


def test_sentences_of_at_most_one_word() -> None:
    assert compute_matrix([0], 1).tolist() == [[0, 1], [1, 0]]
    assert compute_matrix([], 0).tolist() == [[0]]


def test_chain_of_300_words_saturates() -> None:
    matrix = compute_matrix(range(300), 300)
    np.testing.assert_array_equal(matrix[0, :300], np.minimum(np.arange(300), 255))
    assert matrix[299, 300] == 255


def test_failed_parse_has_linear_distances() -> None:
    positions = np.arange(301)
    matrix = compute_matrix(None, 300)
    np.testing.assert_array_equal(matrix, np.minimum(np.abs(positions[:, None] - positions), 255))


def write(path: Path, trees: list[DependencyTree]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        write_dependency_trees(file, trees)
    return path


def test_stage_writes_matrices_and_counts(tmp_path: Path) -> None:
    trees = [
        DependencyTree(("b", "a"), (2, 0), ("dep", "root"), ("X", "X")),
        DependencyTree((), (), (), ()),
        build_failed_dependency_tree(["c", "b", "a"], "no model"),
    ]
    conllu = write(tmp_path / "x.conllu", trees)
    tokens = tmp_path / "x.source"
    tokens.write_text("b a\n\nc b a\n", encoding="utf-8")
    compute_distances(trees=conllu, tokens=tokens, output=tmp_path / "x.arrow", counts_output=tmp_path / "x.json")
    rows = RaggedArrayFile(tmp_path / "x.arrow")
    assert [rows[k].tolist() for k in range(3)] == [
        [0, 1, 2, 1, 0, 1, 2, 1, 0],
        [0],
        [0, 1, 2, 3, 1, 0, 1, 2, 2, 1, 0, 1, 3, 2, 1, 0],
    ]
    assert json.loads((tmp_path / "x.json").read_text()) == {
        "in": 3,
        "kept": 3,
        "dropped": {},
        "noted": {"empty line": 1, "failed parse, linear distances": 1},
    }


@pytest.mark.parametrize("elements", [1, 30, 200])
def test_windows_do_not_change_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elements: int) -> None:
    sizes = [0, 3, 9, 2, 2, 14, 1, 0, 5]
    trees = [
        build_failed_dependency_tree([f"w{word}" for word in range(size)], "too long")
        if size == 9
        else DependencyTree(
            tuple(f"w{word}" for word in range(size)), tuple(range(size)), ("dep",) * size, ("X",) * size
        )
        for size in sizes
    ]
    conllu = write(tmp_path / "x.conllu", trees)
    (tmp_path / "x.source").write_text("".join(" ".join(tree.words) + "\n" for tree in trees), encoding="utf-8")
    paths = {"trees": conllu, "tokens": tmp_path / "x.source", "counts_output": tmp_path / "x.json"}
    compute_distances(**paths, output=tmp_path / "at_once.arrow")
    window_lengths: list[list[int]] = []
    monkeypatch.setattr("pipeline_py.syntax.compute_distances.MAX_WINDOW_ELEMENTS", elements)
    monkeypatch.setattr(
        "pipeline_py.syntax.compute_distances.compute_batch_distances",
        lambda heads, lengths: window_lengths.append(list(lengths)) or compute_batch_distances(heads, lengths),
    )
    compute_distances(**paths, output=tmp_path / "in_parts.arrow")
    assert (tmp_path / "in_parts.arrow").read_bytes() == (tmp_path / "at_once.arrow").read_bytes()
    assert [length for window in window_lengths for length in window] == sizes
    assert all(len(window) == 1 or sum((length + 1) ** 2 for length in window) <= elements for window in window_lengths)


def test_different_words_are_rejected(tmp_path: Path) -> None:
    conllu = write(tmp_path / "x.conllu", [DependencyTree(("a", "b"), (0, 1), ("root", "dep"), ("X", "X"))])
    (tmp_path / "x.source").write_text("a c\n", encoding="utf-8")
    message = r"x\.conllu, line 1: word 2 of the tree is 'b' and of the text 'c' .*x\.source, line 1"
    with pytest.raises(InputError, match=message):
        compute_distances(
            trees=conllu, tokens=tmp_path / "x.source", output=tmp_path / "o", counts_output=tmp_path / "l"
        )
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("text", "error"), [("a\nb\n", "1 trees, but .* has more lines"), ("", "more trees than .* has")]
)
def test_different_numbers_of_sentences_are_rejected(text: str, error: str, tmp_path: Path) -> None:
    conllu = write(tmp_path / "x.conllu", [DependencyTree(("a",), (0,), ("root",), ("X",))])
    (tmp_path / "x.source").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=error):
        compute_distances(
            trees=conllu, tokens=tmp_path / "x.source", output=tmp_path / "o", counts_output=tmp_path / "l"
        )
