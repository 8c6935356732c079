"""Tests of renderings of sheets."""

import csv
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline_py.report.tables import renderings
from pipeline_py.report.tables.sheet import Cell, Column, Sheet, read_sheet

NAMES = ["+SDAtt", "SDAtt [stanza]", "a_b & c%", "*x* `y` ~z~ | <b>", "C:\\new\\line $5", "句法 (n=4)", "1. ! # }d"]
SHEET = Sheet(
    title="Title: *all* names",
    columns=[Column("system", "System"), Column("t", "test_2016", has_spread=True, has_marks=True)],
    rows=[[Cell(name), Cell("12.34", spread="0.50", marks="**†", bold=True)] for name in NAMES],
    notes=["**: p < 0.01 | seed_1"],
    bold_means="better than a_b",
    departures=["Not as printed in the paper (a_b): another Gaussian."],
)
KEPT_SHEETS = [read_sheet(path) for path in sorted((Path(__file__).parents[3] / "docs" / "kept").rglob("*.sheet.json"))]
"""Tables of experiments."""


def test_plain_text_aligns_columns() -> None:
    lines = renderings.render_plain_text(SHEET, 80).splitlines()[2:]
    starts = [len(line[: line.index("12.34")].encode("gb18030")) for line in lines if "12.34" in line]
    assert len(starts) == len(NAMES) and len(set(starts)) == 1
    assert lines[0].startswith("System ") and lines[0].endswith("test_2016")


def test_plain_text_wraps_columns_of_wide_tables() -> None:
    names = ["system", "first", "second", "third"]
    rows = [[Cell(f"{row}{'.' * 20}"), *(Cell(f"{name} of {row}") for name in names[1:])] for row in "ab"]
    note = "A note of many words, each of which stays whole, however narrow."
    sheet = Sheet("T", [Column(name, name) for name in names], rows, [note])
    wide = renderings.render_plain_text(sheet, 70)
    assert wide.count("---\n") == 2 and max(map(len, wide.splitlines())) <= 70
    narrow = renderings.render_plain_text(sheet, 48).splitlines()
    assert max(map(len, narrow)) <= 48 and sum(line.startswith("a...") for line in narrow) == 2
    assert [line.split()[1:] for line in narrow if line.startswith("system")] == [["first", "second"], ["third"]]
    assert " ".join(narrow[-2:]) == note
    assert max(map(len, renderings.render_plain_text(sheet, 10).splitlines())) < 40, "columns are never truncated"


def test_markdown_parses_to_original_texts() -> None:
    markdown_it = pytest.importorskip("markdown_it")
    tokens = (
        markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table").parse(renderings.render_markdown(SHEET))
    )
    texts = [
        "".join(child.content for child in token.children if child.type.startswith("text"))
        for token in tokens
        if token.type == "inline"
    ]
    cells = [text for name in NAMES for text in (name, "12.34**†")]
    assert texts == [
        "Title: *all* names",
        "System",
        "test_2016",
        *cells,
        *SHEET.departures,
        *SHEET.notes,
        "Bold: better than a_b.",
    ]


def test_collect_notes_explains_bold_only_if_present() -> None:
    plain = replace(SHEET, rows=[[Cell("A"), Cell("12.34")]])
    assert SHEET.collect_notes() == [*SHEET.departures, *SHEET.notes, "Bold: better than a_b."]
    assert plain.collect_notes() == [*SHEET.departures, *SHEET.notes]


def test_latex_escapes_special_characters() -> None:
    latex = renderings.render_latex(SHEET)
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
def test_latex_formats_marks_as_superscripts(marks: str, raised: str) -> None:
    latex = renderings.render_latex(
        Sheet("T", [Column("s", "System"), Column("b", "β")], [[Cell("α > 0.2"), Cell("1", marks=marks)]])
    )
    assert f"$\\alpha$ \\textgreater{{}} 0.2 & 1{raised} \\\\" in latex and "System & $\\beta$" in latex


