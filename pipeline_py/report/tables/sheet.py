"""A table before it is drawn: what stages write as JSON, and what TSV, Markdown, LaTeX and the page are drawn from.

Cells hold plain text; each rendering escapes what its format would take for markup (`renderings`).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from pipeline_py.report.json_object import read_object
from pipeline_py.stage import InputError

NOTHING = "–"
"""Stands where there is no value."""

Origin = Literal["", "cost", "paper"]
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
    """

    text: str
    value: str | None = None
    spread: str = ""
    marks: str = ""
    bold: bool = False

    @property
    def plain(self) -> str:
        """What programs read."""
        return self.text if self.value is None else self.value


@dataclass(frozen=True)
class Column:
    """A column: its name for programs, its head for people, where its cells come from, and what these have."""

    name: str
    head: str
    origin: Origin = ""
    has_spread: bool = False
    has_marks: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table: every row has one cell for each column, and the first column names the row.

    `bold_means` is what bold stands for, in the renderings that have it.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = field(default=())
    bold_means: str = ""

    @property
    def heads(self) -> list[str]:
        """The heads of all columns."""
        return [column.head for column in self.columns]

    def all_notes(self) -> list[str]:
        """The notes of a rendering that shows bold."""
        return [*self.notes, *([f"Bold: {self.bold_means}."] if self.bold_means else [])]

    def as_json(self) -> dict[str, Any]:
        """The sheet as plain values."""
        return asdict(self)


def read_sheet(path: Path) -> Sheet:
    """Read a sheet that was written as JSON.

    Raises:
        InputError: if the file is none.
    """
    content = read_object(path, "make the table anew")
    try:
        return Sheet(
            content["title"],
            [Column(**column) for column in content["columns"]],
            [[Cell(**cell) for cell in row] for row in content["rows"]],
            content["notes"],
            content["bold_means"],
        )
    except (KeyError, TypeError):
        raise InputError("the file is no table of `report.table`; make it anew", path) from None
