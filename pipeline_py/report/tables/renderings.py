"""A sheet as TSV, JSON, Markdown, LaTeX and plain text."""

import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from pipeline_py.files.artifacts import write_json, writing
from pipeline_py.report.tables.sheet import Cell, Sheet

if TYPE_CHECKING:
    import pandas as pd


def write(
    sheet: Sheet,
    output: Path,
    sheet_output: Path | None = None,
    markdown_output: Path | None = None,
    latex_output: Path | None = None,
    answers: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write a table in all its formats and print it on stderr; answers, by question, stand below it in Markdown."""
    with writing(output) as file:
        values(sheet).to_csv(file, sep="\t", index=False, lineterminator="\n")
        file.writelines(f"# {note}\n" for note in sheet.departures)
    if sheet_output is not None:
        write_json(sheet_output, sheet.as_json())
    for path, text in ((markdown_output, markdown(sheet, answers or {})), (latex_output, latex(sheet))):
        if path is not None:
            with writing(path) as file:
                file.write(text)
    sys.stderr.write(plain(sheet, shutil.get_terminal_size().columns))


def values(sheet: Sheet) -> "pd.DataFrame":
    """What programs read: marks and deviations in columns of their own, behind their number."""
    import pandas as pd

    columns: list[tuple[str, list[str]]] = []
    for place, column in enumerate(sheet.columns):
        cells = [row[place] for row in sheet.rows]
        columns.append((column.name, [cell.plain for cell in cells]))
        if column.has_spread:
            columns.append((f"{column.name}_sd", [cell.spread for cell in cells]))
        if column.has_marks:
            columns.append((f"{column.name}_marks", [cell.marks for cell in cells]))
    return pd.concat([pd.Series(cells, name=name, dtype=object) for name, cells in columns], axis=1)


def plain(sheet: Sheet, width: int) -> str:
    """Draw for a terminal: names to the left, numbers to the right with their marks beyond them.

    Args:
        sheet: the table.
        width: columns of the terminal; what a wider table has more follows below, under the same names.
    """
    columns = []
    for place, header in enumerate(sheet.heads):
        cells = [Cell(header), *(row[place] for row in sheet.rows)]
        text = max(_width(cell.text) for cell in cells)
        marks = max(_width(cell.marks) for cell in cells)
        columns.append([_padded(cell, text, marks, to_the_left=place == 0) for cell in cells])
    drawn = [sheet.title]
    for block in _blocks(columns, width):
        lines = ["  ".join(cells).rstrip() for cells in zip(*block, strict=True)]
        rule = "-" * max(map(_width, lines))
        drawn += ["", lines[0], rule, *lines[1:], rule]
    notes = [
        textwrap.fill(note, width, break_long_words=False, break_on_hyphens=False)
        for note in (*sheet.departures, *sheet.notes)
    ]
    return "\n".join([*drawn, *notes]) + "\n"


def _blocks(columns: Sequence[list[str]], width: int) -> list[list[list[str]]]:
    """Divide columns into groups that are no wider than that, each behind the first column."""
    names, *others = columns
    blocks = [[names]]
    for column in others:
        if len(blocks[-1]) > 1 and sum(2 + _width(one[0]) for one in [*blocks[-1], column]) - 2 > width:
            blocks.append([names])
        blocks[-1].append(column)
    return blocks


def markdown(sheet: Sheet, answers: Mapping[str, Sequence[str]] = MappingProxyType({})) -> str:
    """Draw as a GitHub-flavoured Markdown table with the notes below, and answers by question."""
    header = "| " + " | ".join(map(_markdown_text, sheet.heads)) + " |"
    rule = "|---" + "|---:" * (len(sheet.columns) - 1) + "|"
    rows = ["| " + " | ".join(map(_markdown_cell, row)) + " |" for row in sheet.rows]
    notes = [line for note in sheet.all_notes() for line in ("", _markdown_text(note))]
    asked = [
        line
        for question, sentences in answers.items()
        for line in ("", f"**{question}**", "", *(f"- {_markdown_text(sentence)}" for sentence in sentences))
    ]
    if asked:
        asked += ["", "CI: confidence interval. Verdicts are not corrected for the number of comparisons."]
    return "\n".join([f"**{_markdown_text(sheet.title)}**", "", header, rule, *rows, *notes, *asked]) + "\n"


def latex(sheet: Sheet) -> str:
    """Draw as a LaTeX table; its preamble needs the package booktabs, and other scripts than Latin need XeLaTeX."""
    import pandas as pd

    frame = pd.DataFrame([[*map(_latex_cell, row)] for row in sheet.rows], columns=[*map(_latex_text, sheet.heads)])
    caption = " ".join(map(_latex_text, [sheet.title.rstrip(".") + ".", *sheet.all_notes()]))
    return "\n".join(
        [
            "% \\usepackage{booktabs}",
            "\\begin{table}",
            "\\centering",
            frame.to_latex(index=False, column_format="l" + "r" * (len(sheet.columns) - 1)).rstrip(),
            f"\\caption{{{caption}}}",
            "\\end{table}",
            "",
        ]
    )


def _padded(cell: Cell, width: int, marks: int, to_the_left: bool) -> str:
    space = " " * (width - _width(cell.text))
    text = cell.text + space if to_the_left else space + cell.text
    return text + cell.marks + " " * (marks - _width(cell.marks))


def _width(text: str) -> int:
    """Columns of a terminal that a text takes: two for an ideograph, none for a combining accent."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def _markdown_text(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|&~$])", r"\\\1", text)


def _markdown_cell(cell: Cell) -> str:
    text = _markdown_text(cell.text)
    bold = f"**{text}**" if cell.bold else text
    return bold + (f"<sup>{_markdown_text(cell.marks)}</sup>" if cell.marks else "")


LATEX = {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    "–": "--",
    # In front of these a line break `\\` would take them for its own argument.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
# What fonts of text may lack.
LATEX_MATHEMATICS = {
    "†": "\\dagger",
    "‡": "\\ddagger",
    "↑": "\\uparrow",
    "⇑": "\\Uparrow",
    "↓": "\\downarrow",
    "⇓": "\\Downarrow",
    "α": "\\alpha",
    "β": "\\beta",
}
LATEX_TEXT = LATEX | {character: f"${command}$" for character, command in LATEX_MATHEMATICS.items()}


def _latex_text(text: str) -> str:
    return "".join(LATEX_TEXT.get(character, character) for character in text)


def _latex_cell(cell: Cell) -> str:
    text = _latex_text(cell.text)
    bold = f"\\textbf{{{text}}}" if cell.bold else text
    return bold + _latex_marks(cell.marks)


def _latex_marks(marks: str) -> str:
    """Raise symbols, as mathematics if they are known as such."""
    if {*marks} <= {"*", *LATEX_MATHEMATICS}:
        return f"$^{{{''.join(LATEX_MATHEMATICS.get(mark, mark) for mark in marks)}}}$" if marks else ""
    return f"\\textsuperscript{{{_latex_text(marks)}}}"