def test_latex_has_notes_below_the_rows_and_a_short_caption() -> None:
    latex = renderings.render_latex(SHEET)
    before, body, notes = re.split(r"\\begin{tabular}|\\end{tabular}", latex)
    assert before.endswith("\\caption{Title: {*}all{*} names}\n") and latex.count("\\caption") == 1
    for text in ("another Gaussian", "seed\\_1", "Bold: better than a\\_b."):
        assert text in notes and text not in before + body
    assert "minipage" not in renderings.render_latex(replace(SHEET, notes=(), departures=(), bold_means=""))


@pytest.mark.parametrize("sheet", [SHEET, *KEPT_SHEETS], ids=lambda sheet: sheet.title)
def test_latex_closes_all_groups_and_environments(sheet: Sheet) -> None:
    open_groups: list[str] = []
    for command, environment, brace in re.findall(
        r"(?<!\\)\\(begin|end){(\w+)}|(?<!\\)([{}])", renderings.render_latex(sheet)
    ):
        if command == "begin" or brace == "{":
            open_groups.append(environment or "}")
        else:
            assert open_groups.pop() == (environment or "}")
    assert open_groups == []


def test_latex_compiles(tmp_path: Path) -> None:
    engine = next(filter(shutil.which, ("pdflatex", "lualatex", "xelatex")), None)
    if engine is None:
        pytest.skip("no TeX is installed: apt-get install texlive-latex-recommended")
    if subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True).returncode:
        pytest.skip("TeX has no booktabs: apt-get install texlive-latex-recommended")
    latin_sheet = replace(SHEET, rows=[row for row in SHEET.rows if row[0].text.isascii()])
    tables = map(renderings.render_latex, [latin_sheet, *KEPT_SHEETS])
    document = [r"\documentclass{article}", r"\usepackage{booktabs}", r"\begin{document}", *tables, r"\end{document}"]
    (tmp_path / "tables.tex").write_text("\n".join(document), encoding="utf-8")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert result.returncode == 0, result.stdout[-3000:]
    assert (tmp_path / "tables.pdf").stat().st_size > 10_000


def test_write_sheet_writes_all_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("t.tsv", "t.json", "t.md", "t.tex")
    renderings.write_sheet(SHEET, *(tmp_path / name for name in names))
    with (tmp_path / "t.tsv").open(encoding="utf-8", newline="") as file:
        header, *rows, (comment,) = csv.reader(file, delimiter="\t")
    assert header == ["system", "t", "t_sd", "t_marks"]
    assert rows == [[name, "12.34", "0.50", "**†"] for name in NAMES]
    assert comment == f"# {SHEET.departures[0]}"
    for ending in ("md", "tex"):
        assert "another Gaussian" in (tmp_path / f"t.{ending}").read_text(encoding="utf-8")
    assert "another Gaussian" in capsys.readouterr().err
    renderings.write_sheet(SHEET, *(tmp_path / name for name in names))
    again = read_sheet(tmp_path / "t.json")
    assert again == SHEET and renderings.render_markdown(again) == (tmp_path / "t.md").read_text(encoding="utf-8")
    assert capsys.readouterr().err == renderings.render_plain_text(SHEET, 80)


def test_data_frame_has_raw_values() -> None:
    sheet = Sheet(
        "T", [Column("s", "S"), Column("n", "N")], [[Cell("x"), Cell("1,234", "1234")], [Cell("y"), Cell("–", "")]]
    )
    assert renderings.to_data_frame(sheet).to_csv(sep="\t", index=False) == "s\tn\nx\t1234\ny\t\n"


def test_only_markdown_has_answers(tmp_path):
    names = [tmp_path / name for name in ("t.tsv", "t.json", "t.md", "t.tex")]
    answers = {"Does syntax help?": ["A_1: yes, +1.2.", "B: no."]}
    renderings.write_sheet(SHEET, *names, answers)
    assert names[2].read_text(encoding="utf-8") == (
        renderings.render_markdown(SHEET) + "\n**Does syntax help?**\n\n- A\\_1: yes, +1.2.\n- B: no.\n"
        "\nCI: confidence interval. Verdicts are not corrected for the number of comparisons.\n"
    )
    assert not any("yes" in path.read_text(encoding="utf-8") for path in (names[0], names[1], names[3]))
