"""Scores of systems by groups of sentences or words, as figures and tables of a section."""

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
    """Scores of systems by groups.

    Attributes:
        grouping_label: display name of the property that defines the groups.
        measure_label: display name of the measure.
        group_sizes: size of each group as text, in order; "" if the size differs between systems.
        size_unit: unit of the sizes, in the singular.
        values: score by (system, group).
        intervals: 95 % interval by (system, group); empty if there are no intervals.
        hidden_group_sizes: sizes of the groups that are too small to be shown.
        named_bound: the bound that names the groups; "" if the groups have no bounds.
        is_drawn: whether a figure shows the scores as lines.
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
        """Measure and grouping as a phrase."""
        return f"{self.measure_label} by {self.grouping_label[0].lower()}{self.grouping_label[1:]}"

    @property
    def formatted_sizes(self) -> list[str]:
        """Sizes with thousands separators; empty if sizes differ between systems."""
        return [f"{int(size):,}" for size in self.group_sizes.values() if size]

    def remove_small_groups(self, smallest_size: int) -> "GroupedScores":
        """Hide the groups that are smaller than `smallest_size`; groups of unknown size stay."""
        small_groups = {
            group: int(size) for group, size in self.group_sizes.items() if size and int(size) < smallest_size
        }
        large_groups = {group: size for group, size in self.group_sizes.items() if group not in small_groups}
        return replace(self, group_sizes=large_groups, hidden_group_sizes=tuple(small_groups.values()))


def build_group_sections(
    chapter: TableChapter,
    file_kind: str,
    title: str,
    read_groups: Callable[[Path], list[GroupedScores]],
    is_folded: bool = False,
) -> Iterator[PageSection]:
    """Yield a section of figures and tables for each set, and a section with the scores of all figures.

    Args:
        chapter: chapter of the table.
        file_kind: kind of the files with groups.
        title: title of the section.
        read_groups: reader of these files.
        is_folded: whether the first set is also folded; it always is in a table of many systems.
    """
    number_tables, smallest_size = [], chapter.experiment.evaluation.smallest_group
    for place, (split, path) in enumerate(chapter.manifest.iterate_set_files(file_kind, chapter.table_name)):
        groups, set_name = (
            [group_scores.remove_small_groups(smallest_size) for group_scores in read_groups(path)],
            chapter.get_set_name(split),
        )
        drawn_groups = [
            group_scores for group_scores in groups if group_scores.is_drawn and has_several_groups(group_scores)
        ]
        number_tables += [
            build_group_table(group_scores, chapter.display_names, set_name) for group_scores in drawn_groups
        ]
        anchor = f"{chapter.anchor}-{file_kind}-{split}"
        yield PageSection(
            f"{title}: {set_name}" if place else title,
            describe_group_sizes(groups, set_name, smallest_size),
            legend=chapter.build_legend({system for group_scores in drawn_groups for system, _ in group_scores.values}),
            figures=[
                render_group_figure(group_scores, chapter.line_styles, set_name, f"{anchor}-{index}")
                for index, group_scores in enumerate(drawn_groups)
            ],
            tables=[
                build_group_table(group_scores, chapter.display_names, set_name)
                for group_scores in groups
                if not group_scores.is_drawn
            ],
            is_folded=place > 0 or is_folded or chapter.is_wide,
        )
    yield PageSection(f"{title}: all scores", tables=number_tables, is_folded=True)


def render_group_figure(
    groups: GroupedScores, line_styles: Mapping[str, LineStyle], set_name: str, figure_id: str
) -> InlineFigure:
    """Draw one line for each system. Call it within `use_style(LINE_FIGURE_STYLE)`."""
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
    """Draw one line for each system with matplotlib; see `draw_lines` for the optional texts."""
    missing = float("nan")
    lines = [
        LineSeries(
            style,
            range(len(groups.group_sizes)),
            [groups.values.get((system, group), missing) for group in groups.group_sizes],
            [groups.intervals.get((system, group), (missing, missing)) for group in groups.group_sizes]
            if groups.intervals
            else (),
        )
        for system, style in line_styles.items()
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
    """Build the table of scores, a row for each system."""

    def build_cell(system: str, group: str) -> Cell:
        score = groups.values.get((system, group))
        if score is None:
            return Cell(MISSING_VALUE)
        interval = groups.intervals.get((system, group))
        return Cell(
            f"{score:.2f}" + (f" ({interval[0]:.1f} to {interval[1]:.1f})" if interval is not None else ""), str(score)
        )

    remarks = [
        *([f"groups are named by their {groups.named_bound} bound"] if groups.named_bound else []),
        *([f"column heads have the number of {groups.size_unit}s in brackets"] if groups.formatted_sizes else []),
        *(["cells have 95 % intervals over the sentences of these runs in brackets"] if groups.intervals else []),
    ]
    heads = [f"{group} ({count})" for group, count in zip(groups.group_sizes, groups.formatted_sizes, strict=False)]
    return build_sheet(
        f"{groups.description} on {set_name}{'; ' if remarks else ''}{'; '.join(remarks)}.",
        ["System", *(heads or groups.group_sizes)],
        [
            [name, *(build_cell(system, group) for group in groups.group_sizes)]
            for system, name in display_names.items()
            if any(row == system for row, _ in groups.values)
        ],
    )


def has_several_groups(groups: GroupedScores) -> bool:
    """Return True if there is more than one group."""
    return len(groups.group_sizes) > 1


def describe_group_sizes(groups: Sequence[GroupedScores], set_name: str, smallest_size: int) -> list[str]:
    """Describe groupings with a single group, and the size of hidden groups."""
    sentences = []
    for group_scores in groups:
        single_group = (
            []
            if has_several_groups(group_scores)
            else [(group, int(size)) for group, size in group_scores.group_sizes.items() if size]
        )
        remarks = [
            *(
                f"{'' if group_scores.hidden_group_sizes else 'all '}{size:,} {group_scores.size_unit}s are in one "
                f"group, {group}"
                for group, size in single_group
            ),
            *(sentence.removesuffix(".") for sentence in describe_small_groups(group_scores, smallest_size)),
        ]
        sentences += [f"{group_scores.grouping_label}, {set_name}: {'; '.join(remarks)}."] if remarks else []
    return sentences


def describe_small_groups(groups: GroupedScores, smallest_size: int) -> list[str]:
    """Return a sentence with the total size of hidden groups, or an empty list."""
    if not groups.hidden_group_sizes:
        return []
    total = sum(groups.hidden_group_sizes)
    group_noun = "a group" if len(groups.hidden_group_sizes) == 1 else "groups"
    return [
        f"{total:,} {groups.size_unit}{'' if total == 1 else 's'} in {group_noun} smaller than {smallest_size:,} "
        f"{'is' if total == 1 else 'are'} not shown."
    ]
