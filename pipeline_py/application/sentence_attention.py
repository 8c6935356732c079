"""What a system attends to when it says a translation, as numbers and as a figure."""

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
"""How many words of the translation the figure chooses by itself."""


@dataclass(frozen=True)
class Attention(AttendedSentence):
    """Attention of each step over a sentence; a notebook shows its figure.

    Attributes:
        words: the pieces of the source, and EOS: J of them.
        phrases: P phrases of its tree, where the system reads such.
        translation: its pieces, and EOS: I of them.
        weights: float32 (I, J + P); rows sum to 1.
        gates: β, the weight of phrases (I,); None where the system has none.
    """

    def plot(self, title: str = "", words: Sequence[int] | None = None) -> "Figure":
        """Draw the sentence, or its tree, shaded by the attention of some words of the translation.

        Args:
            title: headline.
            words: their positions, from 1; by default the four that tell most.
        """
        from pipeline_py.report.figures.attention_figure import draw_attention_figure
        from pipeline_py.report.figures.figure_files import use_style

        steps = select_informative_steps(self, DEFAULT_PANEL_COUNT) if words is None else [word - 1 for word in words]
        with use_style():
            return draw_attention_figure(replace_unprintable(title), self, steps, "")

    def save(self, file: str | Path, title: str = "", words: Sequence[int] | None = None) -> None:
        """Write the figure as SVG, or where the name ends so as PDF."""
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
