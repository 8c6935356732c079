"""Figure of attention on the tree: the translation, and a tree for each selected word.

Follows tree2seq, Figures 4–6, and Figure 6 of the hierarchical paper.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, cos, radians
from typing import TYPE_CHECKING

import matplotlib
import numpy as np
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, Rectangle

from pipeline_py.report.figures.attended_sentence import AttendedSentence, PhraseColumn
from pipeline_py.report.figures.drawing import (
    BAR_BACKGROUND,
    EDGE_COLOUR,
    FRAME_COLOUR,
    HIGHLIGHT_COLOUR,
    NOTE_COLOUR,
    PRINTED_WIDTH,
    TEXT_COLOUR,
    compute_bracket,
    create_axes,
    crop_figure,
    get_contrasting_colour,
    write_text,
)
from pipeline_py.report.figures.typesetting import break_into_lines, compute_text_width, wrap_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARGIN, GUTTER, PANEL_GAP = 12.0, 40.0, 28.0
"""Margins of the figure, left margin of texts, and space between panels, in points."""

MAX_ROW_WIDTH, MIN_WIDTH = PRINTED_WIDTH - 2 * MARGIN, 320.0
"""Maximum width of a row of panels, unless one panel is wider, and minimum width of the figure, in points."""

TITLE_SIZE, TOKEN_SIZE, WORD_SIZE, NOTE_SIZE, NUMBER_SIZE, LABEL_SIZE = 10.0, 9.0, 8.5, 7.0, 6.5, 5.5
LINE_HEIGHT = 14.0
"""Distance between lines of text."""

BAR_WIDTH, BAR_HEIGHT = 14.0, 10.0
"""Size of the bar of β = 1; its number has the same width."""

SLANT_DEGREES, MAX_UPRIGHT_WIDTH = 45.0, MAX_ROW_WIDTH
"""Slant of words, and the width of a row above which words slant."""

MIN_SLOT_WIDTH, WORD_GAP = 19.0, 9.0
"""Minimum width of a word, and space between words, which doubles before EOS."""

BOX_HEIGHT, LEVEL_HEIGHT = 11.0, 24.0
"""Height of a box of one line, and vertical distance between levels of the tree."""

MAX_NUMBERED_WEIGHTS, MIN_NUMBERED_WEIGHT = 5, 0.045
"""Number of highest weights with a number, and the smallest weight with a number."""

MAX_COLOUR_FRACTION = 0.92
"""Fraction of matplotlib's colour map "Blues" that is used; its end is nearly black."""

LEGEND_WIDTH, LEGEND_HEIGHT, LEGEND_SHADES = 110.0, 7.0, 24


@dataclass(frozen=True)
class PanelLayout:
    """Positions of columns (words, EOS, phrases) in a panel, relative to the start of the row of words.

    Attributes:
        column_centres: centre of each column's box.
        is_slanted: whether words slant.
        left_extent, right_extent, top_extent, bottom_extent: extents of the panel.
    """

    column_centres: Sequence[tuple[float, float]]
    is_slanted: bool
    left_extent: float
    right_extent: float
    top_extent: float
    bottom_extent: float


def compute_panel_layout(words: Sequence[str], phrases: Sequence[PhraseColumn]) -> PanelLayout:
    """Place J words, the last of which is EOS, side by side, and each phrase over the centre of its span."""
    widths = [compute_text_width(word, WORD_SIZE) for word in words]
    slots = [max(MIN_SLOT_WIDTH, width + WORD_GAP) for width in widths]
    is_slanted = sum(slots) + WORD_GAP > MAX_UPRIGHT_WIDTH
    if is_slanted:
        slots = [MIN_SLOT_WIDTH] * len(words)
    for phrase in phrases:
        # Make room for the label and a gap between boxes.
        phrase_slots = slice(phrase.first, phrase.last + 1)
        missing = compute_text_width(phrase.label, LABEL_SIZE) + 4 + 5 - sum(slots[phrase_slots])
        slots[phrase_slots] = [slot + max(0.0, missing) / len(slots[phrase_slots]) for slot in slots[phrase_slots]]
    ends = [*accumulate(slots)]
    ends[-1] += WORD_GAP
    starts = [end - slot for end, slot in zip(ends, slots, strict=True)]
    spans = [(place, place, 0) for place in range(len(words))]
    spans += [(phrase.first, phrase.last, phrase.height) for phrase in phrases]
    places = [((starts[first] + ends[last]) / 2, -LEVEL_HEIGHT * height) for first, last, height in spans]
    reaches = [width * cos(radians(SLANT_DEGREES)) if is_slanted else 0.0 for width in widths]
    left = max(0.0, *(reach - x for reach, (x, _) in zip(reaches, places, strict=False)))
    top = BOX_HEIGHT - min(y for _, y in places)
    return PanelLayout(places, is_slanted, left, ends[-1], top, BOX_HEIGHT + WORD_SIZE + max(reaches))


