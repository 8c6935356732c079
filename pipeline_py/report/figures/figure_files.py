"""Save figures as files or inline SVG; the same figure gives the same bytes."""

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
"""Font that is distributed with matplotlib."""

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
"""Fonts for characters that `DEFAULT_FONT` lacks, in order, for matplotlib and SVG viewers."""

BASE_STYLE: Any = {
    "font.family": [DEFAULT_FONT, *FALLBACK_FONTS, "sans-serif"],
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "plot",
    # Do not parse `$` as the start of a formula.
    "text.parse_math": False,
}


@contextmanager
def use_style(extra_settings: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Set a fixed style in this context, independent of a user's matplotlibrc and of installed fonts.

    Args:
        extra_settings: further settings of matplotlib.
    """
    import matplotlib

    fonts = logging.getLogger("matplotlib.font_manager")
    level = fonts.level
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(BASE_STYLE | dict(extra_settings or {}))
        # `save_figure` reports missing glyphs once instead of once for each text.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        fonts.setLevel(logging.ERROR)
        try:
            yield
        finally:
            fonts.setLevel(level)


def save_figure(figure: "Figure", title: str, svg_output: Path | None, pdf_output: Path | None) -> None:
    """Write a figure as SVG and PDF, and report characters without a font on stderr."""
    if pdf_output is not None:
        from matplotlib.text import Text

        _report_missing_glyphs(
            "".join(artist.get_text() for artist in figure.findobj(Text) if isinstance(artist, Text))
        )
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
    missing_characters = sorted(
        {char for char in text if char != "\n" and not any(font.get_char_index(ord(char)) for font in fonts)}
    )
    if missing_characters:
        print(
            f"no installed font has {''.join(missing_characters)}; the PDF shows boxes instead; "
            f"install {FALLBACK_FONTS[0]}",
            file=sys.stderr,
        )


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
"""CSS values of figure colours; the style sheet defines other shades for dark mode."""

_URL_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_FONT_FAMILY = re.compile(r"(font: (?:bold )?[\d.]+px) [^;]*|font-family: [^;]*(?:; )?")
_LONG_DECIMAL = re.compile(r"(\.\d\d)\d+")
_HEX_COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")

COORDINATE_ATTRIBUTES = {"d", "x", "y", "transform"}
"""Attributes with coordinates."""


@dataclass(frozen=True)
class InlineFigure:
    """A figure of the page.

    Attributes:
        markup: an `svg` element.
        width: width in pixels at which text has its nominal size.
        title: description of the figure.
        has_fixed_colours: whether it keeps its colours and a white background.
        file_link: address of the figure as a file, relative to the page; "" if there is none.
    """

    markup: str
    width: int
    title: str
    has_fixed_colours: bool = False
    file_link: str = ""


def build_inline_figure(svg: str, title: str, figure_id: str, has_fixed_colours: bool = False) -> InlineFigure:
    """Convert an SVG file of matplotlib to an inline figure.

    Args:
        svg: content of the file.
        title: description of the figure.
        figure_id: prefix of identifiers, unique on the page.
        has_fixed_colours: keep colours, for figures whose shades have a meaning.
    """
    ElementTree.register_namespace("", SVG_NAMESPACE)
    ElementTree.register_namespace("xlink", XLINK_NAMESPACE)
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            # A style element would apply to the whole page.
            if child.tag in (f"{{{SVG_NAMESPACE}}}metadata", f"{{{SVG_NAMESPACE}}}style", f"{{{SVG_NAMESPACE}}}title"):
                parent.remove(child)
    referenced_ids = {
        target
        for element in root.iter()
        for key, value in element.attrib.items()
        for target in ([value[1:]] if key == f"{{{XLINK_NAMESPACE}}}href" else _URL_REFERENCE.findall(value))
    }
    for element in root.iter():
        for key in ("text", "tail"):
            if not (getattr(element, key) or "").strip():
                setattr(element, key, None)
        _prefix_identifiers(element, f"{figure_id}-", referenced_ids)
        for key in COORDINATE_ATTRIBUTES & element.attrib.keys():
            # Hundredths of a point are precise enough.
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
    """Convert a figure to an inline figure. Call it within `use_style()`."""
    file = BytesIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return build_inline_figure(file.getvalue().decode("utf-8"), title, figure_id, has_fixed_colours)


def _replace_colour(match: re.Match[str]) -> str:
    """Return the CSS value of a colour."""
    return STYLE_SHEET_COLOURS.get(match[0].lower(), match[0])


def _remove_font_families(style: str) -> str:
    """Remove font families from a style, because the style sheet sets them."""
    return _FONT_FAMILY.sub(lambda match: f"{match[1]} var(--figures)" if match[1] else "", style)


def _prefix_identifiers(element: ElementTree.Element, prefix: str, referenced_ids: set[str]) -> None:
    """Prefix referenced identifiers, and remove the others."""
    for key, value in list(element.attrib.items()):
        if key == "id":
            if value in referenced_ids:
                element.set(key, prefix + value)
            else:
                del element.attrib[key]
        elif key == f"{{{XLINK_NAMESPACE}}}href" and value.startswith("#"):
            element.set(key, f"#{prefix}{value[1:]}")
        else:
            element.set(key, _URL_REFERENCE.sub(lambda match: f"url(#{prefix}{match[1]})", value))
