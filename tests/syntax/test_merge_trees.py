"""Tests of merging the trees of shards."""

import json
from pathlib import Path

import pytest

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.merge_trees import merge_trees
from pipeline_py.syntax.trees.tree_formats import TreeKind, TreeMetadata

TEXT = ["a ( b", "", "c", "\u2028 d\u00a0e", "f", "a"]
BOUNDS = [(0, 2), (2, 5), (5, 6), (6, 6)]


def block(line: str) -> str:
    words = [word for word in line.split(" ") if word]
    rows = [f"{n}\t{word}\t_\tX\t_\t_\t{n - 1}\tdep\t_\t_\n" for n, word in enumerate(words, 1)]
    return f"# text = {line}\n{''.join(rows)}\n"


def brackets(line: str) -> str:
    words = [word.replace("(", "-LRB-") for word in line.split(" ") if word]
    return "(S" + "".join(f" (X {word})" for word in words) + ")\n" if words else "\n"


FORMATTERS = {TreeKind.DEPENDENCY: block, TreeKind.CONSTITUENCY: brackets}


def write_parts(folder: Path, annotation: TreeKind, bounds: list[tuple[int, int]]) -> None:
    (folder / "text").write_text("".join(f"{line}\n" for line in TEXT), encoding="utf-8")
    for number, (first, last) in enumerate(bounds):
        trees = "".join(map(FORMATTERS[annotation], TEXT[first:last]))
        (folder / f"{number}").write_text(trees, encoding="utf-8")
        counts = SentenceCounts()
        counts.add_kept(last - first)
        counts.add_noted("empty line", sum(not line for line in TEXT[first:last]))
        counts.write_json_file(folder / f"{number}.json")
        TreeMetadata(last - first, 0.5 * (last - first), "cpu", {"stanza": "1"}, {"m": "ab"}).write(
            folder / f"{number}.facts"
        )


def merge(folder: Path, annotation: TreeKind, order: list[int]) -> None:
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


@pytest.mark.parametrize("annotation", list(TreeKind))
def test_trees_counts_and_metadata_are_merged(annotation: TreeKind, tmp_path: Path) -> None:
    write_parts(tmp_path, annotation, BOUNDS)
    merge(tmp_path, annotation, [0, 1, 2, 3])
    assert (tmp_path / "all").read_text(encoding="utf-8") == "".join(map(FORMATTERS[annotation], TEXT))
    counts = json.loads((tmp_path / "all.json").read_text())
    assert counts == {"in": 6, "kept": 6, "dropped": {}, "noted": {"empty line": 1}}
    assert TreeMetadata.read(tmp_path / "all.facts") == TreeMetadata(6, 3.0, "cpu", {"stanza": "1"}, {"m": "ab"})


@pytest.mark.parametrize("annotation", list(TreeKind))
@pytest.mark.parametrize("order", [[1, 0, 2], [2, 1, 0], [0, 2, 1]])
def test_wrong_order_is_rejected(annotation: TreeKind, order: list[int], tmp_path: Path) -> None:
    write_parts(tmp_path, annotation, BOUNDS)
    with pytest.raises(InputError, match=rf"{order[0] or order[1]}: the first tree is not that of .*text, line \d"):
        merge(tmp_path, annotation, order)
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize(("order", "trees"), [([0, 1], 5), ([0, 1, 2, 2], 7)])
def test_wrong_number_of_trees_is_rejected(order: list[int], trees: int, tmp_path: Path) -> None:
    write_parts(tmp_path, TreeKind.CONSTITUENCY, BOUNDS)
    with pytest.raises(InputError, match=rf"{order[-1]}: with this last part there are {trees} trees, .* has 6 lines"):
        merge(tmp_path, TreeKind.CONSTITUENCY, order)
