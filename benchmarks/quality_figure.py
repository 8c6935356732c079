"""The figure of the time to quality: BLEU by CPU minutes of training, a line for each side, a figure for each shape."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.table import Row
from pipeline_py.report.figures import figure_files, line_figure
from pipeline_py.report.figures.line_figure import STYLE, Line, look_of


def draw(points: Sequence[Row], output: Path) -> None:
    """Draw the curves of all sides of the first shape as SVG."""
    shape = points[0]["shape"]
    of_shape = [point for point in points if point["shape"] == shape]
    names = list(dict.fromkeys(point["side"] for point in of_shape))
    lines = []
    for number, name in enumerate(names):
        curve = [point for point in of_shape if point["side"] == name]
        lines.append(Line(look_of(number), [one["cpu_minutes"] for one in curve], [one["bleu"] for one in curve]))
    with figure_files.style(STYLE):
        figure = line_figure.draw(
            lines,
            x_label="CPU minutes of training",
            y_label="BLEU on the development set",
            title=f"Time to quality, {shape}",
            names=names,
        )
        figure_files.save(figure, "Time to quality", output, None)
