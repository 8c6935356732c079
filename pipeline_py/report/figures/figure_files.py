"""Figures as files and as parts of a page: the same figure gives the same bytes."""

import logging
import re
import sys
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline_py.files.artifacts import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DEFAULT_FONT = "DejaVu Sans"
"""The font that comes with matplotlib."""

FALLBACK_FONTS = (
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
"""Tried in this order for what `DEFAULT_FONT` lacks, by matplotlib and by whoever shows an SVG."""

BASE_STYLE: Any = {
    "font.family": [DEFAULT_FONT, *FALLBACK_FONTS, "sans-serif"],
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "plot",
    # A `$` in a text is a dollar, not the start of a formula.
    "text.parse_math": False,
}


@contextmanager
def use_style(extra_settings: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Draw and save within it: neither a user's matplotlibrc nor the fonts of a machine change a byte of an SVG.

    Args:
        extra_settings: further settings of matplotlib.
    """
    import matplotlib

    fonts = logging.getLogger("matplotlib.font_manager")
    level = fonts.level
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(BASE_STYLE | dict(extra_settings or {}))
        # What is missing is said once, by `save`, in place of once for each text.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        fonts.setLevel(logging.ERROR)
        try:
            yield
        finally:
            fonts.setLevel(level)


def save_figure(figure: "Figure", title: str, svg_output: Path | None, pdf_output: Path | None) -> None:
    """Write a figure; stderr says which characters of a PDF no font has."""
    if pdf_output is not None:
        from matplotlib.text import Text

        _report_missing_glyphs("".join(found.get_text() for found in figure.findobj(Text) if isinstance(found, Text)))
    for path, kind, date in ((svg_output, "svg", "Date"), (pdf_output, "pdf", "CreationDate")):
        if path is not None:
            with write_atomically(path) as temporary:
                figure.savefig(temporary, format=kind, metadata={"Title": title, date: None})


def _report_missing_glyphs(text: str) -> None:
    from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

    installed = {font.name for font in fontManager.ttflist}
    fonts = [
        get_font(findfont(FontProperties(family=name))) for name in (DEFAULT_FONT, *FALLBACK_FONTS) if name in installed
    ]
    lacking = sorted(
        {char for char in text if char != "\n" and not any(font.get_char_index(ord(char)) for font in fonts)}
    )
    if lacking:
        print(f"no font has {''.join(lacking)}; the PDF shows boxes; install {FALLBACK_FONTS[0]}", file=sys.stderr)


SVG_NAMESPACE, XLINK_NAMESPACE = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
PIXELS_PER_POINT = 4 / 3

STYLE_SHEET_COLOURS = {
    "#000000": "currentColor",
    "#ffffff": "var(--paper)",
    "#dddddd": "var(--rule)",
    "#555555": "var(--muted)",
    "#0072b2": "var(--blue)",
    "#d55e00": "var(--vermilion)",
    "#009e73": "var(--green)",
    "#cc79a7": "var(--purple)",
    "#e69f00": "var(--orange)",
    "#56b4e9": "var(--sky)",
}
"""Inks of figures → what the style sheet calls them, which has another shade of each on a dark page."""

_URL_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_FONT_FAMILY = re.compile(r"(font: (?:bold )?[\d.]+px) [^;]*|font-family: [^;]*(?:; )?")
_LONG_DECIMAL = re.compile(r"(\.\d\d)\d+")
_HEX_COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")

COORDINATE_ATTRIBUTES = {"d", "x", "y", "transform"}
"""Attributes that say where something is."""


@dataclass(frozen=True)
class InlineFigure:
    """A figure of a page.

    Attributes:
        markup: an `svg` element, to be written as it is.
        width: in pixels, at which its text has its size.
        title: says in words what it shows.
        has_fixed_colours: whether it keeps its own colours, and so a white ground.
    """

    markup: str
    width: int
    title: str
    has_fixed_colours: bool = False


def build_inline_figure(svg: str, title: str, figure_id: str, has_fixed_colours: bool = False) -> InlineFigure:
    """Make a part of a page of an SVG that matplotlib wrote.

    Args:
        svg: the whole file.
        title: says in words what the figure shows.
        figure_id: of the figure on the page; identifiers begin with it.
        has_fixed_colours: leave colours as they are, for figures whose shades mean something.
    """
    ElementTree.register_namespace("", SVG_NAMESPACE)
    ElementTree.register_namespace("xlink", XLINK_NAMESPACE)
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            # A style of all elements would be one of the whole page.
            if child.tag in (f"{{{SVG_NAMESPACE}}}metadata", f"{{{SVG_NAMESPACE}}}style", f"{{{SVG_NAMESPACE}}}title"):
                parent.remove(child)
    referred = {
        target
        for element in root.iter()
        for key, value in element.attrib.items()
        for target in ([value[1:]] if key == f"{{{XLINK_NAMESPACE}}}href" else _URL_REFERENCE.findall(value))
    }
    for element in root.iter():
        for key in ("text", "tail"):
            if not (getattr(element, key) or "").strip():
                setattr(element, key, None)
        _prefix_identifiers(element, f"{figure_id}-", referred)
        for key in COORDINATE_ATTRIBUTES & element.attrib.keys():
            # A hundredth of a point cannot be seen.
            element.set(key, _LONG_DECIMAL.sub(r"\1", element.attrib[key]))
        if "style" in element.attrib:
            style = _remove_font_families(element.attrib["style"])
            element.set("style", style if has_fixed_colours else _HEX_COLOUR.sub(_replace_colour, style))
    width = round(float(root.get("width", "0").removesuffix("pt")) * PIXELS_PER_POINT)
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.set("role", "img")
    root.set("aria-label", title)
    root.set("style", f"--width: {width}px")
    return InlineFigure(ElementTree.tostring(root, encoding="unicode"), width, title, has_fixed_colours)


def render_inline_figure(figure: "Figure", title: str, figure_id: str, has_fixed_colours: bool = False) -> InlineFigure:
    """Draw a figure for a page; within `figure_files.style`."""
    file = BytesIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return build_inline_figure(file.getvalue().decode("utf-8"), title, figure_id, has_fixed_colours)


def _replace_colour(match: re.Match[str]) -> str:
    """What the style sheet calls a colour."""
    return STYLE_SHEET_COLOURS.get(match[0].lower(), match[0])


def _remove_font_families(style: str) -> str:
    """A style without the families of its font, which the style sheet names once."""
    return _FONT_FAMILY.sub(lambda found: f"{found[1]} var(--figures)" if found[1] else "", style)


def _prefix_identifiers(element: ElementTree.Element, prefix: str, referenced_ids: set[str]) -> None:
    """Put the figure's name before identifiers; those that nothing refers to go."""
    for key, value in list(element.attrib.items()):
        if key == "id":
            if value in referenced_ids:
                element.set(key, prefix + value)
            else:
                del element.attrib[key]
        elif key == f"{{{XLINK_NAMESPACE}}}href" and value.startswith("#"):
            element.set(key, f"#{prefix}{value[1:]}")
        else:
            element.set(key, _URL_REFERENCE.sub(lambda found: f"url(#{prefix}{found[1]})", value))