def draw_attention_figure(
    title: str, attended: AttendedSentence, steps: Sequence[int], reference: str = ""
) -> "Figure":
    """Draw the figure; SVG identifiers of panel N, from 1, begin with `panel-N-`.

    Args:
        title: title, may be empty.
        attended: the sentence and its attention.
        steps: steps with a panel, from 0.
        reference: reference translation, may be empty.
    """
    layout = compute_panel_layout(attended.words, attended.phrases)
    panel_spacing = max(layout.left_extent + layout.right_extent, MIN_WIDTH if len(steps) == 1 else 0.0) + PANEL_GAP
    columns = max(1, min(len(steps), int((MAX_ROW_WIDTH + PANEL_GAP) / panel_spacing)))
    text_width = max(columns * panel_spacing - PANEL_GAP, MIN_WIDTH)
    # The darkest shade is the highest weight, rounded up to the next tenth.
    max_weight = max(0.1, ceil(float(attended.weights[list(steps)].max()) * 10 - 1e-5) / 10)
    blues = matplotlib.colormaps["Blues"]

    def colour(weight: float) -> str:
        return to_hex(blues(MAX_COLOUR_FRACTION * min(1.0, weight / max_weight)))

    axes, y = create_axes(), MARGIN
    for line in wrap_text(title, TITLE_SIZE, text_width, bold=True) if title else []:
        write_text(axes, (MARGIN, y + LINE_HEIGHT / 2), line, TITLE_SIZE, bold=True)
        y += LINE_HEIGHT
    y = _draw_translation(axes, attended, steps, text_width - GUTTER, y + 4 if title else y)
    for number, step in enumerate(steps):
        x = MARGIN + number % columns * panel_spacing
        y += LINE_HEIGHT if number % columns == 0 else 0.0
        write_text(axes, (x, y), f"word {step + 1}", NOTE_SIZE, color=HIGHLIGHT_COLOUR)
        write_text(axes, (x + GUTTER, y), attended.translation[step], TOKEN_SIZE, color=HIGHLIGHT_COLOUR, bold=True)
        _draw_panel(
            axes,
            attended,
            layout,
            step,
            colour,
            (x + layout.left_extent, y + LINE_HEIGHT + layout.top_extent),
            f"panel-{number + 1}",
        )
        if number % columns == columns - 1 or step == steps[-1]:
            y += LINE_HEIGHT + layout.top_extent + layout.bottom_extent + PANEL_GAP / 2
    for number, line in enumerate(wrap_text(reference, TOKEN_SIZE, text_width - GUTTER) if reference else []):
        if number == 0:
            write_text(axes, (MARGIN, y), "reference", NOTE_SIZE, color=NOTE_COLOUR)
        write_text(axes, (MARGIN + GUTTER, y), line, TOKEN_SIZE)
        y += LINE_HEIGHT
    _draw_legend(axes, colour, max_weight, attended.gates is not None, y)
    return crop_figure(axes, text_width + 2 * MARGIN, y + LEGEND_HEIGHT + MARGIN)


def _draw_translation(
    axes: "Axes", attended: AttendedSentence, steps: Sequence[int], line_width: float, y: float
) -> float:
    """Draw the words of the translation with β as a bar and a number; words with a panel are highlighted.

    The SVG identifier of the bar of step N, from 0, is `gate-N`.

    Args:
        axes: axes in points.
        attended: the sentence and its attention.
        steps: steps with a panel.
        line_width: width of a line of words.
        y: top of the text.

    Returns:
        The bottom of the text.
    """
    slots = [max(BAR_WIDTH, compute_text_width(token, TOKEN_SIZE, bold=True)) + 6 for token in attended.translation]
    for line in break_into_lines(slots, line_width):
        x = MARGIN + GUTTER
        for step in line:
            x, middle = x + slots[step], x + (slots[step] - 6) / 2
            ink = HIGHLIGHT_COLOUR if step in steps else NOTE_COLOUR if step + 1 == len(slots) else TEXT_COLOUR
            token = attended.translation[step]
            write_text(
                axes, (middle, y + LINE_HEIGHT / 2), token, TOKEN_SIZE, color=ink, align="center", bold=step in steps
            )
            if attended.gates is None:
                continue
            beta, base = float(attended.gates[step]), y + LINE_HEIGHT + BAR_HEIGHT
            ink = HIGHLIGHT_COLOUR if step in steps else EDGE_COLOUR
            for high, shade, gid in ((1.0, BAR_BACKGROUND, None), (beta, ink, f"gate-{step}")):
                corner = (middle - BAR_WIDTH / 2, base - BAR_HEIGHT * high)
                axes.add_patch(Rectangle(corner, BAR_WIDTH, BAR_HEIGHT * high, facecolor=shade, linewidth=0, gid=gid))
            ink = HIGHLIGHT_COLOUR if step in steps else NOTE_COLOUR
            write_text(axes, (middle, base + 4), f"{beta:.2f}", LABEL_SIZE, color=ink, align="center")
        y += LINE_HEIGHT
        if attended.gates is not None:
            write_text(axes, (MARGIN, y + BAR_HEIGHT / 2), "β", NOTE_SIZE, color=NOTE_COLOUR)
            y += LINE_HEIGHT + BAR_HEIGHT
    return y


