"""Ragged arrays on disk: one row of numbers per sentence, streamed out and memory-mapped in.

The file is Arrow IPC (Feather version 2) with one list column named `values`, so `pandas.read_feather` opens it too.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from pipeline_py.artifact import whole
from pipeline_py.stage import InputError

ROWS_PER_BLOCK = 8192


def write_rows(path: Path, rows: Iterable[np.ndarray], dtype: str) -> None:
    """Write one-dimensional `rows` as `dtype` ("int32", "uint8", "float32"); memory holds one block at a time."""
    column = pa.list_(pa.from_numpy_dtype(np.dtype(dtype)))
    schema = pa.schema([("values", column)])
    with (
        whole(path) as temporary,
        pa.OSFile(str(temporary), "wb") as sink,
        pa.ipc.new_file(sink, schema) as writer,
    ):
        for block in _blocks(rows):
            offsets = np.cumsum([0, *(len(row) for row in block)], dtype=np.int32)
            values = np.concatenate(block).astype(dtype, casting="same_kind", copy=False)
            lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(values), type=column)
            writer.write_batch(pa.record_batch([lists], schema=schema))


def _blocks(rows: Iterable[np.ndarray]) -> Iterator[list[np.ndarray]]:
    block: list[np.ndarray] = []
    for row in rows:
        block.append(row)
        if len(block) == ROWS_PER_BLOCK:
            yield block
            block = []
    if block:
        yield block


class Ragged:
    """Rows of a file written by `write_rows`; reading a row touches only its pages of the file."""

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            FileNotFoundError: naming the file.
            InputError: if it is no such file.
        """
        self.path = path
        path.stat()  # pyarrow's own error does not carry the file's name
        try:
            reader = pa.ipc.open_file(pa.memory_map(str(path)))
        except pa.ArrowInvalid as error:
            raise InputError(f"not an Arrow file ({error}); make it anew", path) from None
        self._values: list[np.ndarray] = []
        self._offsets: list[np.ndarray] = []
        for block in range(reader.num_record_batches):
            lists = reader.get_batch(block).column(0)
            self._values.append(lists.values.to_numpy(zero_copy_only=True))
            self._offsets.append(lists.offsets.to_numpy(zero_copy_only=True))
        self.lengths: np.ndarray = (
            np.concatenate([np.diff(offsets) for offsets in self._offsets])
            if self._offsets
            else np.zeros(0, dtype=np.int32)
        )

    def __len__(self) -> int:
        return len(self.lengths)

    def blocks(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield the file piece by piece, for what is to be known of all rows.

        Yields:
            The number of the first row, the values of R rows one after the other, and the R + 1 places in the values
            where rows begin and end.
        """
        for number, (values, offsets) in enumerate(zip(self._values, self._offsets, strict=True)):
            yield number * ROWS_PER_BLOCK, values, offsets

    def __getitem__(self, row: int) -> np.ndarray:
        if not 0 <= row < len(self):
            raise IndexError(f"{self.path}: row {row} of {len(self)}")
        block, place = divmod(row, ROWS_PER_BLOCK)
        offsets = self._offsets[block]
        return self._values[block][offsets[place] : offsets[place + 1]]
