"""Tests of the replacement of failed trees; the expected files are joined from the text of single trees."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline_py.files.artifacts import write_json
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.replace_failed_trees import replace_failed_trees
from pipeline_py.syntax.trees.tree_formats import TreeKind, TreeMetadata

SENTENCES = ["a ( b", "", "c", "d e", "f g h", "c"]
LONG, ODD = "more than 2 words", "RuntimeError: odd"


def write_conllu(line: str, label: str, reason: str | None = None) -> str:
    rows = [f"# text = {line}\n"] + ([f"# parse = failed: {reason}\n"] if reason else [])
    rows += [f"{n}\t{word}\t_\tX\t_\t_\t{n - 1}\t{label}\t_\t_\n" for n, word in enumerate(line.split(), 1)]
    return "".join(rows) + "\n"


def write_brackets(line: str, label: str, reason: str | None = None) -> str:
    leaves = "".join(f" (X {word.replace('(', '-LRB-')})" for word in line.split())
    return f"({'FAILED' if reason else label}{leaves})\n" if leaves else "\n"


FORMATTERS = {TreeKind.DEPENDENCY: write_conllu, TreeKind.CONSTITUENCY: write_brackets}


def write_trees(
    path: Path, annotation: TreeKind, label: str, sentences: list[str], reasons: dict[int, str], **notes: int
) -> list[str]:
    """Write trees with their counts and facts, and return the text of each tree.

    Args:
        path: Path of the trees.
        annotation: Kind of trees.
        label: Label of all words or phrases.
        sentences: The words of the trees.
        reasons: Reasons of failed trees by their index.
        notes: Additional notes of the counts.
    """
    trees = [FORMATTERS[annotation](line, label, reasons.get(place)) for place, line in enumerate(sentences)]
    path.write_text("".join(trees), encoding="utf-8")
    failures = {f"parsed by fallback: {reason}": [*reasons.values()].count(reason) for reason in reasons.values()}
    size = len(sentences)
    write_json(Path(f"{path}.json"), {"in": size, "kept": size, "dropped": {}, "noted": {**failures, **notes}})
    TreeMetadata(size, 2.0, "cuda", {"stanza": "1"}, {"m.pt": label}).write(Path(f"{path}.facts"))
    return trees


def replace(folder: Path, annotation: TreeKind, has_failed_sentences_only: bool, **options: Any) -> str:
    """Replace the failed trees of the file `main` by those of the file `other`, and return the output."""
    paths = {
        f"{prefix}{kind}": folder / f"{name}{ending}"
        for prefix, name in (("", "main"), ("fallback_", "other"))
        for kind, ending in (("trees", ""), ("counts", ".json"), ("facts", ".facts"))
    }
    if not has_failed_sentences_only:
        del paths["fallback_counts"]
    output = folder / "out"
    outputs = {"output": output, "counts_output": folder / "out.json", "facts_output": folder / "out.facts"}
    replace_failed_trees(
        **{"annotation": annotation, "parser": "main", "fallback": "other", **paths, **outputs, **options}
    )
    return output.read_text(encoding="utf-8")


def read_notes(folder: Path) -> dict[str, int]:
    counts = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert counts["in"] == counts["kept"] == len(SENTENCES) and counts["dropped"] == {}
    return counts["noted"]


@pytest.mark.parametrize("annotation", list(TreeKind))
def test_trees_of_a_whole_text_replace_failed_ones(annotation: TreeKind, tmp_path: Path) -> None:
    reasons = {0: LONG, 2: ODD, 4: LONG}
    trees = write_trees(tmp_path / "main", annotation, "M", SENTENCES, reasons, **{"empty line": 1, "other words": 2})
    fallback = write_trees(tmp_path / "other", annotation, "O", SENTENCES, {3: ODD, 4: ODD}, **{"other words": 9})
    output = replace(tmp_path, annotation, has_failed_sentences_only=False)
    assert output == "".join([fallback[0], trees[1], fallback[2], *trees[3:]])
    assert read_notes(tmp_path) == {
        "empty line": 1,
        "other words": 2,
        "trees of main": 3,
        "trees of other": 2,
        "failed in main: more than 2 words": 2,
        "failed in main: RuntimeError: odd": 1,
        f"failed in other: {ODD if annotation is TreeKind.DEPENDENCY else 'marked as failed'}": 1,
    }
    models = {"m.pt": "M", "other/m.pt": "O"}
    assert TreeMetadata.read(tmp_path / "out.facts") == TreeMetadata(6, 2.0, "cuda", {"stanza": "1"}, models)


@pytest.mark.parametrize("annotation", list(TreeKind))
def test_trees_of_failed_sentences_replace_these(annotation: TreeKind, tmp_path: Path) -> None:
    trees = write_trees(tmp_path / "main", annotation, "M", SENTENCES, {0: LONG, 3: LONG, 5: ODD}, **{"empty line": 1})
    failed = [SENTENCES[place] for place in (0, 3, 5)]
    fallback = write_trees(tmp_path / "other", annotation, "O", failed, {1: ODD}, **{"other words": 2})
    output = replace(tmp_path, annotation, has_failed_sentences_only=True)
    assert output == "".join([fallback[0], *trees[1:5], fallback[2]])
    assert read_notes(tmp_path) == {
        "empty line": 1,
        "other words": 2,
        "trees of main": 3,
        "trees of other": 2,
        "failed in main: more than 2 words": 2,
        "failed in main: RuntimeError: odd": 1,
        "failed in other: RuntimeError: odd": 1,  # phrase trees have no reason, but their counts have
    }
    assert TreeMetadata.read(tmp_path / "out.facts").seconds == 4.0


@pytest.mark.parametrize("annotation", list(TreeKind))
def test_a_second_fallback_replaces_what_the_first_left(annotation: TreeKind, tmp_path: Path) -> None:
    trees = write_trees(tmp_path / "main", annotation, "M", SENTENCES, {0: LONG, 4: LONG})
    fallback = write_trees(tmp_path / "other", annotation, "O", [SENTENCES[0], SENTENCES[4]], {1: ODD})
    replace(tmp_path, annotation, has_failed_sentences_only=True)
    for ending in ("", ".json", ".facts"):
        (tmp_path / f"out{ending}").rename(tmp_path / f"main{ending}")
    last = write_trees(tmp_path / "other", annotation, "L", SENTENCES, {})
    output = replace(tmp_path, annotation, has_failed_sentences_only=False, fallback="last")
    assert output == "".join([fallback[0], *trees[1:4], last[4], trees[5]])
    assert read_notes(tmp_path) == {
        "trees of main": 4,
        "trees of other": 1,
        "trees of last": 1,
        "failed in main: more than 2 words": 2,
        "failed in other: RuntimeError: odd": 1,
    }
    models = {"m.pt": "M", "other/m.pt": "O", "last/m.pt": "L"}
    assert TreeMetadata.read(tmp_path / "out.facts").models == models


@pytest.mark.parametrize("annotation", list(TreeKind))
def test_nothing_is_replaced_without_failures(annotation: TreeKind, tmp_path: Path) -> None:
    trees = write_trees(tmp_path / "main", annotation, "M", SENTENCES, {})
    write_trees(tmp_path / "other", annotation, "O", [], {})
    assert replace(tmp_path, annotation, has_failed_sentences_only=True) == "".join(trees)
    assert read_notes(tmp_path) == {"trees of main": 6, "trees of other": 0}


@pytest.mark.parametrize(
    ("sentences", "has_failed_sentences_only", "message"),
    [
        (["c", "f g h"], True, "other: no tree of sentence 1 of .*main; parse the text again"),
        (["a ( b"], True, "other: no tree of sentence 5 of .*main; parse"),
        (["a ( b", "f g h", "c"], True, "other: more trees than .*main needs; parse"),
        (SENTENCES[:-1], False, "other: no tree of sentence 6 of"),
        ([*SENTENCES, "c"], False, "other: more trees than"),
        (["a ( b", "", "C", *SENTENCES[3:]], False, "other: no tree of sentence 3 of"),
    ],
)
@pytest.mark.parametrize("annotation", list(TreeKind))
def test_trees_of_other_sentences_are_rejected(
    annotation: TreeKind, sentences: list[str], has_failed_sentences_only: bool, message: str, tmp_path: Path
) -> None:
    write_trees(tmp_path / "main", annotation, "M", SENTENCES, {0: LONG, 4: LONG})
    write_trees(tmp_path / "other", annotation, "O", sentences, {})
    with pytest.raises(InputError, match=message):
        replace(tmp_path, annotation, has_failed_sentences_only)
    assert not (tmp_path / "out").exists()
