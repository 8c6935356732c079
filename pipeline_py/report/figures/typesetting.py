"""Text in figures: unprintable characters, widths and line breaks.

Widths depend only on the font of matplotlib, so that figures are the same on all machines: an ideograph is as wide as
it is high, and a character that DejaVu Sans lacks is as wide as the replacement glyph.
"""

import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.ft2font import FT2Font

ELLIPSIS = "…"


def replace_unprintable(text: str) -> str:
    """Replace characters that SVG text cannot contain: control characters, surrogates and line separators."""
    return "".join(
        " " if category == "Zs" else "\ufffd" if category in ("Cc", "Cn", "Cs", "Zl", "Zp") else character
        for character in text
        for category in (unicodedata.category(character),)
    )


def compute_text_width(text: str, font_size: float, bold: bool = False) -> float:
    """Return the width of a line in points, at a font size in points."""
    return font_size * sum(_compute_advance(character, bold) for character in text)


def truncate_text(text: str, font_size: float, max_width: float) -> str:
    """Truncate a text with an ellipsis if it is wider than `max_width` points."""
    if compute_text_width(text, font_size) <= max_width:
        return text
    while text and compute_text_width(text + ELLIPSIS, font_size) > max_width:
        text = text[:-1]
    return text + ELLIPSIS


def break_into_lines(widths: Sequence[float], max_width: float) -> list[range]:
    """Break a row of boxes into lines of at most `max_width` points; a wider box gets a separate line."""
    lines: list[range] = []
    start, used = 0, 0.0
    for index, width in enumerate(widths):
        if index > start and used + width > max_width:
            lines.append(range(start, index))
            start, used = index, 0.0
        used += width
    return [*lines, range(start, len(widths))] if len(widths) else lines


def wrap_text(text: str, font_size: float, max_width: float, bold: bool = False) -> list[str]:
    """Break a text into lines of at most `max_width` points, at spaces or within words that are wider than a line."""
    words: list[str] = []
    for word in text.split(" "):
        if compute_text_width(word, font_size, bold) > max_width:
            parts = break_into_lines([compute_text_width(character, font_size, bold) for character in word], max_width)
            words += [word[part.start : part.stop] for part in parts]
        else:
            words.append(word)
    space = compute_text_width(" ", font_size, bold)
    lines = break_into_lines([compute_text_width(word, font_size, bold) + space for word in words], max_width + space)
    return [" ".join(words[line.start : line.stop]) for line in lines]


@cache
def _compute_advance(character: str, bold: bool) -> float:
    """Return the width of a character in ems."""
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0.0
    from matplotlib.ft2font import LoadFlags

    font = _load_font(bold)
    glyph = font.load_glyph(font.get_char_index(ord(character)), flags=LoadFlags.NO_HINTING)
    return float(glyph.linearHoriAdvance) / 65536


@cache
def _load_font(bold: bool) -> "FT2Font":
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    # A private copy, because matplotlib changes the size of shared fonts.
    font = FT2Font(findfont(FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal")))
    font.set_size(1, 72)
    return font
