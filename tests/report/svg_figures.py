"""Figure files without the PDF, which takes about 90 % of the time of a drawing test."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from pipeline_py.report.figures import figure_files


@contextmanager
def skip_pdf() -> Iterator[None]:
    """Write only the SVG of figures in this context."""
    save_figure = figure_files.save_figure
    with patch.object(
        figure_files, "save_figure", lambda figure, title, svg_output, _: save_figure(figure, title, svg_output, None)
    ):
        yield
