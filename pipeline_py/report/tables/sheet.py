"""Sheets: tables before they are drawn, and the input files of a table.

Cells hold plain text; each rendering escapes what its format would take for markup (`renderings`).
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
    """Files by kind and name; the parts of a name are joined by colons: `SYSTEM:RUN:SET`."""

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
            InputError: there is another number of them.
        """
        paths = [*self.get_files(kind).values()]
        if len(paths) != 1:
            raise InputError(f"{len(paths)} files of {kind!r} instead of one")
        return paths[0]


MISSING_VALUE = "–"
"""Stands where there is no value."""

ColumnOrigin = Literal["", "cost", "paper"]
"""Of a column: what the table itself says, what its systems cost, or what a paper printed."""


@dataclass(frozen=True)
class Cell:
    """What stands in a cell.

    Attributes:
        text: for people.
        value: for programs; None where it is the text.
        spread: the standard deviation over runs, for programs.
        marks: symbols raised behind the text.
        bold: whether it stands out.
        shade: on a page, from -1 (worse) over 0 to 1 (better), for its ground.
        interval: on a page, where an interval begins, its middle, and where it ends, in percent of the cell's width.
        zero: on a page, where nothing is, in percent of the same width; None where that is not shown.
        faint: on a page, whether its interval stands back behind others.
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
        """What programs read."""
        return self.text if self.value is None else self.value

    @property
    def numeric_value(self) -> float | None:
        """What programs read, as a number; None where it is none."""
        try:
            found = float(self.raw_text.replace(",", "").replace("−", "-"))
        except ValueError:
            return None
        return found if isfinite(found) else None


@dataclass(frozen=True)
class Column:
    """A column: its name for programs, its head for people, where its cells come from, and what these have or are."""

    name: str
    head: str
    origin: ColumnOrigin = ""
    has_spread: bool = False
    has_marks: bool = False
    is_text: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table: every row has one cell for each column, and the first column names the row.

    `bold_means` is what bold stands for, in the renderings that have it. `departures` say which rows are not as their
    papers print them.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = field(default=())
    bold_means: str = ""
    departures: Sequence[str] = field(default=())

    @property
    def column_heads(self) -> list[str]:
        """The heads of all columns."""
        return [column.head for column in self.columns]

    def collect_notes(self) -> list[str]:
        """The notes of a rendering that shows bold, which is explained where it occurs."""
        has_bold = any(cell.bold for row in self.rows for cell in row)
        return [*self.departures, *self.notes, *([f"Bold: {self.bold_means}."] if self.bold_means and has_bold else [])]

    def to_json(self) -> dict[str, Any]:
        """The sheet as plain values."""
        return asdict(self)


def build_sheet(
    title: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[Cell | str]],
    notes: Sequence[str] = (),
    text_heads: Collection[str] = (),
) -> Sheet:
    """A table of a page, whose cells may be texts; `text_heads` are heads of columns that hold text beside the first."""
    columns = [Column(head, head, is_text=head in text_heads) for head in heads]
    cells = [[Cell(cell or MISSING_VALUE) if isinstance(cell, str) else cell for cell in row] for row in rows]
    return Sheet(title, columns, cells, notes)


def format_signed(value: float) -> str:
    """Format a difference with its sign, and a minus as wide as a plus."""
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
