"""The translation over the tree, with one word standing out, and the weight of phrases at each word."""

from itertools import accumulate
from typing import TYPE_CHECKING

from matplotlib.patches import Rectangle

from pipeline_py.report.figures.attended_sentence import AttendedSentence
from pipeline_py.report.figures.pens import CHOSEN, INK, NOTE, RULE, TRACK, write
from pipeline_py.report.figures.typesetting import lines_of, width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOKEN_SIZE, NOTE_SIZE, GATE_SIZE = 9.0, 7.0, 5.5
LINE = 14.0
"""From one line of text to the next, in points."""

BAR_WIDTH, BAR_HEIGHT = 14.0, 10.0
"""Of β = 1; its number is as wide."""

GATES = BAR_HEIGHT + GATE_SIZE + 8
"""Height of bars and their numbers."""

SPACE = 6.0
"""Between words."""


class TranslationDrawing:
    """A translation that is broken into lines; it stands in every panel, each time with another word chosen.

    Attributes:
        height: of all lines and their β, in points.
    """

    def __init__(self, attended: AttendedSentence, room: float) -> None:
        """Break the translation into lines of `room` points."""
        self._attended = attended
        least = 0.0 if attended.gates is None else BAR_WIDTH
        self._slots = [max(least, width(token, TOKEN_SIZE, bold=True)) + SPACE for token in attended.translation]
        self._lines = lines_of(self._slots, room)
        self._line = LINE + (0.0 if attended.gates is None else GATES)
        self.height = len(self._lines) * self._line

    def draw(self, axes: "Axes", chosen: int, at: tuple[float, float], gutter: float, name: str) -> None:
        """Draw it, with `word N` and `β` in the gutter.

        In an SVG the bar of step N, from 0, is called `NAME-gate-N`.

        Args:
            axes: their unit is the point.
            chosen: the step that stands out.
            at: the upper left corner, gutter included.
            gutter: room for notes on the left.
            name: begins the identifiers.
        """
        left, top = at
        write(axes, (left, top - LINE / 2), f"word {chosen + 1}", NOTE_SIZE, color=CHOSEN)
        for number, line in enumerate(self._lines):
            y = top - number * self._line
            if self._attended.gates is not None:
                write(axes, (left, y - LINE - BAR_HEIGHT / 2), "β", NOTE_SIZE, color=NOTE)
            ends = accumulate(self._slots[step] for step in line)
            for step, end in zip(line, ends, strict=True):
                x = left + gutter + end - (self._slots[step] + SPACE) / 2
                self._word(axes, step, step == chosen, (x, y), name)

    def _word(self, axes: "Axes", step: int, chosen: bool, at: tuple[float, float], name: str) -> None:
        """Draw the word of a step, and its β as a bar and a number; `at` is its middle at the top."""
        x, top = at
        token, is_end = self._attended.translation[step], step + 1 == len(self._slots)
        ink = CHOSEN if chosen else NOTE if is_end else INK
        write(axes, (x, top - LINE / 2), token, TOKEN_SIZE, color=ink, align="center", bold=chosen)
        if self._attended.gates is None:
            return
        beta, base = float(self._attended.gates[step]), top - LINE - BAR_HEIGHT
        for high, shade, gid in (
            (BAR_HEIGHT, TRACK, None),
            (BAR_HEIGHT * beta, CHOSEN if chosen else RULE, f"{name}-gate-{step}"),
        ):
            axes.add_patch(Rectangle((x - BAR_WIDTH / 2, base), BAR_WIDTH, high, facecolor=shade, linewidth=0, gid=gid))
        ink = CHOSEN if chosen else NOTE
        write(axes, (x, base - 1 - GATE_SIZE / 2), f"{beta:.2f}", GATE_SIZE, color=ink, align="center")
