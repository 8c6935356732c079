"""The figure of all measurements: training, translation and the cost of syntax, a row of panels for each shape."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.table import Row
from pipeline_py.report.figures import figure_files
from pipeline_py.report.figures.line_figure import COLOURS, STYLE
from pipeline_py.report.figures.pens import INK, RULE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OURS, PEER, ARITHMETIC = COLOURS[0], RULE, COLOURS[1]
"""Bars of ours, bars of the peers, and marks of multiply-adds."""

INCHES_WIDE, INCHES_A_BAR, INCHES_AROUND = 16.0, 0.3, 1.1
TITLE = "Speed"
OWN_STYLE: Any = {**STYLE, "axes.grid.axis": "x", "ytick.left": False}


def draw(training: Sequence[Row], translation: Sequence[Row], syntax: Sequence[Row], output: Path) -> None:
    """Draw rows of the three tables, medians with whiskers from the lowest to the highest round, as SVG."""
    from matplotlib.figure import Figure

    panels: list[tuple[Callable[[Axes, Sequence[Row]], None], Sequence[Row]]] = [
        (_training, training),
        (_translation, translation),
        (_syntax, [row for row in syntax if row["system"] != row["beside"]]),
    ]
    shapes = list(dict.fromkeys(row["shape"] for row in training))
    bars = max(sum(row["shape"] == shape for row in rows) for _, rows in panels for shape in shapes)
    with figure_files.style(OWN_STYLE):
        size = INCHES_WIDE, len(shapes) * (INCHES_AROUND + INCHES_A_BAR * bars)
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(len(shapes), len(panels), squeeze=False)
        for shape, line in zip(shapes, grid, strict=True):
            for (panel, rows), axes in zip(panels, line, strict=True):
                panel(axes, [row for row in rows if row["shape"] == shape])
                axes.set_ylim(bars - 0.5, -0.5)
                axes.set_axisbelow(True)
        figure_files.save(figure, TITLE, output, None)


def _training(axes: "Axes", rows: Sequence[Row]) -> None:
    names = [f"{row['side']}, {row['precision']}" for row in rows]
    _bars(axes, names, rows, "words_per_second", ",.0f")
    _name(axes, f"Training, {rows[0]['shape']}", "target words a second")


def _translation(axes: "Axes", rows: Sequence[Row]) -> None:
    names = [f"{row['side']}, {row['precision']}, length {row['mean_length']:.1f}" for row in rows]
    _bars(axes, names, rows, "sentences_per_second", ",.1f")
    _name(axes, f"Translation, {rows[0]['shape']}", f"sentences a second, beam {rows[0]['beam']}")


def _syntax(axes: "Axes", rows: Sequence[Row]) -> None:
    names = [f"{row['system']} to {row['beside']}" for row in rows]
    _bars(axes, names, rows, "times", ".2f", "of_multiply_adds")
    products = [row["of_multiply_adds"] for row in rows]
    axes.plot(products, range(len(rows)), "D", markersize=5, color=ARITHMETIC, label="multiply-adds")
    axes.axvline(1, color=INK, linewidth=0.8)
    axes.legend(loc="lower right", frameon=False)
    _name(axes, f"Cost of syntax, {rows[0]['shape']}", "ratio to the sequence model")


def _bars(axes: "Axes", names: list[str], rows: Sequence[Row], key: str, written: str, mark: str = "") -> None:
    """Draw a bar for each row, the first on top, and its number where neither whisker nor mark reaches."""
    places = range(len(rows))
    spreads = [row[key] for row in rows]
    axes.barh(
        places,
        [numbers.median for numbers in spreads],
        xerr=[
            [numbers.median - numbers.lowest for numbers in spreads],
            [numbers.highest - numbers.median for numbers in spreads],
        ],
        color=[PEER if row.get("toolkit", "ours") != "ours" else OURS for row in rows],
        height=0.66,
        error_kw={"elinewidth": 1, "capsize": 2, "ecolor": INK},
        label="time",
    )
    for place, row in zip(places, rows, strict=True):
        end = max(row[key].highest, row[mark] if mark else 0.0)
        text = format(row[key].median, written)
        axes.annotate(text, (end, place), xytext=(6, 0), textcoords="offset points", va="center")
    axes.set_yticks(places, names)
    axes.margins(x=0.15)
    axes.set_xlim(left=0)


def _name(axes: "Axes", what: str, unit: str) -> None:
    axes.set_title(what, loc="left", fontsize=10, fontweight="bold")
    axes.set_xlabel(unit)
