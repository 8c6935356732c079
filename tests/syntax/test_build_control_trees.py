"""Tests of the stage that builds control trees."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.binarize import Branching, binarize
from pipeline_py.syntax.build_control_trees import build_control_trees, build_dependency_tree, build_phrase_tree
from pipeline_py.syntax.compute_distances import compute_batch_distances
from pipeline_py.syntax.trees.constituency import PhraseNode, iterate_preorder, read_phrase_trees, to_bracket_string
from pipeline_py.syntax.trees.control_shapes import ControlShape, build_control_heads, count_control_phrase_ends
from pipeline_py.syntax.trees.dependency import find_head_error, read_dependency_trees
from pipeline_py.syntax.trees.tree_formats import TreeKind, TreeMetadata

WORDS = ("a", "b", "c", "d", "e")
PHRASES = {
    ControlShape.RIGHT_BRANCHING: [
        "(X a)",
        "(X (X a) (X b))",
        "(X (X a) (X (X b) (X c)))",
        "(X (X a) (X (X b) (X (X c) (X d))))",
        "(X (X a) (X (X b) (X (X c) (X (X d) (X e)))))",
    ],
    ControlShape.LEFT_BRANCHING: [
        "(X a)",
        "(X (X a) (X b))",
        "(X (X (X a) (X b)) (X c))",
        "(X (X (X (X a) (X b)) (X c)) (X d))",
        "(X (X (X (X (X a) (X b)) (X c)) (X d)) (X e))",
    ],
    ControlShape.BALANCED: [
        "(X a)",
        "(X (X a) (X b))",
        "(X (X (X a) (X b)) (X c))",
        "(X (X (X a) (X b)) (X (X c) (X d)))",
        "(X (X (X (X a) (X b)) (X c)) (X (X d) (X e)))",
    ],
}
PHRASES[ControlShape.CHAIN] = PHRASES[ControlShape.LEFT_BRANCHING]
LINES = [
    "The dog that saw the cat sleeps .",
    "",
    "a\u00a0b \u2028 x\u2028y \u0085 ( b ) :-) # \u200d 👩\u200d🚀 _ root",
    "(",
    "one",
    "   ",
    " two  words ",
    "The dog that saw the cat sleeps .",
    " ".join(f"w{number}" for number in range(2000)),
]


def build_trees(
    folder: Path, annotation: TreeKind, shape: ControlShape, lines: list[str] = LINES, seed: int = 1
) -> Path:
    """Run the stage on a text."""
    (folder / "t").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    build_control_trees(
        annotation=annotation,
        shape=shape,
        seed=seed,
        tokens=folder / "t",
        output=folder / "o",
        counts_output=folder / "l",
        facts_output=folder / "f",
    )
    return folder / "o"


@pytest.mark.parametrize("shape", PHRASES)
def test_phrase_trees_match_examples(shape: ControlShape, tmp_path: Path) -> None:
    path = build_trees(tmp_path, TreeKind.CONSTITUENCY, shape, [" ".join(WORDS[:n]) for n in range(1, 6)])
    assert path.read_text(encoding="utf-8").splitlines() == PHRASES[shape]


def test_dependency_trees_match_an_example(tmp_path: Path) -> None:
    path = build_trees(tmp_path, TreeKind.DEPENDENCY, ControlShape.BALANCED, ["a b c d", "", "("])
    assert path.read_text(encoding="utf-8") == (
        "# text = a b c d\n"
        "1\ta\t_\tX\t_\t_\t2\tdep\t_\t_\n"
        "2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n"
        "3\tc\t_\tX\t_\t_\t2\tdep\t_\t_\n"
        "4\td\t_\tX\t_\t_\t3\tdep\t_\t_\n"
        "\n"
        "# text = \n"
        "\n"
        "# text = (\n"
        "1\t(\t_\tX\t_\t_\t0\troot\t_\t_\n"
        "\n"
    )


@pytest.mark.parametrize("shape", list(ControlShape))
@pytest.mark.parametrize("annotation", list(TreeKind))
def test_every_line_has_a_tree_over_its_words(annotation: TreeKind, shape: ControlShape, tmp_path: Path) -> None:
    path = build_trees(tmp_path, annotation, shape)
    expected = [tuple(word for word in line.split(" ") if word) for line in LINES]
    if annotation is TreeKind.DEPENDENCY:
        trees = list(read_dependency_trees(path))
        assert [tree.words for tree in trees] == expected
        assert all(find_head_error(tree.heads) is None and tree.failure_reason is None for tree in trees)
        for tree in trees:
            assert len(tree.root_words) == min(len(tree.words), 1)
            assert all((label == "root") == (head == 0) for label, head in zip(tree.labels, tree.heads, strict=True))
            assert set(tree.labels) <= {"root", "dep"} and set(tree.upos) <= {"X"}
    else:
        phrase_trees = list(read_phrase_trees(path))
        assert [tree.words for tree in phrase_trees] == expected
        for tree, words in zip(phrase_trees, expected, strict=True):
            phrases = [node for node in iterate_preorder(tree.root) if isinstance(node, PhraseNode)]
            assert len(phrases) == max(len(words) - 1, 0)
            assert all(len(phrase.children) == 2 for phrase in phrases)
            assert {node.label for node in iterate_preorder(tree.root)} <= {"X"}
    assert json.loads((tmp_path / "l").read_text()) == {
        "in": 9,
        "kept": 9,
        "dropped": {},
        "noted": {"empty line": 2},
    }
    facts = TreeMetadata.read(tmp_path / "f")
    assert (facts.sentences, facts.versions, facts.models) == (9, {}, {})


@pytest.mark.parametrize("shape", list(ControlShape))
def test_phrase_trees_are_already_binary(shape: ControlShape, tmp_path: Path) -> None:
    path = build_trees(tmp_path, TreeKind.CONSTITUENCY, shape)
    for branching in Branching:
        binarize(
            trees=path,
            tokens=tmp_path / "t",
            branching=branching,
            output=tmp_path / "b",
            counts_output=tmp_path / "bl",
        )
        assert (tmp_path / "b").read_bytes() == path.read_bytes()


def test_distances_in_a_chain_are_linear() -> None:
    tree = build_dependency_tree(tuple("abcdefghij"), ControlShape.CHAIN, 1)
    places = np.arange(10)
    (matrix,) = compute_batch_distances([tree.heads], [10])
    assert np.array_equal(matrix[:10, :10], np.abs(places[:, None] - places[None, :]))


@pytest.mark.parametrize("annotation", list(TreeKind))
def test_random_trees_depend_on_words_and_seed_only(annotation: TreeKind, tmp_path: Path) -> None:
    lines = ["x y", *LINES[:1], "a b c d e f g h", "z"]
    read = read_dependency_trees if annotation is TreeKind.DEPENDENCY else read_phrase_trees
    trees = {tree.words: tree for tree in read(build_trees(tmp_path, annotation, ControlShape.RANDOM, lines))}
    again = {
        tree.words: tree for tree in read(build_trees(tmp_path, annotation, ControlShape.RANDOM, lines[::-1] + lines))
    }
    assert again == trees
    different = {
        tree.words: tree for tree in read(build_trees(tmp_path, annotation, ControlShape.RANDOM, lines, seed=2))
    }
    assert different[tuple(lines[2].split())] != trees[tuple(lines[2].split())]


def test_random_key_consists_of_seed_kind_and_words() -> None:
    tree = build_dependency_tree(WORDS, ControlShape.RANDOM, 7)
    assert list(tree.heads) == build_control_heads(ControlShape.RANDOM, 5, "7 dependency a b c d e")
    closing = re.findall(r"\)+", to_bracket_string(build_phrase_tree(WORDS, ControlShape.RANDOM, 7).root))
    assert [len(after) - 1 for after in closing] == count_control_phrase_ends(
        ControlShape.RANDOM, 5, "7 constituency a b c d e"
    )


def test_random_trees_of_different_words_differ() -> None:
    sentences = [tuple(f"{number}{word}" for word in "abcdefgh") for number in range(100)]
    assert len({build_dependency_tree(words, ControlShape.RANDOM, 1).heads for words in sentences}) == 100
    bracketings = [
        [type(node) for node in iterate_preorder(build_phrase_tree(words, ControlShape.RANDOM, 1).root)]
        for words in sentences
    ]
    assert len({tuple(nodes) for nodes in bracketings}) > 80  # of 429


@pytest.mark.parametrize("text", ["a b\nc\td\n", "a b\nc\rd\n"])
@pytest.mark.parametrize("annotation", list(TreeKind))
def test_invalid_characters_are_rejected(annotation: TreeKind, text: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(text.encode())
    with pytest.raises(InputError, match="t, line 2: a tab or a carriage return within the line"):
        build_control_trees(
            annotation=annotation,
            shape=ControlShape.CHAIN,
            tokens=tmp_path / "t",
            output=tmp_path / "o",
            counts_output=tmp_path / "l",
            facts_output=tmp_path / "f",
        )
    assert not (tmp_path / "o").exists()
