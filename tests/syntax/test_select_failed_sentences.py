"""Tests of the selection of failed sentences."""

from pathlib import Path

import pytest

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.select_failed_sentences import select_failed_sentences
from pipeline_py.syntax.trees.tree_formats import TREE_FILE_FORMATS, TreeKind

TEXT = ["I don't", "", "( b )", "failed"]
TOKENS = ["I do n't", "", "( b )", "failed"]
FAILED = [True, False, True, False]


def select(folder: Path, annotation: TreeKind, failed: list[bool], tokens: list[str]) -> tuple[str, str]:
    """Select sentences of `TEXT`, and return their tokens and their text."""
    tree_format = TREE_FILE_FORMATS[annotation]
    words = [line.split() for line in TOKENS]
    parsed = {TreeKind.DEPENDENCY: "1\tfailed\t_\tX\t_\t_\t0\troot\t_\t_\n\n", TreeKind.CONSTITUENCY: "(X failed)\n"}
    with (folder / "trees").open("w", encoding="utf-8") as file:
        for number in range(3):
            tree = tree_format.build_failed_tree(words[number], "why") if failed[number] else tree_format.empty_tree
            tree_format.write_trees(file, [tree])
        file.write(parsed[annotation])
    for name, lines in (("tokens", tokens), ("text", TEXT)):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    select_failed_sentences(
        annotation=annotation,
        trees=folder / "trees",
        tokens=folder / "tokens",
        text=folder / "text",
        tokens_output=folder / "failed.tokens",
        text_output=folder / "failed.text",
    )
    return (folder / "failed.tokens").read_text(encoding="utf-8"), (folder / "failed.text").read_text(encoding="utf-8")


@pytest.mark.parametrize("annotation", list(TreeKind))
def test_failed_sentences_are_selected_in_order(annotation: TreeKind, tmp_path: Path) -> None:
    assert select(tmp_path, annotation, FAILED, TOKENS) == ("I do n't\n( b )\n", "I don't\n( b )\n")


@pytest.mark.parametrize("annotation", list(TreeKind))
def test_trees_of_another_text_are_rejected(annotation: TreeKind, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1; parse the text again"):
        select(tmp_path, annotation, FAILED, ["I do not", *TOKENS[1:]])
    assert not (tmp_path / "failed.tokens").exists() and not (tmp_path / "failed.text").exists()


def test_a_text_without_failures_gives_empty_files(tmp_path: Path) -> None:
    (tmp_path / "trees").write_text("(X a)\n\n")
    (tmp_path / "lines").write_text("a\n\n")
    select_failed_sentences(
        annotation=TreeKind.CONSTITUENCY,
        trees=tmp_path / "trees",
        tokens=tmp_path / "lines",
        text=tmp_path / "lines",
        tokens_output=tmp_path / "a",
        text_output=tmp_path / "b",
    )
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == b""
