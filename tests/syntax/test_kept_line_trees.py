"""Tests of the assignment of trees to kept_lines lines."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.kept_line_trees import TreeWithPath, match_trees_to_kept_lines
from pipeline_py.syntax.trees.dependency import DependencyTree, build_failed_dependency_tree


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def locate_trees(sentences: list[str]) -> Iterator[TreeWithPath[DependencyTree]]:
    return (
        TreeWithPath(build_failed_dependency_tree(sentence.split(), "x"), Path("t.conllu")) for sentence in sentences
    )


def match_trees(
    tmp_path: Path, raw: list[str], kept_lines: list[int], trees: list[str]
) -> list[tuple[int, int, str, str | None]]:
    pairs = match_trees_to_kept_lines(
        locate_trees(trees),
        write(tmp_path / "raw", raw),
        write(tmp_path / "lines", [str(number) for number in kept_lines]),
        write(tmp_path / "tokens", [" ".join(raw[number - 1].split()) for number in kept_lines]),
    )
    return [
        (line.raw_number, line.kept_number, " ".join(line.tokens), None if tree is None else " ".join(tree.tree.words))
        for line, tree in pairs
    ]


def test_trees_of_dropped_lines_are_dropped(tmp_path: Path) -> None:
    raw = ["a", "b c", "a", "d"]
    assert match_trees(tmp_path, raw, [1, 4], raw) == [(1, 1, "a", "a"), (4, 2, "d", "d")]


def test_line_without_words_may_have_an_empty_tree(tmp_path: Path) -> None:
    raw = ["", "a", " \u00a0\ufeff", "\u200b", "b", ""]
    expected = [(2, 1, "a", "a"), (5, 2, "b", "b")]
    assert match_trees(tmp_path, raw, [2, 5], ["a", "b"]) == expected
    assert match_trees(tmp_path, raw, [2, 5], ["", "a", "", "", "b", ""]) == expected
    assert match_trees(tmp_path, raw, [2, 5], ["a", "", "b"]) == expected
    (kept_lines,) = match_trees(tmp_path, ["a", ""], [2], ["a"])
    assert kept_lines == (2, 1, "", None)


def test_lines_before_the_first_line_have_no_tree(tmp_path: Path) -> None:
    pairs = match_trees_to_kept_lines(
        locate_trees(["c"]),
        write(tmp_path / "raw", ["a", "", "b", "c"]),
        write(tmp_path / "lines", ["3", "4"]),
        write(tmp_path / "tokens", ["b", "c"]),
        first_line=4,
    )
    assert [(line.tokens, tree and tree.tree.words) for line, tree in pairs] == [(("b",), None), (("c",), ("c",))]


def test_line_that_is_not_utf8_has_a_tree(tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(b"\xff\na\n")
    pairs = match_trees_to_kept_lines(
        locate_trees(["?", "a"]), tmp_path / "raw", write(tmp_path / "lines", ["2"]), write(tmp_path / "tokens", ["a"])
    )
    assert [tree.tree.words for _, tree in pairs if tree is not None] == [("a",)]


LINES = st.lists(st.tuples(st.sampled_from(["", " ", "a", "b", "a b"]), st.booleans(), st.booleans()), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES)
def test_any_selection_of_kept_lines_has_its_trees(tmp_path: Path, lines: list[tuple[str, bool, bool]]) -> None:
    raw = [line for line, _, _ in lines]
    kept_lines = [number for number, (_, keep, _) in enumerate(lines, start=1) if keep]
    trees = [line.strip() for line, _, always in lines if line.strip() or always]
    assignment = match_trees(tmp_path, raw, kept_lines, trees)
    assert [(place, number) for place, number, _, _ in assignment] == [
        (k, n) for n, k in enumerate(kept_lines, start=1)
    ]
    for _, _, tokens, words in assignment:
        assert (words or "") == tokens


@pytest.mark.parametrize(
    ("raw", "kept_lines", "trees", "message"),
    [
        (
            ["a", "", "b"],
            [1, 2, 3],
            ["a"],
            r"t\.conllu: the trees end here after 1, but .*raw has 3 lines and line 3 has",
        ),
        (["a", "b"], [1], ["a"], "the trees end here after 1, but .*raw has 2 lines and line 2 has no tree"),
        (["a", "", "b"], [1], ["a", "b", "c", "d"], r"t\.conllu: 4 trees, but .*raw has 3 lines \(1 of them empty\)"),
    ],
)
def test_wrong_numbers_of_trees_are_rejected(
    tmp_path: Path, raw: list[str], kept_lines: list[int], trees: list[str], message: str
):
    (tmp_path / "x").mkdir()
    pairs = match_trees_to_kept_lines(
        locate_trees(trees),
        write(tmp_path / "raw", raw),
        write(tmp_path / "lines", [str(number) for number in kept_lines]),
        write(tmp_path / "tokens", [raw[number - 1] for number in kept_lines]),
    )
    with pytest.raises(InputError, match=message):
        list(pairs)
