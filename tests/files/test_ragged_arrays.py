"""Ragged arrays: sequential and random access, blocks, and errors."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pipeline_py.files import ragged_arrays
from pipeline_py.files.ragged_arrays import MAX_ROWS_PER_BLOCK, RaggedArrayFile, read_ragged_rows, write_ragged_rows
from pipeline_py.run.errors import InputError


def build_random_rows(count: int, longest: int, dtype: str = "int16") -> list[np.ndarray]:
    random = np.random.default_rng(count)
    return [random.integers(0, 100, random.integers(0, longest + 1)).astype(dtype) for _ in range(count)]


def read_blocks(path: Path) -> list[list[list[int]]]:
    with pa.ipc.open_file(str(path)) as file:
        return [file.get_batch(number).column(0).to_pylist() for number in range(file.num_record_batches)]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "float32"])
@pytest.mark.parametrize("count", [0, 1, MAX_ROWS_PER_BLOCK, MAX_ROWS_PER_BLOCK + 1, 2 * MAX_ROWS_PER_BLOCK + 77])
def test_rows_are_read_back_in_order(tmp_path: Path, count: int, dtype: str) -> None:
    rows = build_random_rows(count, 6, dtype)
    write_ragged_rows(tmp_path / "rows", iter(rows), dtype)
    result = list(read_ragged_rows(tmp_path / "rows"))
    assert len(result) == count
    at_random = RaggedArrayFile(tmp_path / "rows")
    for number, (row, expected) in enumerate(zip(result, rows, strict=True)):
        assert row.dtype == dtype and row.tolist() == expected.tolist() == at_random[number].tolist()
    assert at_random.row_lengths.tolist() == [len(row) for row in rows]
    with pytest.raises(IndexError):
        at_random[count]


def test_a_row_outlives_its_block(tmp_path: Path) -> None:
    rows = build_random_rows(3 * MAX_ROWS_PER_BLOCK, 4)
    write_ragged_rows(tmp_path / "rows", rows, "int16")
    reader = read_ragged_rows(tmp_path / "rows")
    first, *_, last = reader
    assert first.tolist() == rows[0].tolist() and last.tolist() == rows[-1].tolist()


@pytest.mark.parametrize("longest", [1, 5, 9, 40])
def test_a_block_ends_before_it_grows_too_large(tmp_path: Path, monkeypatch, longest: int) -> None:
    monkeypatch.setattr(ragged_arrays, "MAX_BYTES_PER_BLOCK", 33)
    monkeypatch.setattr(ragged_arrays, "MAX_ROWS_PER_BLOCK", 7)
    rows = [row.tolist() for row in build_random_rows(200, longest)]
    write_ragged_rows(tmp_path / "rows", map(np.array, map(np.int16, rows)), "int16")
    blocks = read_blocks(tmp_path / "rows")
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        size = sum(map(len, block))
        assert len(block) == 1 or (size <= 16 and len(block) <= 7), "two bytes a value"
        assert following is None or len(block) == 7 or size + len(following[0]) > 16, "no block ends early"
    assert [row for block in blocks for row in block] == rows


def test_blocks_of_different_numbers_of_rows_are_read_alike(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(ragged_arrays, "MAX_BYTES_PER_BLOCK", 40)
    rows = build_random_rows(300, 9)
    write_ragged_rows(tmp_path / "rows", rows, "int16")
    assert len({len(block) for block in read_blocks(tmp_path / "rows")}) > 2
    at_random = RaggedArrayFile(tmp_path / "rows")
    assert at_random.row_lengths.tolist() == [len(row) for row in rows]
    for number in np.random.default_rng(1).permutation(300).tolist():
        assert at_random[number].tolist() == rows[number].tolist()
    with pytest.raises(IndexError):
        at_random[300]
    assert [row.tolist() for row in read_ragged_rows(tmp_path / "rows")] == [row.tolist() for row in rows]
    row_number = 0
    for first, values, offsets in at_random.iterate_blocks():
        assert first == row_number
        for start, end in pairwise(offsets):
            assert values[start:end].tolist() == rows[row_number].tolist()
            row_number += 1
    assert row_number == 300


def test_a_row_that_is_too_long_is_rejected(tmp_path: Path) -> None:
    too_long = np.broadcast_to(np.uint8(1), 2**31)  # takes one byte
    with pytest.raises(InputError, match=r"rows, line 3: the sentence needs 2147483648 values, .*; split the line"):
        write_ragged_rows(tmp_path / "rows", [np.zeros(2), np.zeros(0), too_long], "uint8")
    assert list(tmp_path.iterdir()) == []


def test_missing_and_invalid_files_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        next(read_ragged_rows(tmp_path / "gone"))
    assert str(caught.value.filename).endswith("gone")
    (tmp_path / "text").write_text("not arrow\n")
    with pytest.raises(InputError, match=r"text: damaged"):
        next(read_ragged_rows(tmp_path / "text"))


def test_pandas_is_not_imported(tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np\nfrom pathlib import Path\nfrom pipeline_py.files.ragged_arrays import *\n"
        "write_ragged_rows(Path('rows'), [np.arange(3), np.arange(0)], 'int32')\n"
        "rows = read_ragged_rows(Path('rows'))\n"
        "print([len(row) for row in rows], RaggedArrayFile(Path('rows'))[0], 'pandas' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert result.stdout == "[3, 0] [0 1 2] False\n", result.stderr


def test_pandas_reads_the_file(tmp_path: Path) -> None:
    import pandas

    write_ragged_rows(tmp_path / "rows.arrow", [np.array([1, 2]), np.array([], dtype=int), np.array([3])], "int32")
    assert [list(row) for row in pandas.read_feather(tmp_path / "rows.arrow")["values"]] == [[1, 2], [], [3]]
