"""Attention of a system over a sentence, as numbers and as a figure."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from pipeline_py.report.figures.attended_sentence import AttendedSentence, select_informative_steps
from pipeline_py.report.figures.typesetting import replace_unprintable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT_PANEL_COUNT = 4


@dataclass(frozen=True)
class Attention(AttendedSentence):
    """Attention of each decoding step over a sentence, which a notebook displays as a figure.

    Attributes:
        words: J pieces of the source, including EOS.
        phrases: P phrases of its tree, if the system reads trees.
        translation: I pieces of the translation, including EOS.
        weights: float32 (I, J + P); rows sum to 1.
        gates: β, the weight of phrases (I,); None if the system has no gate.
    """

    def plot(self, title: str = "", words: Sequence[int] | None = None) -> "Figure":
        """Draw the sentence or its tree, shaded by the attention of some words of the translation.

        Args:
            title: title of the figure.
            words: positions of these words, from 1; by default the four most informative ones.
        """
        from pipeline_py.report.figures.attention_figure import draw_attention_figure
        from pipeline_py.report.figures.figure_files import use_style

        steps = select_informative_steps(self, DEFAULT_PANEL_COUNT) if words is None else [word - 1 for word in words]
        with use_style():
            return draw_attention_figure(replace_unprintable(title), self, steps, "")

    def save(self, file: str | Path, title: str = "", words: Sequence[int] | None = None) -> None:
        """Write the figure as PDF if the name ends in `.pdf`, else as SVG."""
        from pipeline_py.report.figures.figure_files import save_figure, use_style

        path = Path(file)
        with use_style():
            is_pdf = path.suffix == ".pdf"
            save_figure(
                self.plot(title, words), replace_unprintable(title), None if is_pdf else path, path if is_pdf else None
            )

    def _repr_svg_(self) -> str:
        with TemporaryDirectory() as folder:
            self.save(Path(folder) / "attention.svg")
            return (Path(folder) / "attention.svg").read_text(encoding="utf-8")
