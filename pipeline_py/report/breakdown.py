"""Where systems differ: BLEU by kinds of sentences, how many sentences have which score, and words by frequency."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from pipeline_py.report.inline_svg import InlineFigure, rendered
from pipeline_py.report.line_figure import Line, Look, draw
from pipeline_py.report.page_table import PageCell, PageColumn, PageTable, cell
from pipeline_py.report.plot import left_out
from pipeline_py.report.sheet import NOTHING
from pipeline_py.report.tsv_rows import count, number, read_rows

BREAKDOWN = ("by", "bucket", "sentences", "system", "bleu", "bleu_low", "bleu_high")
SENTENCE_SCORES = ("by", "bucket", "system", "other", "percent")
WORDS = ("frequency", "system", "f1", "f1_low", "f1_high", "words")

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
        unit: what `sizes` counts, in the singular.
        values: (system, group) → number.
        intervals: the same → the ends of its 95 % interval; nothing where there are none.
        small: sizes of groups that are too small to be shown.
        bound: which of their bounds groups are called by; empty where they have none.
        is_drawn: whether lines say more than the numbers alone.
    """

    by: str
    measure: str
    sizes: Mapping[str, str]
    unit: str
    values: Mapping[tuple[str, str], float]
    intervals: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    small: Sequence[int] = ()
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

    def without_groups_below(self, least: int) -> "Groups":
        """The groups that have at least so much; those whose size is not known stay."""
        small = {group: int(size) for group, size in self.sizes.items() if size and int(size) < least}
        kept = {group: size for group, size in self.sizes.items() if group not in small}
        return replace(self, sizes=kept, small=tuple(small.values()))


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
            {row["bucket"]: str(count(row, "sentences", path)) for row in rows if row["by"] == kind},
            "sentence",
            {(row["system"], row["bucket"]): number(row, "bleu", path) for row in rows if row["by"] == kind},
            {
                (row["system"], row["bucket"]): (number(row, "bleu_low", path), number(row, "bleu_high", path))
                for row in rows
                if row["by"] == kind
            },
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
        return Groups(by, "Percent of sentences", sizes, "sentence", values, bound=bound, is_drawn=is_drawn)

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
            {row["frequency"]: row["words"] and str(count(row, "words", path)) for row in rows},
            "word",
            {(row["system"], row["frequency"]): number(row, "f1", path) for row in rows},
            {
                (row["system"], row["frequency"]): (number(row, "f1_low", path), number(row, "f1_high", path))
                for row in rows
            },
        )
    ]


def figure(groups: Groups, looks: Mapping[str, Look], on: str, name: str) -> InlineFigure:
    """Draw one line for each system; within `figure_files.style(STYLE)`."""
    nothing = float("nan")
    lines = [
        Line(
            look,
            range(len(groups.sizes)),
            [groups.values.get((system, group), nothing) for group in groups.sizes],
            [groups.intervals.get((system, group), (nothing, nothing)) for group in groups.sizes]
            if groups.intervals
            else (),
        )
        for system, look in looks.items()
    ]
    drawn = draw(
        lines,
        x_label=groups.by + {"": "", "lower": ", from", "upper": ", up to"}[groups.bound],
        size_label=f"{groups.unit}s",
        y_label=groups.measure,
        groups=list(groups.sizes),
        counts=groups.counts,
    )
    bars = ", with bars for 95 % intervals" if groups.intervals else ""
    return rendered(drawn, f"{groups.described} on {on}: a line for each system{bars}", name)


def table(groups: Groups, called: Mapping[str, str], on: str) -> PageTable:
    """The same numbers, a row for each system."""

    def value(system: str, group: str) -> PageCell:
        found = groups.values.get((system, group))
        if found is None:
            return PageCell(NOTHING)
        ends = groups.intervals.get((system, group))
        return cell(f"{found:.2f}" + (f" ({ends[0]:.1f} to {ends[1]:.1f})" if ends is not None else ""))

    said = [
        *([f"groups have the name of their {groups.bound} bound"] if groups.bound else []),
        *([f"behind it how many {groups.unit}s they have"] if groups.counts else []),
        *(["in brackets 95 % intervals"] if groups.intervals else []),
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


def sentences_about(groups: Sequence[Groups], on: str, smallest: int) -> list[str]:
    """Say what has one group only, and how much is in groups that are smaller than the smallest one to be shown."""
    said = []
    for one in groups:
        alone = [] if is_telling(one) else [(group, int(size)) for group, size in one.sizes.items() if size]
        of_kind = [
            *(f"{'' if one.small else 'all '}{size:,} {one.unit}s are in one group, {group}" for group, size in alone),
            *(sentence.removesuffix(".") for sentence in left_out(one.small, smallest, one.unit)),
        ]
        said += [f"{one.by}, {on}: {'; '.join(of_kind)}."] if of_kind else []
    return said
