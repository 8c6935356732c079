"""Arrow files of numbers for each sentence of a set, with a checksum."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline_py.files import artifacts
from pipeline_py.files.artifacts import write_atomically
from pipeline_py.run.errors import InputError


def write_sentence_columns(
    path: Path, columns: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None
) -> None:
    """Write columns of shape (sentences,) or (sentences, numbers) as 64-bit floats, and metadata."""
    table = pa.table({name: _to_arrow_array(values) for name, values in columns.items()})
    table = table.replace_schema_metadata({"checksum": artifacts.CHECKSUM_PLACEHOLDER, **(metadata or {})})
    with write_atomically(path) as temporary:
        with pa.OSFile(str(temporary), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        artifacts.write_checksum(temporary)


def read_sentence_columns(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Read the columns and the metadata of a file.

    Raises:
        FileNotFoundError: the file does not exist.
        InputError: the checksum does not match.
    """
    if not artifacts.has_valid_checksum(path):
        raise InputError(artifacts.CHECKSUM_MISMATCH_ERROR, path)
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all().combine_chunks()
    metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    return {name: _to_numpy_array(table.column(name)) for name in table.column_names}, metadata


def _to_arrow_array(values: np.ndarray) -> Any:
    """Share the buffer with Arrow; `pa.array` would import pandas if it is installed."""
    flat = np.ascontiguousarray(values, dtype=np.float64)
    array = pa.Array.from_buffers(pa.float64(), flat.size, [None, pa.py_buffer(flat)])
    return array if flat.ndim == 1 else pa.FixedSizeListArray.from_arrays(array, flat.shape[1])


def _to_numpy_array(column: Any) -> np.ndarray:
    (chunk,) = column.chunks or [column.combine_chunks()]
    if not pa.types.is_fixed_size_list(chunk.type):
        return np.from_dlpack(chunk)
    return np.from_dlpack(chunk.flatten()).reshape(len(chunk), chunk.type.list_size)
