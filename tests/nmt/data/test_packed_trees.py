"""Rows of trees that are refused, wherever in the file they stand."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipeline_py.files import ragged_arrays
from pipeline_py.files.ragged_arrays import RaggedArrayFile, write_ragged_rows
from pipeline_py.nmt.data.dataset import ParallelDataset, SourceDataset
from pipeline_py.nmt.data.packed_files import check_trees
from pipeline_py.run.errors import InputError

PARSES = [[0], [4, 0, 1, 1, 3, 2, 2], [-1], [6, 0, 1, 1, 2, 3, 1, 4, 5, 2], [-1], [-1]]
LEXICAL = [[-1], [-1, 1, 2, 1], [-1], [-1, 0, 1, 1, 2, 3, 1], [-1], [-1]]
PIECES = [1, 3, 3, 4, 0, 1]
Opened = Callable[..., tuple[RaggedArrayFile, RaggedArrayFile]]


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    def make(rows: list[list[int]], pieces: list[int]) -> tuple[RaggedArrayFile, RaggedArrayFile]:
        write_ragged_rows(tmp_path / "trees", [np.array(row, dtype=np.int32) for row in rows], "int32")
        write_ragged_rows(
            tmp_path / "source", [np.array([*[1] * count, 0], dtype=np.int32) for count in pieces], "int32"
        )
        return RaggedArrayFile(tmp_path / "trees"), RaggedArrayFile(tmp_path / "source")

    return make


def test_valid_trees_are_accepted(opened: Opened) -> None:
    check_trees(*opened(PARSES, PIECES), is_forest=False)
    check_trees(*opened(LEXICAL, PIECES), is_forest=True)
    check_trees(*opened([[-1]] * 3, PIECES[:3]), is_forest=False)
    check_trees(*opened([], []), is_forest=False)


SIZE = "values of trees, which do not fit its"
KIND = "trees of words and of sentences are mixed up"


@pytest.mark.parametrize(
    ("row", "pieces", "message"),
    [
        ([], 1, SIZE),
        ([0, 1], 1, SIZE),
        ([2, 0, 1, 1], 1, SIZE),
        ([2, 0, 1, 1], 3, SIZE),
        ([2, 0, 1, 1], 0, SIZE),
        ([6, 0, 1, 1, 2, 3, 1, 4, 5, 2], 3, SIZE),
        ([-1, 0, 1, 1], 2, KIND),
    ],
)
def test_invalid_trees_raise_error(opened: Opened, row: list[int], pieces: int, message: str) -> None:
    """The bad row stands among good ones that also have phrases."""
    trees, source = opened([*PARSES, row, *PARSES], [*PIECES, pieces, *PIECES])
    with pytest.raises(InputError, match=rf"trees, line {len(PARSES) + 1}: .*{message}"):
        check_trees(trees, source, is_forest=False)


@pytest.mark.parametrize(
    ("row", "pieces", "message"),
    [
        ([-1, 0, 1, 1, 2, 3, 1, 4, 5, 2], 3, SIZE),
        ([2, 0, 1, 1], 2, KIND),
        ([0], 1, KIND),
    ],
)
def test_invalid_lexical_trees_raise_error(opened: Opened, row: list[int], pieces: int, message: str) -> None:
    trees, source = opened([*LEXICAL, row, *LEXICAL], [*PIECES, pieces, *PIECES])
    with pytest.raises(InputError, match=rf"trees, line {len(LEXICAL) + 1}: .*{message}"):
        check_trees(trees, source, is_forest=True)


@pytest.mark.parametrize("wrong", range(12))
def test_error_line_counts_all_blocks(opened: Opened, monkeypatch, wrong: int) -> None:
    monkeypatch.setattr(ragged_arrays, "MAX_ROWS_PER_BLOCK", 5)
    rows = [*LEXICAL, *LEXICAL]
    rows[wrong] = [5, *rows[wrong][1:]]
    with pytest.raises(InputError, match=f"trees, line {wrong + 1}: {KIND}"):
        check_trees(*opened(rows, [*PIECES, *PIECES]), is_forest=True)


def test_datasets_check_trees(opened: Opened) -> None:
    trees, source = opened(PARSES, PIECES)
    vocabularies = {"source": 2, "target": 2}
    data = ParallelDataset(source.path, source.path, {"trees": trees.path}, vocabularies)
    assert data.build_batch(np.array([3, 1])).get_tree_schedule("trees").step_sizes == (3, 2)
    sources = SourceDataset(source.path, {"trees": trees.path}, vocabularies)
    assert sources.build_batch(np.array([1, 0])).get_tree_schedule("trees").root_rows.tolist() == [4 * 2 + 1, 1]
    for open_ in (
        lambda: ParallelDataset(source.path, source.path, {"lexical_trees": trees.path}, vocabularies),
        lambda: SourceDataset(source.path, {"lexical_trees": trees.path}, vocabularies),
    ):
        with pytest.raises(InputError, match=f"trees, line 1: {KIND}"):
            open_()