def _draw_panel(
    axes: "Axes",
    attended: AttendedSentence,
    layout: PanelLayout,
    step: int,
    get_colour: Callable[[float], str],
    origin: tuple[float, float],
    panel_id: str,
) -> None:
    """Draw the tree with the weights of one step.

    The SVG identifier of the box of column N, from 0, is `PANEL-column-N`; the edges from a phrase to its children have
    `PANEL-edges-N`.
    """
    weights = attended.weights[step]
    highest = np.argsort(-weights, kind="stable")[:MAX_NUMBERED_WEIGHTS].tolist()
    numbered = [column for rank, column in enumerate(highest) if rank == 0 or weights[column] >= MIN_NUMBERED_WEIGHT]
    places = [(origin[0] + x, origin[1] + y) for x, y in layout.column_centres]
    labels = ["" for _ in attended.words] + [phrase.label for phrase in attended.phrases]
    for column, phrase in enumerate(attended.phrases, start=len(attended.words)):
        xs, ys = zip(*compute_bracket(places[column][1], [places[child] for child in phrase.children]), strict=True)
        gid = f"{panel_id}-edges-{column}"
        axes.plot(xs, ys, color=EDGE_COLOUR, linewidth=0.7, solid_capstyle="round", gid=gid, zorder=1)
    for column, label in enumerate(labels):
        number = f"{weights[column]:.2f}" if column in numbered else ""
        shade, gid = get_colour(float(weights[column])), f"{panel_id}-column-{column}"
        _draw_box(axes, places[column], label, number, shade, gid)
    for column, word in enumerate(attended.words):
        (x, y), ink = places[column], TEXT_COLOUR if column in numbered else NOTE_COLOUR
        if layout.is_slanted:
            write_text(
                axes, (x, y + BOX_HEIGHT / 2 + 4), word, WORD_SIZE, color=ink, align="right", slant=SLANT_DEGREES
            )
        else:
            write_text(axes, (x, y + BOX_HEIGHT / 2 + 2 + WORD_SIZE / 2), word, WORD_SIZE, color=ink, align="center")


def _draw_box(axes: "Axes", centre: tuple[float, float], label: str, number: str, shade: str, gid: str) -> None:
    """Draw a box with an optional label and an optional number."""
    width = max(
        compute_text_width(label, LABEL_SIZE) + 4, compute_text_width(number, NUMBER_SIZE, bold=True) + 2, BOX_HEIGHT
    )
    height = 2 * BOX_HEIGHT - 4 if label and number else BOX_HEIGHT
    corner, look = (centre[0] - width / 2, centre[1] - height / 2), "round,pad=0,rounding_size=2.5"
    box = FancyBboxPatch(
        corner, width, height, boxstyle=look, facecolor=shade, edgecolor=FRAME_COLOUR, linewidth=0.5, gid=gid, zorder=2
    )
    axes.add_patch(box)
    offset = height / 4 if label and number else 0
    for text, size, y in ((label, LABEL_SIZE, centre[1] - offset), (number, NUMBER_SIZE, centre[1] + offset)):
        if text:
            write_text(
                axes,
                (centre[0], y),
                text,
                size,
                color=get_contrasting_colour(shade),
                align="center",
                bold=text == number,
            )


def _draw_legend(
    axes: "Axes", get_colour: Callable[[float], str], max_weight: float, has_gates: bool, y: float
) -> None:
    x, middle = MARGIN + GUTTER, y + LEGEND_HEIGHT / 2
    for place in range(LEGEND_SHADES):
        # Each shade extends under the next ones, because adjacent rectangles would show seams.
        start = LEGEND_WIDTH * place / LEGEND_SHADES
        shade = get_colour(max_weight * (place + 0.5) / LEGEND_SHADES)
        axes.add_patch(
            Rectangle(
                (x + start, y), LEGEND_WIDTH - start, LEGEND_HEIGHT, facecolor=shade, edgecolor=FRAME_COLOUR, lw=0
            )
        )
    axes.add_patch(Rectangle((x, y), LEGEND_WIDTH, LEGEND_HEIGHT, fill=False, edgecolor=FRAME_COLOUR, linewidth=0.5))
    write_text(axes, (x - 4, middle), "α   0", NOTE_SIZE, color=NOTE_COLOUR, align="right")
    note = f"{max_weight:.1f}   attention" + ("; β: weight of phrases, 0 to 1" if has_gates else "")
    write_text(axes, (x + LEGEND_WIDTH + 4, middle), note, NOTE_SIZE, color=NOTE_COLOUR)
