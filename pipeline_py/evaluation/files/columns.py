"""Numbers of every sentence of a set, by name, in one file: Arrow IPC (Feather version 2), which pandas reads too.

A column has one number for each sentence, or equally many. The file carries a checksum, which is compared before
anything is read.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline_py import checksum
from pipeline_py.artifact import whole
from pipeline_py.input_error import InputError


def write_columns(path: Path, columns: Mapping[str, np.ndarray], about: Mapping[str, str] | None = None) -> None:
    """Write columns of (sentences,) or (sentences, numbers) as 64-bit floats.

    Args:
        path: the file.
        columns: by name, in order; all of as many sentences.
        about: what else the file says of its columns, by name.
    """
    table = pa.table({name: _array(values) for name, values in columns.items()})
    table = table.replace_schema_metadata({"checksum": checksum.PLACE, **(about or {})})
    with whole(path) as temporary:
        with pa.OSFile(str(temporary), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        checksum.seal(temporary)


def read_columns(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Read the columns of a file, and what it says of them.

    Raises:
        FileNotFoundError: naming the file.
        InputError: if it is no such file, or damaged.
    """
    if not checksum.is_sealed(path):
        raise InputError(checksum.DAMAGED, path)
    try:
        table = pa.ipc.open_file(pa.memory_map(str(path))).read_all().combine_chunks()
    except pa.ArrowInvalid as error:
        raise InputError(f"not an Arrow file ({error}); make it again", path) from None
    about = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    return {name: _numbers(table.column(name)) for name in table.column_names}, about


def _array(values: np.ndarray) -> Any:
    """Give numbers to Arrow as they lie in memory; `pa.array` would import pandas where there is one."""
    flat = np.ascontiguousarray(values, dtype=np.float64)
    array = pa.Array.from_buffers(pa.float64(), flat.size, [None, pa.py_buffer(flat)])
    return array if flat.ndim == 1 else pa.FixedSizeListArray.from_arrays(array, flat.shape[1])


def _numbers(column: Any) -> np.ndarray:
    (chunk,) = column.chunks or [column.combine_chunks()]
    if not pa.types.is_fixed_size_list(chunk.type):
        return np.from_dlpack(chunk)
    return np.from_dlpack(chunk.flatten()).reshape(len(chunk), chunk.type.list_size)
