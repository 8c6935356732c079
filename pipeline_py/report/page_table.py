"""Tables as a page shows them: cells that know by what they are sorted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipeline_py.report.tables.sheet import NOTHING, Origin, Sheet

_NUMBER = re.compile(r"[-+−]?(?:\d[\d,]*)(?:\.\d+)?(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class PageCell:
    """What stands in a cell.

    Attributes:
        text: what is read.
        marks: symbols raised behind it.
        bold: whether it stands out.
        value: by which it is sorted; None where it is no number.
        shade: from -1 (worse) over 0 to 1 (better), for its ground.
        interval: where an interval begins, its middle, and where it ends, in percent of the cell's width.
    """

    text: str
    marks: str = ""
    bold: bool = False
    value: float | None = None
    shade: float = 0.0
    interval: tuple[float, float, float] | None = None

    @property
    def tint(self) -> int:
        """How strong the ground is, in percent."""
        return round(45 * min(1.0, abs(self.shade)))


@dataclass(frozen=True)
class PageColumn:
    """The head of a column, and where its cells come from."""

    head: str
    origin: Origin = ""
    is_text: bool = False


@dataclass(frozen=True)
class PageTable:
    """A table; the first cell of each row names it.

    Attributes:
        caption: what is shown, and how it was counted.
        notes: what its symbols mean.
        sortable: whether rows may stand in another order.
    """

    caption: str
    columns: Sequence[PageColumn]
    rows: Sequence[Sequence[PageCell]]
    notes: Sequence[str] = field(default=())
    sortable: bool = True


def cell(text: str, marks: str = "", bold: bool = False, shade: float = 0.0) -> PageCell:
    """A cell that is sorted by the number that its text begins with."""
    return PageCell(text or NOTHING, marks, bold, leading_number(text), shade)


def signed(value: float) -> str:
    """A difference with its sign, a minus as wide as a plus."""
    return f"{value:+.2f}".replace("-", "−")


def leading_number(text: str) -> float | None:
    """The number that a text begins with: `1.50M` is 1.5 million, and `1,204 (x)` is 1204."""
    found = _NUMBER.match(text)
    if found is None:
        return None
    value = float(found[0].replace(",", "").replace("−", "-"))
    return value * 1e6 if text[found.end() :].startswith("M") else value


def from_sheet(sheet: Sheet, caption: str = "") -> PageTable:
    """A table as it was laid out for the other formats."""
    return PageTable(
        caption,
        columns=[
            PageColumn(column.head, column.origin, is_text=place == 0) for place, column in enumerate(sheet.columns)
        ],
        rows=[
            [PageCell(row[0].text), *(cell(each.text, each.marks, each.bold) for each in row[1:])] for row in sheet.rows
        ],
        notes=sheet.all_notes(),
    )


def beside(table: PageTable, columns: Sequence[PageColumn], cells: Sequence[Sequence[PageCell]]) -> PageTable:
    """The same table with further columns on its right; `cells` are those of each row."""
    rows = [[*row, *more] for row, more in zip(table.rows, cells, strict=True)]
    return PageTable(table.caption, [*table.columns, *columns], rows, table.notes, table.sortable)
