"""Pieces inherit the syntax of their word: against plain loops, and against nltk's trees."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nltk import Tree

from pipeline_py.files.ragged_arrays import RaggedArrayFile, write_ragged_rows
from pipeline_py.run.errors import InputError
from pipeline_py.subword.inherit import inherit, inherit_distances, inherit_labels

PIECES_OF_WORDS = st.lists(st.integers(1, 4), max_size=7)
"""Numbers of pieces of the words of a sentence."""


def text_of(counts: list[int]) -> str:
    words = [[f"w{word}p{piece}" for piece in range(count)] for word, count in enumerate(counts)]
    return " ".join("@@ ".join(parts) for parts in words)


def words_of(counts: list[int]) -> list[int]:
    return [word for word, count in enumerate(counts) for _ in range(count)]


def random_matrix(words: int, seed: int) -> np.ndarray:
    """Any matrix will do that tells its cells apart, with a zero diagonal."""
    matrix = np.random.default_rng(seed).integers(1, 256, (words + 1, words + 1), dtype=np.uint8)
    np.fill_diagonal(matrix, 0)
    return matrix


@given(PIECES_OF_WORDS, st.integers(0, 99))
def test_distances_against_loops(counts: list[int], seed: int) -> None:
    matrix = random_matrix(len(counts), seed)
    owners = words_of(counts)
    distances = inherit_distances(matrix, owners)
    extended = [*owners, len(counts)]
    assert distances.shape == (len(extended), len(extended))
    assert distances.dtype == np.uint8
    for i, first_piece in enumerate(extended):
        for j, second_piece in enumerate(extended):
            assert distances[i, j] == (0 if first_piece == second_piece else matrix[first_piece, second_piece])


def test_distances_of_a_worked_example() -> None:
    """The cats sleep: The → cats → sleep, EOS beside sleep under the artificial root; cats is cat@@ s."""
    matrix = np.array([[0, 1, 2, 4], [1, 0, 1, 3], [2, 1, 0, 2], [4, 3, 2, 0]], dtype=np.uint8)
    assert inherit_distances(matrix, [0, 1, 1, 2]).tolist() == [
        [0, 1, 1, 2, 4],
        [1, 0, 0, 1, 3],
        [1, 0, 0, 1, 3],
        [2, 1, 1, 0, 2],
        [4, 3, 3, 2, 0],
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES_OF_WORDS, min_size=1, max_size=4))
def test_files_of_distances_and_labels(tmp_path: Path, sentences: list[list[int]]) -> None:
    (tmp_path / "pieces").write_text("".join(text_of(counts) + "\n" for counts in sentences))
    matrices = [random_matrix(len(counts), seed) for seed, counts in enumerate(sentences)]
    write_ragged_rows(tmp_path / "distances", [matrix.ravel() for matrix in matrices], "uint8")
    inherit(kind="distances", input=tmp_path / "distances", pieces=tmp_path / "pieces", output=tmp_path / "out")
    rows = RaggedArrayFile(tmp_path / "out")
    assert len(rows) == len(sentences)
    for row, (matrix, counts) in enumerate(zip(matrices, sentences, strict=True)):
        assert rows[row].dtype == np.uint8
        assert rows[row].tolist() == inherit_distances(matrix, words_of(counts)).ravel().tolist()

    labels = [[f"label{word}" for word in range(len(counts))] for counts in sentences]
    (tmp_path / "labels").write_text("".join(" ".join(line) + "\n" for line in labels))
    inherit(kind="labels", input=tmp_path / "labels", pieces=tmp_path / "pieces", output=tmp_path / "out")
    expected = [" ".join(inherit_labels(*pair)) for pair in zip(labels, map(words_of, sentences), strict=True)]
    assert (tmp_path / "out").read_text().split("\n")[:-1] == expected


def trees(tmp_path: Path, lines: list[str], pieces: list[str]) -> list[str]:
    (tmp_path / "trees").write_text("".join(line + "\n" for line in lines))
    (tmp_path / "pieces").write_text("".join(line + "\n" for line in pieces))
    inherit(kind="trees", input=tmp_path / "trees", pieces=tmp_path / "pieces", output=tmp_path / "out")
    return (tmp_path / "out").read_text().split("\n")[:-1]


def test_a_lexical_tree_branches_to_the_left(tmp_path: Path) -> None:
    lines = ["(S (NP (DT the) (NN unbelievable)) (VB (:-))))", "(UH yes)", "", "(NN word)"]
    lines[0] = "(S (NP (DT the) (NN unbelievable)) (VB :--RRB-))"
    pieces = ["the un@@ believ@@ able :-@@ )", "yes", "", "wo@@ rd"]
    assert trees(tmp_path, lines, pieces) == [
        "(S (NP (DT the) (NN (NN (NN un@@) (NN believ@@)) (NN able))) (VB (VB :-@@) (VB -RRB-)))",
        "(UH yes)",
        "",
        "(NN (NN wo@@) (NN rd))",
    ]


def test_a_failed_parse_stays_flat_and_marked(tmp_path: Path) -> None:
    assert trees(tmp_path, ["(FAILED (X one) (X two))"], ["o@@ ne two"]) == ["(FAILED (X o@@) (X ne) (X two))"]


@st.composite
def binary_trees(draw: st.DrawFn, leaves: list[str]) -> str:
    if len(leaves) == 1:
        return f"(T {leaves[0]})"
    cut = draw(st.integers(1, len(leaves) - 1))
    return f"(X {draw(binary_trees(leaves[:cut]))} {draw(binary_trees(leaves[cut:]))})"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(1, 4), min_size=1, max_size=7), st.data())
def test_trees_against_nltk(tmp_path: Path, counts: list[int], data: st.DataObject) -> None:
    """The tree is binary over the pieces, and cutting lexical trees down again gives the tree of the words."""
    before = data.draw(binary_trees([f"w{word}" for word in range(len(counts))]))
    pieces = text_of(counts).split()
    after = Tree.fromstring(trees(tmp_path, [before], [text_of(counts)])[0])
    assert after.leaves() == pieces
    inner = list(after.subtrees(lambda node: node.height() > 2))
    assert len(inner) == len(pieces) - 1
    assert all(len(node) == 2 for node in inner)

    def words(node: Tree) -> Tree:
        if node.label() == "T":
            joined = "".join(piece.removesuffix("@@") for piece in node.leaves())
            assert all(len(right) == 1 for right in lexical_right_children(node))
            return Tree("T", [joined.split("p")[0]])
        return Tree(node.label(), [words(child) for child in node])

    assert words(after) == Tree.fromstring(before)


def lexical_right_children(node: Tree) -> list[list[str]]:
    """The leaves under each right child: one each if the tree branches to the left."""
    return [child.leaves() for subtree in node.subtrees(lambda n: n.height() > 2) for child in subtree[1:]]


def test_deep_trees_do_not_overflow(tmp_path: Path) -> None:
    depth = 5000
    tree = "(X (T w) " * (depth - 1) + "(T w)" + ")" * (depth - 1)
    (line,) = trees(tmp_path, [tree], [" ".join(["w"] * (depth - 1)) + " a@@ b"])
    assert line == tree.replace("(T w))", "(T (T a@@) (T b)))", 1)


@pytest.mark.parametrize("kind", ["distances", "labels", "trees"])
@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ("a b\na\n", r"syntax, line 2: 2 words, but the pieces of .*pieces make 1;"),
        ("a b\n\n", r"syntax, line 2: 2 words, but the pieces of .*pieces make 0;"),
        ("a b\n", r"pieces: the file has 1 sentences and .*syntax has more;"),
        ("a b\na b\n\n", r"syntax: the file has 2 sentences and .*pieces has more;"),
    ],
)
def test_files_that_do_not_belong_together(tmp_path: Path, kind: str, pieces: str, words: str) -> None:
    (tmp_path / "pieces").write_text(pieces)
    if kind == "distances":
        write_ragged_rows(tmp_path / "syntax", [np.zeros(9, np.uint8)] * 2, "uint8")
    else:
        (tmp_path / "syntax").write_text({"labels": "x y\n", "trees": "(S (A a) (B b))\n"}[kind] * 2)
    with pytest.raises(InputError, match=words):
        inherit(kind=kind, input=tmp_path / "syntax", pieces=tmp_path / "pieces", output=tmp_path / "out")  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_a_file_that_holds_no_distances(tmp_path: Path) -> None:
    (tmp_path / "pieces").write_text("a\n")
    (tmp_path / "syntax").write_text("not arrow\n")
    with pytest.raises(InputError, match="syntax: damaged"):
        inherit(kind="distances", input=tmp_path / "syntax", pieces=tmp_path / "pieces", output=tmp_path / "out")
    with pytest.raises(FileNotFoundError, match="absent"):
        inherit(kind="distances", input=tmp_path / "absent", pieces=tmp_path / "pieces", output=tmp_path / "out")


def test_a_malformed_tree_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="trees, line 1: a bracket of this tree is never closed"):
        trees(tmp_path, ["(X (A ab) (B c)"], ["a@@ b c"])
