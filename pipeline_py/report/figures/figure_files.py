"""Figures as files: the same figure gives the same bytes, and its text stays text."""

import logging
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline_py.artifact import whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OWN_FONT = "DejaVu Sans"
"""The font that comes with matplotlib."""

OTHER_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Yu Gothic",
    "IPAexGothic",
)
"""Tried in this order for what `OWN_FONT` lacks, by matplotlib and by whoever shows an SVG."""

STYLE: Any = {
    "font.family": [OWN_FONT, *OTHER_FONTS, "sans-serif"],
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "plot",
    # A `$` in a text is a dollar, not the start of a formula.
    "text.parse_math": False,
}


@contextmanager
def style(own: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Draw and save within it: neither a user's matplotlibrc nor the fonts of a machine change a byte of an SVG.

    Args:
        own: further settings of matplotlib.
    """
    import matplotlib

    fonts = logging.getLogger("matplotlib.font_manager")
    level = fonts.level
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE | dict(own or {}))
        # What is missing is said once, by `save`, in place of once for each text.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        fonts.setLevel(logging.ERROR)
        try:
            yield
        finally:
            fonts.setLevel(level)


def save(figure: "Figure", title: str, svg_output: Path | None, pdf_output: Path | None) -> None:
    """Write a figure; stderr says which characters of a PDF no font has."""
    if pdf_output is not None:
        from matplotlib.text import Text

        _say_what_is_missing("".join(found.get_text() for found in figure.findobj(Text) if isinstance(found, Text)))
    for path, kind, date in ((svg_output, "svg", "Date"), (pdf_output, "pdf", "CreationDate")):
        if path is not None:
            with whole(path) as temporary:
                figure.savefig(temporary, format=kind, metadata={"Title": title, date: None})


def _say_what_is_missing(text: str) -> None:
    from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

    installed = {font.name for font in fontManager.ttflist}
    fonts = [get_font(findfont(FontProperties(family=name))) for name in (OWN_FONT, *OTHER_FONTS) if name in installed]
    lacking = sorted(
        {char for char in text if char != "\n" and not any(font.get_char_index(ord(char)) for font in fonts)}
    )
    if lacking:
        print(f"no font has {''.join(lacking)}; the PDF shows boxes; install {OTHER_FONTS[0]}", file=sys.stderr)
