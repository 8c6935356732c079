"""Tests of dependency units against the example of the paper and eq. 7."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.files.ragged_arrays import RaggedArrayFile
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.extract_units import extract_units, find_dependency_units, pad_unit
from pipeline_py.syntax.trees.dependency import DependencyTree, build_failed_dependency_tree, write_dependency_trees


def test_unit_matches_the_example_of_the_paper() -> None:
    """SDRNMT section 3: x_2 has the parent x_3, the siblings x_1, x_4 and x_7, and no child."""
    heads = [3, 3, 0, 3, 6, 4, 3]
    unit = find_dependency_units(heads)[1]
    assert unit == [3, 1, 4, 7, 0]
    assert pad_unit(unit) == [3, 1, 4, 7, 0, -1, -1, -1, -1, -1]


def test_empty_parts_are_epsilon() -> None:
    assert find_dependency_units([0]) == [[0, 0, 0]]
    assert find_dependency_units([0, 1]) == [[0, 0, 2], [1, 0, 0]]
    assert find_dependency_units([]) == []


def test_roots_are_siblings_of_each_other() -> None:
    assert find_dependency_units([0, 0, 2]) == [[0, 2, 0], [0, 1, 3], [2, 0, 0]]


@given(st.lists(st.integers(0, 100), max_size=30))
def test_units_match_their_definition(choices: list[int]) -> None:
    heads = [choice % (place + 1) for place, choice in enumerate(choices)]
    words = range(1, len(heads) + 1)
    for word, unit in zip(words, find_dependency_units(heads), strict=True):
        siblings = [w for w in words if w != word and heads[w - 1] == heads[word - 1]]
        children = [w for w in words if heads[w - 1] == word]
        assert unit == [heads[word - 1], *(siblings or [0]), *(children or [0])]
        assert len(pad_unit(unit)) == 10 and pad_unit(unit)[: len(unit)] == unit[:10]


def tree(*heads: int) -> DependencyTree:
    words = tuple(f"w{number}" for number in range(1, len(heads) + 1))
    return DependencyTree(words, heads, ("dep",) * len(heads), ("X",) * len(heads))


def write(folder: Path, trees: list[DependencyTree]) -> dict[str, Path]:
    with (folder / "trees.conllu").open("w", encoding="utf-8") as file:
        write_dependency_trees(file, trees)
    (folder / "tokens").write_text("".join(" ".join(t.words) + "\n" for t in trees), encoding="utf-8")
    names = {"trees": "trees.conllu", "tokens": "tokens", "output": "units.arrow", "counts_output": "units.json"}
    return {name: folder / file for name, file in names.items()}


def test_file_has_a_unit_for_every_word_and_eos(tmp_path: Path) -> None:
    wide = tree(0, *[1] * 12)
    files = write(
        tmp_path,
        [tree(2, 0), DependencyTree((), (), (), ()), build_failed_dependency_tree(("a", "b"), "no reason"), wide],
    )
    extract_units(**files)
    rows = RaggedArrayFile(files["output"])
    empty_unit = [0, 0, 0, -1, -1, -1, -1, -1, -1, -1]
    assert rows[0].reshape(-1, 10).tolist() == [pad_unit([2, 0, 0]), pad_unit([0, 0, 1]), empty_unit]
    assert rows[1].reshape(-1, 10).tolist() == [empty_unit]
    assert rows[2].reshape(-1, 10).tolist() == [empty_unit] * 3
    assert rows[3].reshape(-1, 10)[0].tolist() == [0, 0, 2, 3, 4, 5, 6, 7, 8, 9]
    assert rows[3].dtype == np.int16 and len(rows[3]) == 140
    counts = json.loads(files["counts_output"].read_text())
    assert counts["in"] == counts["kept"] == 4
    assert counts["noted"] == {
        "empty line": 1,
        "failed parse, empty units": 1,
        "units": 17,
        "units cut at 10 words": 13,
    }


def test_too_long_sentence_is_rejected(tmp_path: Path) -> None:
    files = write(tmp_path, [tree(0), build_failed_dependency_tree(["w"] * 32767, "too long")])
    extract_units(**files)
    assert len(RaggedArrayFile(files["output"])[1]) == 327680
    files = write(tmp_path, [tree(0), build_failed_dependency_tree(["w"] * 32768, "too long")])
    with pytest.raises(InputError, match=r"trees.conllu, line 4: the sentence has 32768 words and .* up to 32767"):
        extract_units(**files)
