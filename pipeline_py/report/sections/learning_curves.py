"""Learning curves of a table's systems: the loss on dev by updates and by seconds, and BLEU where it was measured."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pipeline_py.report.figures.figure_files import InlineFigure, rendered
from pipeline_py.report.figures.line_figure import Line, Look, draw
from pipeline_py.report.page_parts import Part
from pipeline_py.report.stage_results import read_table
from pipeline_py.report.table_chapter import TableChapter

PLACE = 80
COLUMNS = ("update", "seconds", "dev_loss", "dev_bleu")
Curve = dict[str, list[float]]
"""Column → its values, one for each time that dev was looked at; NaN where nothing was measured."""

VIEWS = (
    ("update", "dev_loss", "Updates", "Loss on dev"),
    ("seconds", "dev_loss", "Seconds of training", "Loss on dev"),
    ("update", "dev_bleu", "Updates", "BLEU on dev"),
)


def section(chapter: TableChapter) -> Iterator[Part]:
    curves = {
        system: [read_curve(path) for path in _runs(chapter, system)]
        for system in chapter.called
        if _runs(chapter, system)
    }
    drawn = figures(curves, chapter.looks, f"{chapter.anchor}-learning")
    yield Part("Learning curves", legend=chapter.legend({*curves}), figures=drawn, folded=True)


def _runs(chapter: TableChapter, system: str) -> list[Path]:
    return [path for name, path in chapter.manifest.all("curve").items() if name.rpartition(":")[0] == system]


def read_curve(path: Path) -> Curve:
    """Read the `learning_curve.tsv` of a training."""
    table = read_table(path, COLUMNS)
    return {column: [*table[column]] for column in COLUMNS}


def figures(curves: Mapping[str, Sequence[Curve]], looks: Mapping[str, Look], name: str) -> list[InlineFigure]:
    """Draw the curves of all runs of each system; within `figure_files.style(STYLE)`."""
    drawn = []
    for x, y, x_label, y_label in VIEWS:
        lines = [
            Line(looks[system], curve[x], curve[y])
            for system, runs in curves.items()
            for curve in runs
            # NaN differs from itself.
            if any(value == value for value in curve[y])
        ]
        if lines:
            title = f"{y_label} by {x_label[0].lower()}{x_label[1:]}: a line for each run of a system"
            figure = draw(lines, x_label=x_label, y_label=y_label)
            drawn.append(rendered(figure, title, f"{name}-{y}-{x}"))
    return drawn
