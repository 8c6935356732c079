"""Tables that were written as Markdown, read back as they were before they were drawn."""

import re
from collections.abc import Iterator
from pathlib import Path

from pipeline_py.report.sheet import Cell, Sheet
from pipeline_py.stage import InputError
from pipeline_py.text import read_lines

_ESCAPED = re.compile(r"\\([\\`*_\[\]<>|&~$])")
_BETWEEN_BARS = re.compile(r"\| ((?:\\.|[^\\|])*) (?=\|)")
_TITLE = re.compile(r"\*\*(.*)\*\*")
_CELL = re.compile(r"(?P<bold>\*\*)?(?P<text>(?:\\.|[^\\*<])*)(?(bold)\*\*)(?:<sup>(?P<marks>(?:\\.|[^\\<])*)</sup>)?")


def read_markdown(path: Path) -> Sheet:
    """Read a table as `sheet.markdown` writes it; what bold means is one of its notes.

    Raises:
        InputError: if the file is no such table.
    """
    lines = list(read_lines(path))
    title = _TITLE.fullmatch(lines[0]) if lines else None
    if title is None or len(lines) < 4 or not lines[3].startswith("|---"):
        raise InputError("no table that `pipeline_py.report` wrote; make the file anew", path, 1)
    columns = [_plain(cell) for cell in _BETWEEN_BARS.findall(lines[2])]
    rows = []
    for number, line in enumerate(_lines_of_table(lines), start=5):
        cells = [_CELL.fullmatch(cell) for cell in _BETWEEN_BARS.findall(line)]
        if len(cells) != len(columns) or None in cells:
            raise InputError("no row of a table that `pipeline_py.report` wrote; make the file anew", path, number)
        rows.append(
            [
                Cell(_plain(cell["text"]), marks=_plain(cell["marks"] or ""), bold=cell["bold"] is not None)
                for cell in cells
                if cell is not None
            ]
        )
    notes = [_plain(line) for line in lines[4 + len(rows) :] if line]
    return Sheet(_plain(title[1]), columns, rows, notes)


def _lines_of_table(lines: list[str]) -> Iterator[str]:
    for line in lines[4:]:
        if not line.startswith("|"):
            return
        yield line


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)
