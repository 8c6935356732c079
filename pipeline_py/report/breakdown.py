"""Where systems differ: BLEU by kinds of sentences, how many sentences have which score, and words by frequency."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipeline_py.report.inline_svg import InlineFigure, rendered
from pipeline_py.report.line_figure import Line, Look, draw
from pipeline_py.report.page_table import PageCell, PageColumn, PageTable, cell
from pipeline_py.report.table_layout import NOTHING
from pipeline_py.report.tsv_rows import number, read_rows

BREAKDOWN = ("by", "bucket", "sentences", "system", "bleu")
SENTENCE_SCORES = ("by", "bucket", "system", "other", "percent")
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
        sizes: of each group, in order, how much it has; empty text where that is another number for each system.
        unit: what `sizes` counts.
        values: (system, group) → number.
        bound: which of their bounds groups are called by; empty where they have none.
        is_drawn: whether lines say more than the numbers alone.
    """

    by: str
    measure: str
    sizes: Mapping[str, str]
    unit: str
    values: Mapping[tuple[str, str], float]
    bound: Literal["", "lower", "upper"] = ""
    is_drawn: bool = True

    @property
    def described(self) -> str:
        """What is shown, in words."""
        return f"{self.measure} by {self.by[0].lower()}{self.by[1:]}"

    @property
    def counts(self) -> list[str]:
        """The sizes for people; none where systems differ in them."""
        return [f"{int(size):,}" for size in self.sizes.values() if size]


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
            bound="" if kind == "parse" else "upper",
        )
        for kind in dict.fromkeys(row["by"] for row in rows)
    ]


def read_sentence_scores(path: Path, called: Mapping[str, str]) -> list[Groups]:
    """Read the TSV of `evaluation.sentence_scores`; `called` is what systems are called.

    Raises:
        InputError: if the file is none.
    """
    rows = read_rows(path, SENTENCE_SCORES)

    def groups(kind: str, by: str, bound: Literal["", "lower"], is_drawn: bool) -> Groups:
        found = [row for row in rows if row["by"] == kind]
        values = {(row["system"], row["bucket"]): number(row, "percent", path) for row in found}
        sizes = {row["bucket"]: "" for row in found}
        return Groups(by, "Percent of sentences", sizes, "sentences", values, bound, is_drawn)

    others = dict.fromkeys(row["other"] for row in rows if row["by"] == "difference")
    return [
        groups("score", "chrF of the sentence", "lower", is_drawn=True),
        *(
            groups("difference", f"chrF beside that of {called.get(other, other)}", "", is_drawn=False)
            for other in others
        ),
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
        x_label=groups.by + {"": "", "lower": ", from", "upper": ", up to"}[groups.bound],
        size_label=groups.unit,
        y_label=groups.measure,
        groups=list(groups.sizes),
        counts=groups.counts,
    )
    return rendered(drawn, f"{groups.described} on {on}: a line for each system", name)


def table(groups: Groups, called: Mapping[str, str], on: str) -> PageTable:
    """The same numbers, a row for each system."""

    def value(system: str, group: str) -> PageCell:
        found = groups.values.get((system, group))
        return PageCell(NOTHING) if found is None else cell(f"{found:.2f}")

    said = [
        *([f"groups have the name of their {groups.bound} bound"] if groups.bound else []),
        *([f"behind it how many {groups.unit} they have"] if groups.counts else []),
    ]
    heads = [f"{group} ({count})" for group, count in zip(groups.sizes, groups.counts, strict=False)]
    return PageTable(
        f"{groups.described} on {on}{'; ' if said else ''}{', '.join(said)}.",
        [PageColumn("System", is_text=True), *map(PageColumn, heads or groups.sizes)],
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
        if size
    ]
