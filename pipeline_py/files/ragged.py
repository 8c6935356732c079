"""Ragged arrays on disk: one row of numbers per sentence, streamed out, and streamed or memory-mapped in.

The file is Arrow IPC (Feather version 2) with one list column named `values`, so `pandas.read_feather` opens it too.
It carries a checksum, which is compared before anything is read. Rows lie in blocks, of which whoever writes or reads
a file from beginning to end holds one or two in memory.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline_py.files import artifacts
from pipeline_py.files.artifacts import whole
from pipeline_py.run.errors import InputError

ROWS_PER_BLOCK = 8192
BYTES_PER_BLOCK = 2**26
"""A block ends before a row that would make it larger; distances of 8192 sentences of 90 words are as large."""

LONGEST_ROW = np.iinfo(np.int32).max
"""Values; Arrow's lists say in 32 bits where they end."""


def write_rows(path: Path, rows: Iterable[np.ndarray], dtype: str) -> None:
    """Write one-dimensional `rows` as `dtype` ("int32", "uint8", "float32"); memory holds one block at a time.

    Raises:
        InputError: a row is too long for the format.
    """
    column = pa.list_(pa.from_numpy_dtype(np.dtype(dtype)))
    schema = pa.schema([("values", column)], metadata={"checksum": artifacts.PLACE})
    with whole(path) as temporary:
        with pa.OSFile(str(temporary), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            for block in _blocks(rows, BYTES_PER_BLOCK // np.dtype(dtype).itemsize, path):
                offsets = np.cumsum([0, *(len(row) for row in block)], dtype=np.int32)
                values = np.concatenate(block).astype(dtype, casting="same_kind", copy=False)
                lists = pa.ListArray.from_arrays(_array(offsets), _array(values), type=column)
                writer.write_batch(pa.record_batch([lists], schema=schema))
        artifacts.seal(temporary)


def _array(numbers: np.ndarray) -> Any:
    """Give numbers to Arrow as they lie in memory; `pa.array` and `to_numpy` would import pandas where there is one."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, pa.py_buffer(numbers)])


def _blocks(rows: Iterable[np.ndarray], most_values: int, path: Path) -> Iterator[list[np.ndarray]]:
    block: list[np.ndarray] = []
    values = 0
    for number, row in enumerate(rows, start=1):
        if len(row) > LONGEST_ROW:
            raise InputError(
                f"the sentence needs {len(row)} values, and a row has at most {LONGEST_ROW}; split the line",
                path,
                number,
            )
        if block and (len(block) == ROWS_PER_BLOCK or values + len(row) > most_values):
            yield block
            block, values = [], 0
        block.append(row)
        values += len(row)
    if block:
        yield block


def read_rows(path: Path) -> Iterator[np.ndarray]:
    """Yield the rows of a file from beginning to end; unlike `Ragged`, the file does not pile up in memory.

    Raises:
        FileNotFoundError: naming the file.
        InputError: if it is no such file, or damaged.
    """
    _check(path)
    with pa.OSFile(str(path)) as file:
        for values, offsets in _opened(file, path):
            for start, end in pairwise(offsets.tolist()):
                yield values[start:end]


def _check(path: Path) -> None:
    if not artifacts.is_sealed(path):
        raise InputError(artifacts.DAMAGED, path)


def _opened(file: Any, path: Path) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the values of each block, and the places where its rows begin and end."""
    try:
        reader = pa.ipc.open_file(file)
    except pa.ArrowInvalid as error:
        raise InputError(f"not an Arrow file ({error}); make it again", path) from None
    for block in range(reader.num_record_batches):
        lists = reader.get_batch(block).column(0)
        yield np.from_dlpack(lists.values), np.from_dlpack(lists.offsets)


class Ragged:
    """Rows of a file written by `write_rows`, in any order; the file is not held in memory."""

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            FileNotFoundError: naming the file.
            InputError: if it is no such file, or damaged.
        """
        self.path = path
        _check(path)
        blocks = list(_opened(pa.memory_map(str(path)), path))
        self._values: list[np.ndarray] = [values for values, _ in blocks]
        self._offsets: list[np.ndarray] = [offsets for _, offsets in blocks]
        self.lengths: np.ndarray = (
            np.concatenate([np.diff(offsets) for offsets in self._offsets])
            if self._offsets
            else np.zeros(0, dtype=np.int32)
        )
        self._firsts: list[int] = []
        first = 0
        for offsets in self._offsets:
            self._firsts.append(first)
            first += len(offsets) - 1

    def __len__(self) -> int:
        return len(self.lengths)

    def blocks(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield the file piece by piece, for what is to be known of all rows.

        Yields:
            The number of the first row, the values of R rows one after the other, and the R + 1 places in the values
            where rows begin and end.
        """
        yield from zip(self._firsts, self._values, self._offsets, strict=True)

    def __getitem__(self, row: int) -> np.ndarray:
        if not 0 <= row < len(self):
            raise IndexError(f"{self.path}: row {row} of {len(self)}")
        block = bisect_right(self._firsts, row) - 1
        offsets = self._offsets[block]
        place = row - self._firsts[block]
        return self._values[block][offsets[place] : offsets[place + 1]]
