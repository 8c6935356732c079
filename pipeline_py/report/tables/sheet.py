"""Sheets, the format-independent form of tables, and the input files of a table.

Cells hold plain text; each rendering escapes the markup of its format.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from pipeline_py.evaluation.verdict import format_difference
from pipeline_py.run.errors import InputError


@dataclass(frozen=True)
class InputFiles:
    """Files by kind and name; colons separate the parts of a name, such as `SYSTEM:RUN:SET`."""

    paths_by_kind: Mapping[str, Mapping[str, Path]]

    def get_files(self, kind: str) -> Mapping[tuple[str, ...], Path]:
        """Return all files of a kind by the parts of their names, in the order given."""
        return {tuple(filter(None, name.split(":"))): path for name, path in self.paths_by_kind.get(kind, {}).items()}

    def group_files(self, kind: str) -> dict[str, list[Path]]:
        """Return files of a kind by the first part of their names, such as the runs of a system."""
        paths: dict[str, list[Path]] = {}
        for (name, *_), path in self.get_files(kind).items():
            paths.setdefault(name, []).append(path)
        return paths

    def get_single_file(self, kind: str) -> Path:
        """Return the only file of a kind.

        Raises:
            InputError: if there is not exactly one.
        """
        paths = [*self.get_files(kind).values()]
        if len(paths) != 1:
            raise InputError(f"expected one file of the kind {kind!r}, got {len(paths)}")
        return paths[0]


MISSING_VALUE = "–"
"""Text of a cell without a value."""

ColumnOrigin = Literal["", "cost", "paper"]
"""Origin of a column: the table itself, training costs, or a paper."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: text for readers.
        value: text for programs; None if it is the same.
        spread: standard deviation over runs, for programs.
        marks: superscript symbols after the text.
        bold: whether the text is bold.
        shade: background on the page, from -1 (worse) to 1 (better).
        interval: start, centre and end of an interval bar on the page, in percent of the cell's width.
        zero: position of the zero line on the page, in percent of the cell's width; None for no line.
        faint: whether the interval bar is grey on the page.
    """

    text: str
    value: str | None = None
    spread: str = ""
    marks: str = ""
    bold: bool = False
    shade: float = 0.0
    interval: tuple[float, float, float] | None = None
    zero: float | None = None
    faint: bool = False

    @property
    def raw_text(self) -> str:
        """Text for programs."""
        return self.text if self.value is None else self.value

    @property
    def numeric_value(self) -> float | None:
        """Text for programs as a number; None if it is not a finite number."""
        try:
            number = float(self.raw_text.replace(",", "").replace("−", "-"))
        except ValueError:
            return None
        return number if isfinite(number) else None


@dataclass(frozen=True)
class Column:
    """A column: its name for programs, its head for readers, the origin of its cells, and their properties."""

    name: str
    head: str
    origin: ColumnOrigin = ""
    has_spread: bool = False
    has_marks: bool = False
    is_text: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table: each row has one cell for each column, and the first column names the row.

    `bold_means` explains bold cells. `departures` are notes on rows that differ from their papers.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = field(default=())
    bold_means: str = ""
    departures: Sequence[str] = field(default=())

    @property
    def column_heads(self) -> list[str]:
        """Heads of all columns."""
        return [column.head for column in self.columns]

    def collect_notes(self) -> list[str]:
        """Return all notes, with an explanation of bold if a cell is bold."""
        has_bold = any(cell.bold for row in self.rows for cell in row)
        return [*self.departures, *self.notes, *([f"Bold: {self.bold_means}."] if self.bold_means and has_bold else [])]

    def to_json(self) -> dict[str, Any]:
        """Convert the sheet to JSON values."""
        return asdict(self)


def build_sheet(
    title: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[Cell | str]],
    notes: Sequence[str] = (),
    text_heads: Collection[str] = (),
) -> Sheet:
    """Build a sheet for the page from cells or texts; `text_heads` are the heads of text columns after the first."""
    columns = [Column(head, head, is_text=head in text_heads) for head in heads]
    cells = [[Cell(cell or MISSING_VALUE) if isinstance(cell, str) else cell for cell in row] for row in rows]
    return Sheet(title, columns, cells, notes)


def format_signed(value: float) -> str:
    """Format a difference with its sign; the minus is as wide as the plus."""
    return format_difference(value, 2).replace("-", "−")


def read_sheet(path: Path) -> Sheet:
    """Read a sheet that was written as JSON."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return Sheet(
        content["title"],
        [Column(**column) for column in content["columns"]],
        [[Cell(**cell) for cell in row] for row in content["rows"]],
        content["notes"],
        content["bold_means"],
        content["departures"],
    )
