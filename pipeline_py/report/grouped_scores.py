"""Numbers of systems by groups of sentences or words, as a section shows them: lines, and the same in a table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pipeline_py.report.figures.figure_files import InlineFigure, render_inline_figure
from pipeline_py.report.figures.line_figure import LineSeries, LineStyle, draw_lines
from pipeline_py.report.page_parts import PageSection
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tables.sheet import MISSING_VALUE, Cell, Sheet, build_sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class GroupedScores:
    """Numbers of systems by groups.

    Attributes:
        grouping_label: what the groups are made by, for people.
        measure_label: what was measured.
        group_sizes: of each group, in order, how much it has; empty text where that is another number for each system.
        size_unit: what `group_sizes` counts, in the singular.
        values: (system, group) → number.
        intervals: the same → the ends of its 95 % interval; nothing where there are none.
        hidden_group_sizes: sizes of groups that are too small to be shown.
        named_bound: which of their bounds groups are called by; empty where they have none.
        is_drawn: whether lines say more than the numbers alone.
    """

    grouping_label: str
    measure_label: str
    group_sizes: Mapping[str, str]
    size_unit: str
    values: Mapping[Any, float]
    intervals: Mapping[Any, tuple[float, float]] = field(default_factory=dict)
    hidden_group_sizes: Sequence[int] = ()
    named_bound: Literal["", "lower", "upper"] = ""
    is_drawn: bool = True

    @property
    def description(self) -> str:
        """What is shown, in words."""
        return f"{self.measure_label} by {self.grouping_label[0].lower()}{self.grouping_label[1:]}"

    @property
    def formatted_sizes(self) -> list[str]:
        """The sizes for people; none where systems differ in them."""
        return [f"{int(size):,}" for size in self.group_sizes.values() if size]

    def remove_small_groups(self, smallest_size: int) -> "GroupedScores":
        """The groups that have at least so much; those whose size is not known stay."""
        small = {group: int(size) for group, size in self.group_sizes.items() if size and int(size) < smallest_size}
        kept = {group: size for group, size in self.group_sizes.items() if group not in small}
        return replace(self, group_sizes=kept, hidden_group_sizes=tuple(small.values()))


def build_group_sections(
    chapter: TableChapter,
    file_kind: str,
    title: str,
    read_groups: Callable[[Path], list[GroupedScores]],
    is_folded: bool = False,
) -> Iterator[PageSection]:
    """Figures of each set, the first set open, and what is no figure; then the numbers of the figures.

    Args:
        chapter: of the table.
        file_kind: of the files that groups are read from.
        title: of the section.
        read_groups: reads them.
        is_folded: whether the first set is folded too, as in a table of very many systems.
    """
    numbers, smallest = [], chapter.experiment.evaluation.smallest_group
    for place, (split, path) in enumerate(chapter.manifest.iterate_set_files(file_kind, chapter.table_name)):
        groups, on = [one.remove_small_groups(smallest) for one in read_groups(path)], chapter.get_set_name(split)
        drawn = [one for one in groups if one.is_drawn and has_several_groups(one)]
        numbers += [build_group_table(one, chapter.display_names, on) for one in drawn]
        anchor = f"{chapter.anchor}-{file_kind}-{split}"
        yield PageSection(
            f"{title}: {on}" if place else title,
            describe_group_sizes(groups, on, smallest),
            legend=chapter.build_legend({system for one in drawn for system, _ in one.values}),
            figures=[render_group_figure(one, chapter.line_styles, on, f"{anchor}-{n}") for n, one in enumerate(drawn)],
            tables=[build_group_table(one, chapter.display_names, on) for one in groups if not one.is_drawn],
            is_folded=place > 0 or is_folded or chapter.is_wide,
        )
    yield PageSection(f"{title}: the same in numbers", tables=numbers, is_folded=True)


def render_group_figure(
    groups: GroupedScores, line_styles: Mapping[str, LineStyle], set_name: str, figure_id: str
) -> InlineFigure:
    """Draw one line for each system; within `figure_files.style(STYLE)`."""
    bars = ", with bars for 95 % intervals over the sentences of these runs" if groups.intervals else ""
    return render_inline_figure(
        draw_group_lines(groups, line_styles),
        f"{groups.description} on {set_name}: a line for each system{bars}",
        figure_id,
    )


def draw_group_lines(
    groups: GroupedScores,
    line_styles: Mapping[str, LineStyle],
    title: str = "",
    line_names: Sequence[str] = (),
    note: str = "",
) -> "Figure":
    """The same without a place on a page, where it may stand alone (`line_figure.draw`)."""
    nothing = float("nan")
    lines = [
        LineSeries(
            look,
            range(len(groups.group_sizes)),
            [groups.values.get((system, group), nothing) for group in groups.group_sizes],
            [groups.intervals.get((system, group), (nothing, nothing)) for group in groups.group_sizes]
            if groups.intervals
            else (),
        )
        for system, look in line_styles.items()
    ]
    return draw_lines(
        lines,
        x_label=groups.grouping_label + {"": "", "lower": ", from", "upper": ", up to"}[groups.named_bound],
        size_label=f"{groups.size_unit}s",
        y_label=groups.measure_label,
        group_names=list(groups.group_sizes),
        group_counts=groups.formatted_sizes,
        title=title,
        line_names=line_names,
        note=note,
    )


def build_group_table(groups: GroupedScores, display_names: Mapping[str, str], set_name: str) -> Sheet:
    """The same numbers, a row for each system."""

    def value(system: str, group: str) -> Cell:
        found = groups.values.get((system, group))
        if found is None:
            return Cell(MISSING_VALUE)
        ends = groups.intervals.get((system, group))
        return Cell(f"{found:.2f}" + (f" ({ends[0]:.1f} to {ends[1]:.1f})" if ends is not None else ""), str(found))

    said = [
        *([f"groups are named by their {groups.named_bound} bound"] if groups.named_bound else []),
        *([f"column heads have the number of {groups.size_unit}s in brackets"] if groups.formatted_sizes else []),
        *(["cells have 95 % intervals over the sentences of these runs in brackets"] if groups.intervals else []),
    ]
    heads = [f"{group} ({count})" for group, count in zip(groups.group_sizes, groups.formatted_sizes, strict=False)]
    return build_sheet(
        f"{groups.description} on {set_name}{'; ' if said else ''}{'; '.join(said)}.",
        ["System", *(heads or groups.group_sizes)],
        [
            [name, *(value(system, group) for group in groups.group_sizes)]
            for system, name in display_names.items()
            if any(row == system for row, _ in groups.values)
        ],
    )


def has_several_groups(groups: GroupedScores) -> bool:
    """Whether there is more than one group, so that they can be compared."""
    return len(groups.group_sizes) > 1


def describe_group_sizes(groups: Sequence[GroupedScores], set_name: str, smallest_size: int) -> list[str]:
    """Say what has one group only, and how much is in groups that are smaller than the smallest one to be shown."""
    said = []
    for one in groups:
        alone = (
            [] if has_several_groups(one) else [(group, int(size)) for group, size in one.group_sizes.items() if size]
        )
        of_kind = [
            *(
                f"{'' if one.hidden_group_sizes else 'all '}{size:,} {one.size_unit}s are in one group, {group}"
                for group, size in alone
            ),
            *(sentence.removesuffix(".") for sentence in describe_small_groups(one, smallest_size)),
        ]
        said += [f"{one.grouping_label}, {set_name}: {'; '.join(of_kind)}."] if of_kind else []
    return said


def describe_small_groups(groups: GroupedScores, smallest_size: int) -> list[str]:
    """Say in a sentence how much is in groups that are too small to be shown; nothing where none is."""
    if not groups.hidden_group_sizes:
        return []
    total = sum(groups.hidden_group_sizes)
    return [
        f"{total:,} {groups.size_unit}{'' if total == 1 else 's'} in {'a group' if len(groups.hidden_group_sizes) == 1 else 'groups'} "
        f"smaller than {smallest_size:,} {'is' if total == 1 else 'are'} not shown."
    ]
