"""Tests of inline figures."""

import re
import xml.etree.ElementTree as ElementTree

from pipeline_py.report.figures import figure_files
from pipeline_py.report.figures.figure_files import STYLE_SHEET_COLOURS, SVG_NAMESPACE, render_inline_figure
from pipeline_py.report.figures.line_figure import LINE_FIGURE_STYLE, LineSeries, draw_lines, get_line_style

LABELS = {
    "x_label": "Words <b>&",
    "y_label": "BLEU",
    "group_names": ["10", "20"],
    "group_counts": ["5", "7"],
    "size_label": "s",
}


def render_markup(name: str, own_colours: bool = False) -> str:
    with figure_files.use_style(LINE_FIGURE_STYLE):
        figure = draw_lines(
            [LineSeries(get_line_style(place), [0, 1], [30 + place, 20]) for place in range(8)], **LABELS
        )
        return render_inline_figure(figure, "BLEU & length", name, own_colours).markup


def test_identifiers_of_two_figures_are_disjoint():
    first, second = (ElementTree.fromstring(render_markup(name)) for name in ("a", "b"))
    names = [{element.get("id") for element in root.iter() if element.get("id")} for root in (first, second)]
    assert names[0] and not names[0] & names[1]
    for root, figure_names in zip((first, second), names, strict=True):
        markup = ElementTree.tostring(root, encoding="unicode")
        referred = {*re.findall(r'href="#([^"]+)"', markup), *re.findall(r"url\(#([^)]+)\)", markup)}
        assert referred and referred <= figure_names


def test_colours_are_replaced_by_css_variables():
    assert not re.search(r"#[0-9a-f]{6}\b", re.sub(r'(id|href)="[^"]*"', "", render_markup("a")))
    assert "var(--vermilion)" in render_markup("a") and "#d55e00" in render_markup("a", own_colours=True)
    assert {get_line_style(place).colour for place in range(20)} <= {*STYLE_SHEET_COLOURS}


def test_inline_figure_has_text_and_label():
    root = ElementTree.fromstring(render_markup("a"))
    texts = ["".join(element.itertext()) for element in root.iter(f"{{{SVG_NAMESPACE}}}text")]
    assert {"Words <b>&", "(below: s)", "10", "20", "5", "7"} <= {*texts}
    assert root.get("aria-label") == "BLEU & length" and root.get("role") == "img"
    assert not list(root.iter(f"{{{SVG_NAMESPACE}}}style")), "a style element would apply to the whole page"


def test_line_styles_of_40_systems_differ():
    looks = [get_line_style(place) for place in range(40)]
    assert len({(look.colour, look.marker, str(look.dashes)) for look in looks}) == 40
