"""Tables with tab-separated columns and without quotes, because sentences may contain quotation marks."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pipeline_py.files.artifacts import open_atomic_text_file

_SEPARATOR = re.compile("[\t\r\n]")


def write_tsv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a header and rows; None becomes an empty cell, and a tab or line end in a cell a space."""
    with open_atomic_text_file(path) as file:
        for row in (columns, *rows):
            cells = ("" if value is None else _SEPARATOR.sub(" ", str(value)) for value in row)
            file.write("\t".join(cells) + "\n")
