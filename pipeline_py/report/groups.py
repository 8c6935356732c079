"""Numbers of systems by groups of sentences or words, as a section shows them: lines, and the same in a table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pipeline_py.report.figures.figure_files import InlineFigure, rendered
from pipeline_py.report.figures.line_figure import Line, Look, draw
from pipeline_py.report.page_parts import Part
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tables.sheet import NOTHING, Cell, Sheet, listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    values: Mapping[Any, float]
    intervals: Mapping[Any, tuple[float, float]] = field(default_factory=dict)
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


def parts(
    chapter: TableChapter, kind: str, title: str, read: Callable[[Path], list[Groups]], folded: bool = False
) -> Iterator[Part]:
    """Figures of each set, the first set open, and what is no figure; then the numbers of the figures.

    Args:
        chapter: of the table.
        kind: of the files that groups are read from.
        title: of the section.
        read: reads them.
        folded: whether the first set is folded too, as in a table of very many systems.
    """
    numbers, smallest = [], chapter.experiment.evaluation.smallest_group
    for place, (split, path) in enumerate(chapter.manifest.by_set(kind, chapter.name)):
        groups, on = [one.without_groups_below(smallest) for one in read(path)], chapter.on(split)
        drawn = [one for one in groups if one.is_drawn and is_telling(one)]
        numbers += [table(one, chapter.called, on) for one in drawn]
        anchor = f"{chapter.anchor}-{kind}-{split}"
        yield Part(
            f"{title}: {on}" if place else title,
            sentences_about(groups, on, smallest),
            legend=chapter.legend({system for one in drawn for system, _ in one.values}),
            figures=[figure(one, chapter.looks, on, f"{anchor}-{n}") for n, one in enumerate(drawn)],
            tables=[table(one, chapter.called, on) for one in groups if not one.is_drawn],
            folded=place > 0 or folded or chapter.is_wide,
        )
    yield Part(f"{title}: the same in numbers", tables=numbers, folded=True)


def figure(groups: Groups, looks: Mapping[str, Look], on: str, name: str) -> InlineFigure:
    """Draw one line for each system; within `figure_files.style(STYLE)`."""
    bars = ", with bars for 95 % intervals over the sentences of these runs" if groups.intervals else ""
    return rendered(lines_of(groups, looks), f"{groups.described} on {on}: a line for each system{bars}", name)


def lines_of(
    groups: Groups, looks: Mapping[str, Look], title: str = "", names: Sequence[str] = (), note: str = ""
) -> "Figure":
    """The same without a place on a page, where it may stand alone (`line_figure.draw`)."""
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
    return draw(
        lines,
        x_label=groups.by + {"": "", "lower": ", from", "upper": ", up to"}[groups.bound],
        size_label=f"{groups.unit}s",
        y_label=groups.measure,
        groups=list(groups.sizes),
        counts=groups.counts,
        title=title,
        names=names,
        note=note,
    )


def table(groups: Groups, called: Mapping[str, str], on: str) -> Sheet:
    """The same numbers, a row for each system."""

    def value(system: str, group: str) -> Cell:
        found = groups.values.get((system, group))
        if found is None:
            return Cell(NOTHING)
        ends = groups.intervals.get((system, group))
        return Cell(f"{found:.2f}" + (f" ({ends[0]:.1f} to {ends[1]:.1f})" if ends is not None else ""), str(found))

    said = [
        *([f"groups are named by their {groups.bound} bound"] if groups.bound else []),
        *([f"column heads have the number of {groups.unit}s in brackets"] if groups.counts else []),
        *(["cells have 95 % intervals over the sentences of these runs in brackets"] if groups.intervals else []),
    ]
    heads = [f"{group} ({count})" for group, count in zip(groups.sizes, groups.counts, strict=False)]
    return listed(
        f"{groups.described} on {on}{'; ' if said else ''}{'; '.join(said)}.",
        ["System", *(heads or groups.sizes)],
        [
            [name, *(value(system, group) for group in groups.sizes)]
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
            *(sentence.removesuffix(".") for sentence in notes_on_small(one, smallest)),
        ]
        said += [f"{one.by}, {on}: {'; '.join(of_kind)}."] if of_kind else []
    return said


def notes_on_small(groups: Groups, smallest: int) -> list[str]:
    """Say in a sentence how much is in groups that are too small to be shown; nothing where none is."""
    if not groups.small:
        return []
    total = sum(groups.small)
    return [
        f"{total:,} {groups.unit}{'' if total == 1 else 's'} in {'a group' if len(groups.small) == 1 else 'groups'} "
        f"smaller than {smallest:,} {'is' if total == 1 else 'are'} not shown."
    ]
