"""Ragged arrays on disk: one row of numbers per sentence.

The files are Arrow IPC (Feather version 2) with one list column named `values`; `pandas.read_feather` reads them too.
Their checksum is verified before reading. Sequential readers and writers hold one or two blocks of rows in memory.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline_py.files import artifacts
from pipeline_py.files.artifacts import write_atomically
from pipeline_py.run.errors import InputError

MAX_ROWS_PER_BLOCK = 8192
MAX_BYTES_PER_BLOCK = 2**26
"""Maximum size of a block: the size of the distances of 8192 sentences of 90 words."""

MAX_ROW_VALUES = np.iinfo(np.int32).max
"""Maximum length of a row; Arrow's list offsets have 32 bits."""


def write_ragged_rows(path: Path, rows: Iterable[np.ndarray], dtype: str) -> None:
    """Write one-dimensional `rows` as `dtype` ("int32", "uint8", "float32"); memory holds one block at a time.

    Raises:
        InputError: a row is too long for the format.
    """
    column = pa.list_(pa.from_numpy_dtype(np.dtype(dtype)))
    schema = pa.schema([("values", column)], metadata={"checksum": artifacts.CHECKSUM_PLACEHOLDER})
    with write_atomically(path) as temporary:
        with pa.OSFile(str(temporary), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            for block in _group_into_blocks(rows, MAX_BYTES_PER_BLOCK // np.dtype(dtype).itemsize, path):
                offsets = np.cumsum([0, *(len(row) for row in block)], dtype=np.int32)
                values = np.concatenate(block).astype(dtype, casting="same_kind", copy=False)
                lists = pa.ListArray.from_arrays(_build_arrow_array(offsets), _build_arrow_array(values), type=column)
                writer.write_batch(pa.record_batch([lists], schema=schema))
        artifacts.write_checksum(temporary)


def _build_arrow_array(numbers: np.ndarray) -> Any:
    """Wrap numbers in an Arrow array without copying; `pa.array` and `to_numpy` would import an installed pandas."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, pa.py_buffer(numbers)])


def _group_into_blocks(rows: Iterable[np.ndarray], max_values: int, path: Path) -> Iterator[list[np.ndarray]]:
    block: list[np.ndarray] = []
    values = 0
    for number, row in enumerate(rows, start=1):
        if len(row) > MAX_ROW_VALUES:
            raise InputError(
                f"the sentence needs {len(row)} values, and a row has at most {MAX_ROW_VALUES}; split the line",
                path,
                number,
            )
        if block and (len(block) == MAX_ROWS_PER_BLOCK or values + len(row) > max_values):
            yield block
            block, values = [], 0
        block.append(row)
        values += len(row)
    if block:
        yield block


def read_ragged_rows(path: Path) -> Iterator[np.ndarray]:
    """Yield the rows of a file in order; unlike with `RaggedArrayFile`, memory use stays constant.

    Raises:
        FileNotFoundError: the file does not exist.
        InputError: the file has another format or is damaged.
    """
    _check_checksum(path)
    with pa.OSFile(str(path)) as file:
        for values, offsets in _read_blocks(file, path):
            for start, end in pairwise(offsets.tolist()):
                yield values[start:end]


def _check_checksum(path: Path) -> None:
    if not artifacts.has_valid_checksum(path):
        raise InputError(artifacts.CHECKSUM_MISMATCH_ERROR, path)


def _read_blocks(arrow_file: Any, path: Path) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the values of each block and the offsets of its rows."""
    try:
        reader = pa.ipc.open_file(arrow_file)
    except pa.ArrowInvalid as error:
        raise InputError(f"not an Arrow file ({error}); make it again", path) from None
    for block in range(reader.num_record_batches):
        lists = reader.get_batch(block).column(0)
        yield np.from_dlpack(lists.values), np.from_dlpack(lists.offsets)


class RaggedArrayFile:
    """A memory-mapped file of `write_ragged_rows` with random access to its rows."""

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            FileNotFoundError: the file does not exist.
            InputError: the file has another format or is damaged.
        """
        self.path = path
        _check_checksum(path)
        blocks = list(_read_blocks(pa.memory_map(str(path)), path))
        self._values_by_block: list[np.ndarray] = [values for values, _ in blocks]
        self._offsets_by_block: list[np.ndarray] = [offsets for _, offsets in blocks]
        self.row_lengths: np.ndarray = (
            np.concatenate([np.diff(offsets) for offsets in self._offsets_by_block])
            if self._offsets_by_block
            else np.zeros(0, dtype=np.int32)
        )
        self._first_row_by_block: list[int] = []
        first = 0
        for offsets in self._offsets_by_block:
            self._first_row_by_block.append(first)
            first += len(offsets) - 1

    def __len__(self) -> int:
        return len(self.row_lengths)

    def iterate_blocks(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield each block of R rows.

        Yields:
            The number of the first row, the concatenated values of the rows, and their R + 1 offsets.
        """
        yield from zip(self._first_row_by_block, self._values_by_block, self._offsets_by_block, strict=True)

    def __getitem__(self, row: int) -> np.ndarray:
        if not 0 <= row < len(self):
            raise IndexError(f"{self.path}: row {row} of {len(self)}")
        block = bisect_right(self._first_row_by_block, row) - 1
        offsets = self._offsets_by_block[block]
        place = row - self._first_row_by_block[block]
        return self._values_by_block[block][offsets[place] : offsets[place + 1]]
