"""Numbers of every sentence of a set in one Arrow file, and tables of a stage as TSV.

A column has one number for each sentence, or equally many. The file carries a checksum, which is compared before
anything is read.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline_py.files import artifacts
from pipeline_py.files.artifacts import open_atomic_text_file, write_atomically
from pipeline_py.run.errors import InputError


def write_tsv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]], should_quote: bool = True) -> None:
    """Write rows under their header; None is an empty field.

    Args:
        path: the file.
        columns: the header.
        rows: as many cells each.
        should_quote: whether a cell with a quote or a tab is quoted; else none may have a tab.
    """
    plain: dict[str, Any] = {} if should_quote else {"quoting": csv.QUOTE_NONE, "quotechar": None}
    with open_atomic_text_file(path) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n", **plain)
        table.writerow(columns)
        table.writerows(rows)


def write_sentence_columns(
    path: Path, columns: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None
) -> None:
    """Write columns of (sentences,) or (sentences, numbers) as 64-bit floats.

    Args:
        path: the file.
        columns: by name, in order; all of as many sentences.
        metadata: what else the file says of its columns, by name.
    """
    table = pa.table({name: _to_arrow_array(values) for name, values in columns.items()})
    table = table.replace_schema_metadata({"checksum": artifacts.CHECKSUM_PLACEHOLDER, **(metadata or {})})
    with write_atomically(path) as temporary:
        with pa.OSFile(str(temporary), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        artifacts.write_checksum(temporary)


def read_sentence_columns(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Read the columns of a file, and what it says of them.

    Raises:
        FileNotFoundError: naming the file.
        InputError: if it is damaged.
    """
    if not artifacts.has_valid_checksum(path):
        raise InputError(artifacts.CHECKSUM_MISMATCH_ERROR, path)
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all().combine_chunks()
    about = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    return {name: _to_numpy_array(table.column(name)) for name in table.column_names}, about


def _to_arrow_array(values: np.ndarray) -> Any:
    """Give numbers to Arrow as they lie in memory; `pa.array` would import pandas where there is one."""
    flat = np.ascontiguousarray(values, dtype=np.float64)
    array = pa.Array.from_buffers(pa.float64(), flat.size, [None, pa.py_buffer(flat)])
    return array if flat.ndim == 1 else pa.FixedSizeListArray.from_arrays(array, flat.shape[1])


def _to_numpy_array(column: Any) -> np.ndarray:
    (chunk,) = column.chunks or [column.combine_chunks()]
    if not pa.types.is_fixed_size_list(chunk.type):
        return np.from_dlpack(chunk)
    return np.from_dlpack(chunk.flatten()).reshape(len(chunk), chunk.type.list_size)
