"""Slices joined are the whole, and nothing is lost on the way."""

import json
from pathlib import Path

import pytest

from pipeline_py.files.artifacts import Counts
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.merge_trees import merge_trees
from pipeline_py.syntax.trees.formats import Annotation, TreeFacts

TEXT = ["a ( b", "", "c", "\u2028 d\u00a0e", "f", "a"]
BOUNDS = [(0, 2), (2, 5), (5, 6), (6, 6)]


def block(line: str) -> str:
    words = [word for word in line.split(" ") if word]
    rows = [f"{n}\t{word}\t_\tX\t_\t_\t{n - 1}\tdep\t_\t_\n" for n, word in enumerate(words, 1)]
    return f"# text = {line}\n{''.join(rows)}\n"


def brackets(line: str) -> str:
    words = [word.replace("(", "-LRB-") for word in line.split(" ") if word]
    return "(S" + "".join(f" (X {word})" for word in words) + ")\n" if words else "\n"


WRITTEN = {Annotation.DEPENDENCY: block, Annotation.CONSTITUENCY: brackets}


def write_parts(folder: Path, annotation: Annotation, bounds: list[tuple[int, int]]) -> None:
    (folder / "text").write_text("".join(f"{line}\n" for line in TEXT), encoding="utf-8")
    for number, (first, last) in enumerate(bounds):
        trees = "".join(map(WRITTEN[annotation], TEXT[first:last]))
        (folder / f"{number}").write_text(trees, encoding="utf-8")
        counts = Counts()
        counts.keep(last - first)
        counts.note("empty line", sum(not line for line in TEXT[first:last]))
        counts.write(folder / f"{number}.json")
        TreeFacts(last - first, 0.5 * (last - first), "cpu", {"stanza": "1"}, {"m": "ab"}).write(
            folder / f"{number}.facts"
        )


def merge(folder: Path, annotation: Annotation, order: list[int]) -> None:
    merge_trees(
        annotation=annotation,
        parts=[folder / f"{number}" for number in order],
        counts=[folder / f"{number}.json" for number in order],
        facts=[folder / f"{number}.facts" for number in order],
        tokens=folder / "text",
        output=folder / "all",
        counts_output=folder / "all.json",
        facts_output=folder / "all.facts",
    )


@pytest.mark.parametrize("annotation", list(Annotation))
def test_all_trees_counts_and_facts(annotation: Annotation, tmp_path: Path) -> None:
    write_parts(tmp_path, annotation, BOUNDS)
    merge(tmp_path, annotation, [0, 1, 2, 3])
    assert (tmp_path / "all").read_text(encoding="utf-8") == "".join(map(WRITTEN[annotation], TEXT))
    counts = json.loads((tmp_path / "all.json").read_text())
    assert counts == {"in": 6, "kept": 6, "dropped": {}, "noted": {"empty line": 1}}
    assert TreeFacts.read(tmp_path / "all.facts") == TreeFacts(6, 3.0, "cpu", {"stanza": "1"}, {"m": "ab"})


@pytest.mark.parametrize("annotation", list(Annotation))
@pytest.mark.parametrize("order", [[1, 0, 2], [2, 1, 0], [0, 2, 1]])
def test_parts_in_another_order(annotation: Annotation, order: list[int], tmp_path: Path) -> None:
    write_parts(tmp_path, annotation, BOUNDS)
    with pytest.raises(InputError, match=rf"{order[0] or order[1]}: the first tree is not that of .*text, line \d"):
        merge(tmp_path, annotation, order)
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize("annotation", list(Annotation))
@pytest.mark.parametrize("lost", ["a tree", "the end of a tree", "the last byte"])
def test_part_that_lost_something(annotation: Annotation, lost: str, tmp_path: Path) -> None:
    write_parts(tmp_path, annotation, BOUNDS)
    trees = "".join(map(WRITTEN[annotation], TEXT[2 : 4 if lost == "a tree" else 5]))
    cut = {"a tree": 0, "the end of a tree": 4, "the last byte": 1}[lost]
    (tmp_path / "1").write_text(trees[: len(trees) - cut], encoding="utf-8")
    with pytest.raises(InputError, match="1: the file has 2 trees, its counts say 3, its facts 3; parse this slice"):
        merge(tmp_path, annotation, [0, 1, 2])
    assert not (tmp_path / "all").exists()
    assert not (tmp_path / "all.json").exists()


def test_facts_of_other_trees(tmp_path: Path) -> None:
    write_parts(tmp_path, Annotation.DEPENDENCY, BOUNDS)
    TreeFacts(7, 1.0).write(tmp_path / "2.facts")
    with pytest.raises(InputError, match="2: the file has 1 trees, its counts say 1, its facts 7"):
        merge(tmp_path, Annotation.DEPENDENCY, [0, 1, 2])


@pytest.mark.parametrize(("order", "trees"), [([0, 1], 5), ([0, 1, 2, 2], 7)])
def test_parts_of_another_text(order: list[int], trees: int, tmp_path: Path) -> None:
    write_parts(tmp_path, Annotation.CONSTITUENCY, BOUNDS)
    with pytest.raises(InputError, match=rf"{order[-1]}: with this last part there are {trees} trees, .* has 6 lines"):
        merge(tmp_path, Annotation.CONSTITUENCY, order)


def test_counts_that_is_none(tmp_path: Path) -> None:
    write_parts(tmp_path, Annotation.CONSTITUENCY, BOUNDS)
    (tmp_path / "1.json").write_text("[]")
    with pytest.raises(InputError, match=r"1\.json: no counts"):
        merge(tmp_path, Annotation.CONSTITUENCY, [0, 1, 2])


def test_part_without_counts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="each part needs its counts"):
        merge_trees(
            annotation=Annotation.DEPENDENCY,
            parts=[tmp_path / "a", tmp_path / "b"],
            counts=[tmp_path / "a.json"],
            facts=[tmp_path / "a.facts", tmp_path / "b.facts"],
            tokens=tmp_path / "t",
            output=tmp_path / "o",
            counts_output=tmp_path / "l",
            facts_output=tmp_path / "f",
        )
