"""Where systems differ: BLEU by kinds of sentences, and how well they choose words that are more or less frequent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline_py.report.inline_svg import InlineFigure, rendered
from pipeline_py.report.line_figure import Line, Look, draw
from pipeline_py.report.page_table import PageCell, PageColumn, PageTable, cell
from pipeline_py.report.table_layout import NOTHING
from pipeline_py.report.tsv_rows import number, read_rows

BREAKDOWN = ("by", "bucket", "sentences", "system", "bleu")
WORDS = ("frequency", "system", "f1", "words")

KINDS = {
    "length": "Words of the source",
    "depth": "Depth of the tree",
    "dependency_length": "Mean dependency length",
    "phrase_depth": "Depth of the source's phrase tree",
    "parse": "Parse",
}


@dataclass(frozen=True)
class Groups:
    """Numbers of systems by groups.

    Attributes:
        by: what the groups are made by, for people.
        measure: what was measured.
        sizes: of each group, in order, how much it has.
        unit: what `sizes` counts.
        values: (system, group) → number.
        has_bounds: whether groups are called by their upper bounds.
    """

    by: str
    measure: str
    sizes: Mapping[str, str]
    unit: str
    values: Mapping[tuple[str, str], float]
    has_bounds: bool = False

    @property
    def described(self) -> str:
        """What is shown, in words."""
        return f"{self.measure} by {self.by[0].lower()}{self.by[1:]}"


def read_breakdown(path: Path) -> list[Groups]:
    """Read the TSV of `evaluation.by_sentence`, one object for each kind of groups.

    Raises:
        InputError: if the file is none.
    """
    rows = read_rows(path, BREAKDOWN)
    return [
        Groups(
            KINDS.get(kind, kind),
            "BLEU",
            {row["bucket"]: row["sentences"] for row in rows if row["by"] == kind},
            "sentences",
            {(row["system"], row["bucket"]): number(row, "bleu", path) for row in rows if row["by"] == kind},
            has_bounds=kind != "parse",
        )
        for kind in dict.fromkeys(row["by"] for row in rows)
    ]


def read_words(path: Path) -> list[Groups]:
    """Read the TSV of `evaluation.words`.

    Raises:
        InputError: if the file is none.
    """
    rows = read_rows(path, WORDS)
    return [
        Groups(
            "Frequency in the training text",
            "F1 of words",
            {row["frequency"]: row["words"] for row in rows},
            "words",
            {(row["system"], row["frequency"]): number(row, "f1", path) for row in rows},
        )
    ]


def figure(groups: Groups, looks: Mapping[str, Look], on: str, name: str) -> InlineFigure:
    """Draw one line for each system; within `figure_files.style(STYLE)`."""
    lines = [
        Line(
            look, range(len(groups.sizes)), [groups.values.get((system, group), float("nan")) for group in groups.sizes]
        )
        for system, look in looks.items()
    ]
    drawn = draw(
        lines,
        x_label=f"{groups.by}{', up to' if groups.has_bounds else ''}",
        size_label=groups.unit,
        y_label=groups.measure,
        groups=list(groups.sizes),
        counts=[f"{int(size):,}" for size in groups.sizes.values()],
    )
    return rendered(drawn, f"{groups.described} on {on}: a line for each system", name)


def table(groups: Groups, called: Mapping[str, str], on: str) -> PageTable:
    """The same numbers, a row for each system."""

    def value(system: str, group: str) -> PageCell:
        found = groups.values.get((system, group))
        return PageCell(NOTHING) if found is None else cell(f"{found:.2f}")

    return PageTable(
        f"{groups.described} on {on}; "
        + ("groups have the name of their upper bound, " if groups.has_bounds else "")
        + f"behind it how many {groups.unit} they have.",
        [
            PageColumn("System", is_text=True),
            *(PageColumn(f"{group} ({int(size):,})") for group, size in groups.sizes.items()),
        ],
        [
            [PageCell(name), *(value(system, group) for group in groups.sizes)]
            for system, name in called.items()
            if any(row == system for row, _ in groups.values)
        ],
    )


def is_telling(groups: Groups) -> bool:
    """Whether there is more than one group, so that they can be compared."""
    return len(groups.sizes) > 1


def sentences_about(groups: Sequence[Groups], on: str) -> list[str]:
    """Say what has one group only."""
    return [
        f"{one.by}, {on}: all {int(size):,} {one.unit} are in one group, {group}."
        for one in groups
        if not is_telling(one)
        for group, size in one.sizes.items()
    ]
