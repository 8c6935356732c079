"""Section with learning curves: loss on dev by updates and by seconds, and BLEU if measured."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pipeline_py.report.figures.figure_files import InlineFigure, render_inline_figure
from pipeline_py.report.figures.line_figure import LineSeries, LineStyle, draw_lines
from pipeline_py.report.page_parts import PageSection
from pipeline_py.report.stage_results import read_tsv
from pipeline_py.report.table_chapter import TableChapter

PAGE_ORDER = 80
CURVE_COLUMNS = ("update", "seconds", "dev_loss", "dev_bleu")
LearningCurve = dict[str, list[float]]
"""Values by column, one for each validation; NaN if not measured."""

CURVE_AXES = (
    ("update", "dev_loss", "Updates", "Loss on dev"),
    ("seconds", "dev_loss", "Seconds of training", "Loss on dev"),
    ("update", "dev_bleu", "Updates", "BLEU on dev"),
)


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    curves = {
        system: [read_curve(path) for path in _list_curve_files(chapter, system)]
        for system in chapter.display_names
        if _list_curve_files(chapter, system)
    }
    figures = render_curves(curves, chapter.line_styles, f"{chapter.anchor}-learning")
    yield PageSection("Learning curves", legend=chapter.build_legend({*curves}), figures=figures, is_folded=True)


def _list_curve_files(chapter: TableChapter, system: str) -> list[Path]:
    return [path for name, path in chapter.manifest.get_files("curve").items() if name.rpartition(":")[0] == system]


def read_curve(path: Path) -> LearningCurve:
    """Read the `learning_curve.tsv` of a training."""
    table = read_tsv(path, CURVE_COLUMNS)
    return {column: [*table[column]] for column in CURVE_COLUMNS}


def render_curves(
    curves: Mapping[str, Sequence[LearningCurve]], line_styles: Mapping[str, LineStyle], figure_id: str
) -> list[InlineFigure]:
    """Draw the curves of all runs of each system. Call it within `use_style(LINE_FIGURE_STYLE)`."""
    figures = []
    for x, y, x_label, y_label in CURVE_AXES:
        lines = [
            LineSeries(line_styles[system], curve[x], curve[y])
            for system, runs in curves.items()
            for curve in runs
            # NaN differs from itself.
            if any(value == value for value in curve[y])
        ]
        if lines:
            title = f"{y_label} by {x_label[0].lower()}{x_label[1:]}: a line for each run of a system"
            figure = draw_lines(lines, x_label=x_label, y_label=y_label)
            figures.append(render_inline_figure(figure, title, f"{figure_id}-{y}-{x}"))
    return figures
