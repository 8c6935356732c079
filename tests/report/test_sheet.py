"""Renderings: what stands in a cell comes out as it went in."""

import io

import pytest

from pipeline_py.report import sheet
from pipeline_py.report.sheet import Cell, Sheet

NAMES = ["+SDAtt", "SDAtt [stanza]", "a_b & c%", "*x* `y` ~z~ | <b>", "C:\\new\\line $5", "句法 (n=4)", "1. ! # {d}"]
SHEET = Sheet(
    title="Title: *all* names",
    columns=["System", "test_2016"],
    rows=[[Cell(name), Cell("12.34", marks="**†", bold=True)] for name in NAMES],
    notes=["**: p < 0.01 | seed_1"],
    bold_means="better than a_b",
)


def test_plain_columns_line_up_in_a_terminal() -> None:
    lines = sheet.plain(SHEET).splitlines()[2:]
    starts = [len(line[: line.index("12.34")].encode("gb18030")) for line in lines if "12.34" in line]
    assert len(starts) == len(NAMES) and len(set(starts)) == 1
    assert lines[0].startswith("System ") and lines[0].endswith("test_2016")


def test_markdown_is_read_back_as_it_was() -> None:
    markdown_it = pytest.importorskip("markdown_it")
    tokens = markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table").parse(sheet.markdown(SHEET))
    texts = [
        "".join(child.content for child in token.children if child.type.startswith("text"))
        for token in tokens
        if token.type == "inline"
    ]
    cells = [text for name in NAMES for text in (name, "12.34**†")]
    assert texts == ["Title: *all* names", "System", "test_2016", *cells, *SHEET.notes, "Bold: better than a_b."]


def test_latex_leaves_nothing_active() -> None:
    latex = sheet.latex(SHEET)
    body = latex[latex.index("\\midrule") : latex.index("\\bottomrule")]
    rows = body.strip().splitlines()[1:]
    assert len(rows) == len(NAMES)
    for row in rows:
        assert row.replace("\\&", "").count("&") == 1 and row.endswith(" \\\\")
        assert not row.startswith(("[", "*"))
    assert rows[2].startswith("a\\_b \\& c\\% & \\textbf{12.34}$^{**\\dagger}$")
    assert rows[4].startswith("C:\\textbackslash{}new\\textbackslash{}line \\$5 & ")
    assert "p \\textless{} 0.01 \\textbar{} seed\\_1" in latex


@pytest.mark.parametrize(
    ("marks", "raised"),
    [
        ("", ""),
        ("**†", "$^{**\\dagger}$"),
        ("⇑", "$^{\\Uparrow}$"),
        ("‡a", "\\textsuperscript{$\\ddagger$a}"),
        ("#_*", "\\textsuperscript{\\#\\_{*}}"),
    ],
)
def test_latex_raises_any_mark(marks: str, raised: str) -> None:
    latex = sheet.latex(Sheet("T", ["System", "β"], [[Cell("α > 0.2"), Cell("1", marks=marks)]]))
    assert f"$\\alpha$ \\textgreater{{}} 0.2 & 1{raised} \\\\" in latex and "System & $\\beta$" in latex


def test_tsv_quotes_nothing_that_is_plain() -> None:
    file = io.StringIO()
    sheet.write_tsv(file, ["a", "b"], [["x y", "**†"], ["", "1"]])
    assert file.getvalue() == "a\tb\nx y\t**†\n\t1\n"
