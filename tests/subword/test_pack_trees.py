"""Rows of tree nodes: read back by number they are the trees they were made of."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline_py.files.ragged_arrays import RaggedArrayFile
from pipeline_py.run.errors import InputError
from pipeline_py.subword.inherit import inherit
from pipeline_py.subword.pack_trees import pack_trees

LEAF = st.just(None)
SHAPES = st.recursive(LEAF, lambda shape: st.tuples(shape, shape), max_leaves=15)
"""Binary trees: None is a leaf, a pair an inner node."""


def run(folder: Path, lexical: bool = False) -> list[list[int]]:
    pack_trees(
        trees=None if lexical else folder / "trees",
        pieces=folder / "pieces",
        output=folder / "packed.arrow",
        counts_output=folder / "counts.json",
    )
    rows = RaggedArrayFile(folder / "packed.arrow")
    return [rows[row].tolist() for row in range(len(rows))]


def noted(folder: Path) -> dict:
    counts = json.loads((folder / "counts.json").read_text())
    assert counts["in"] == counts["kept"] and counts["dropped"] == {}
    return counts["noted"]


def write(folder: Path, trees: list[str], pieces: list[str]) -> None:
    (folder / "trees").write_text("".join(line + "\n" for line in trees), encoding="utf-8")
    (folder / "pieces").write_text("".join(line + "\n" for line in pieces), encoding="utf-8")


def brackets_of(shape) -> str:
    return "(NN w)" if shape is None else f"(X {brackets_of(shape[0])} {brackets_of(shape[1])})"


def leaves_of(shape) -> int:
    return 1 if shape is None else leaves_of(shape[0]) + leaves_of(shape[1])


def read_back(row: list[int], leaves: int):
    """Follow the numbers down from the root, checking that leaves stand in order and levels are heights."""
    root, *numbers = row
    nodes = {leaves + k: numbers[3 * k : 3 * k + 3] for k in range(len(numbers) // 3)}
    met = []

    def shape(number: int):
        if number < leaves:
            met.append(number)
            return None, 0
        left, right, level = nodes[number]
        (left_node, first), (right_node, second) = shape(left), shape(right)
        assert level == max(first, second) + 1
        return (left_node, right_node), level

    node_numbers, _ = shape(root)
    assert met == list(range(leaves))
    return node_numbers


def spans_in_order(row: list[int], leaves: int) -> list[tuple[int, int]]:
    """Level and leftmost leaf of each inner node, in the order of the row."""
    first = list(range(leaves))
    order = []
    for left, _, level in np.array(row[1:]).reshape(-1, 3).tolist():
        first.append(first[left])
        order.append((level, first[-1]))
    return order


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(SHAPES, min_size=1, max_size=5))
def test_a_row_is_its_tree(tmp_path: Path, shapes: list) -> None:
    write(tmp_path, [brackets_of(shape) for shape in shapes], [" ".join(["w"] * leaves_of(shape)) for shape in shapes])
    for row, shape in zip(run(tmp_path), shapes, strict=True):
        leaves = leaves_of(shape)
        assert len(row) == 1 + 3 * (leaves - 1)
        assert row[0] == 2 * leaves - 2
        assert read_back(row, leaves) == shape
        order = spans_in_order(row, leaves)
        assert order == sorted(order)


def test_a_worked_example(tmp_path: Path) -> None:
    """((the cat) (saw (a dog))): the cat = 5 and a dog = 6 on level 1, then saw a dog = 7, then all = 8."""
    tree = "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog))))"
    failed = "(FAILED (X no) (X parse) (X -LRB-))"
    one_failed = "(FAILED (X hm))"
    pieces = ["the cat saw a dog", "no parse (", "", "ja", "hm", "new\u00a0york \u2028"]
    write(tmp_path, [tree, failed, "", "(UH ja)", one_failed, "(NP (N new\u00a0york) (N \u2028))"], pieces)
    assert run(tmp_path) == [
        [8, 0, 1, 1, 3, 4, 1, 2, 6, 2, 5, 7, 3],
        [-1],
        [-1],
        [0],
        [-1],
        [2, 0, 1, 1],
    ]
    assert noted(tmp_path) == {"empty line": 1, "no tree, words only": 2, "one word": 1}


def test_pieces_grow_their_lexical_trees(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("(S (N unlike) (V runs))\n")
    write(tmp_path, [], ["un@@ li@@ ke runs"])
    inherit(kind="trees", input=tmp_path / "words", pieces=tmp_path / "pieces", output=tmp_path / "trees")
    assert run(tmp_path) == [[6, 0, 1, 1, 4, 2, 2, 5, 3, 3]]


@pytest.mark.parametrize("branch", [lambda chain: (None, chain), lambda chain: (chain, None)])
def test_deep_trees(tmp_path: Path, branch) -> None:
    depth = 20000  # further down than Python's own stack goes, with more nodes than 16 bits can number
    left = branch("chain")[0] == "chain"
    tree = "(X " * depth + "(N w)" + " (N w))" * depth if left else "(X (N w) " * depth + "(N w)" + ")" * depth
    write(tmp_path, [tree], [" ".join(["w"] * (depth + 1))])
    (row,) = run(tmp_path)
    assert row[0] == 2 * depth and row[-1] == depth
    assert row[1:4] == ([0, 1, 1] if left else [depth - 1, depth, 1])
    assert row[-3:-1] == ([2 * depth - 1, depth] if left else [0, 2 * depth - 1])


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.integers(1, 5), max_size=6), min_size=1, max_size=4))
def test_lexical_trees(tmp_path: Path, sentences: list[list[int]]) -> None:
    """Each word of p pieces has p − 1 nodes, each over the one below it and the next piece."""
    write(tmp_path, [], [" ".join("a@@ " * (pieces - 1) + "b" for pieces in words) for words in sentences])
    for row, words in zip(run(tmp_path, lexical=True), sentences, strict=True):
        leaves = sum(words)
        assert row[0] == -1
        expected = []
        for level in range(1, max(words, default=1)):
            for word, pieces in enumerate(words):
                if level < pieces:
                    first = sum(words[:word])
                    expected.append((level, first, (first, first + level)))
        order = spans_in_order(row, leaves)
        assert order == [(level, first) for level, first, _ in expected]
        numbers = {(level, first): leaves + k for k, (level, first, _) in enumerate(expected)}
        for k, (level, first, (left, right)) in enumerate(expected):
            below = left if level == 1 else numbers[level - 1, first]
            assert row[1 + 3 * k : 4 + 3 * k] == [below, right, level]
    split = sum(pieces > 1 for words in sentences for pieces in words)
    assert noted(tmp_path).get("words with a lexical tree", 0) == split


@pytest.mark.parametrize(
    ("trees", "pieces", "message"),
    [
        (["(A a)", ""], ["a"], "pieces: the file has 1 sentences and {folder}/trees has more"),
        (["(A a)"], ["a", ""], "trees: the file has 1 sentences and {folder}/pieces has more"),
        (["(S (A a)"], ["a"], "trees, line 1: a bracket of this tree is never closed"),
    ],
)
def test_invalid_input_is_refused(tmp_path: Path, trees: list[str], pieces: list[str], message: str) -> None:
    write(tmp_path, trees, pieces)
    with pytest.raises(InputError) as error:
        run(tmp_path)
    assert message.format(folder=tmp_path) in str(error.value)
    assert not (tmp_path / "packed.arrow").exists()
