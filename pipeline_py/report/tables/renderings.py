"""Render a sheet as TSV, JSON, Markdown, LaTeX and plain text."""

import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from pipeline_py.files.artifacts import open_atomic_text_file, write_json
from pipeline_py.report.tables.sheet import Cell, Sheet

if TYPE_CHECKING:
    import pandas as pd


def write_sheet(
    sheet: Sheet,
    tsv_output: Path,
    sheet_output: Path | None = None,
    markdown_output: Path | None = None,
    latex_output: Path | None = None,
    answers: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write a table in these formats and print it on stderr; Markdown also has the answers by question."""
    with open_atomic_text_file(tsv_output) as file:
        to_data_frame(sheet).to_csv(file, sep="\t", index=False, lineterminator="\n")
        file.writelines(f"# {note}\n" for note in sheet.departures)
    if sheet_output is not None:
        write_json(sheet_output, sheet.to_json())
    for path, text in ((markdown_output, render_markdown(sheet, answers or {})), (latex_output, render_latex(sheet))):
        if path is not None:
            with open_atomic_text_file(path) as file:
                file.write(text)
    sys.stderr.write(render_plain_text(sheet, shutil.get_terminal_size().columns))


def to_data_frame(sheet: Sheet) -> "pd.DataFrame":
    """Convert a sheet to raw values; standard deviations and marks follow their number in separate columns."""
    import pandas as pd

    columns: list[tuple[str, list[str]]] = []
    for place, column in enumerate(sheet.columns):
        cells = [row[place] for row in sheet.rows]
        columns.append((column.name, [cell.raw_text for cell in cells]))
        if column.has_spread:
            columns.append((f"{column.name}_sd", [cell.spread for cell in cells]))
        if column.has_marks:
            columns.append((f"{column.name}_marks", [cell.marks for cell in cells]))
    return pd.concat([pd.Series(cells, name=name, dtype=object) for name, cells in columns], axis=1)


def render_plain_text(sheet: Sheet, width: int) -> str:
    """Render a table for a terminal: names left-aligned, numbers right-aligned, followed by their marks.

    Args:
        sheet: the table.
        width: columns of the terminal; further columns of a wider table follow below, with the names repeated.
    """
    columns = []
    for place, head in enumerate(sheet.column_heads):
        cells = [Cell(head), *(row[place] for row in sheet.rows)]
        text = max(_count_terminal_columns(cell.text) for cell in cells)
        marks = max(_count_terminal_columns(cell.marks) for cell in cells)
        columns.append([_pad_cell(cell, text, marks, is_left_aligned=place == 0) for cell in cells])
    lines = [sheet.title]
    for block in _split_into_blocks(columns, width):
        header, *rows = ["  ".join(cells).rstrip() for cells in zip(*block, strict=True)]
        rule = "-" * max(map(_count_terminal_columns, [header, *rows]))
        lines += ["", header, rule, *rows, rule]
    notes = [
        textwrap.fill(note, width, break_long_words=False, break_on_hyphens=False)
        for note in (*sheet.departures, *sheet.notes)
    ]
    return "\n".join([*lines, *notes]) + "\n"


def _split_into_blocks(columns: Sequence[list[str]], width: int) -> list[list[list[str]]]:
    """Split columns into groups of at most `width`, each after the first column."""
    name_column, *other_columns = columns
    blocks = [[name_column]]
    for column in other_columns:
        if (
            len(blocks[-1]) > 1
            and sum(2 + _count_terminal_columns(cells[0]) for cells in [*blocks[-1], column]) - 2 > width
        ):
            blocks.append([name_column])
        blocks[-1].append(column)
    return blocks


def render_markdown(sheet: Sheet, answers: Mapping[str, Sequence[str]] = MappingProxyType({})) -> str:
    """Render a GitHub-flavoured Markdown table, followed by notes and by answers for each question."""
    header = "| " + " | ".join(map(_escape_markdown, sheet.column_heads)) + " |"
    rule = "|---" + "|---:" * (len(sheet.columns) - 1) + "|"
    rows = ["| " + " | ".join(map(_format_markdown_cell, row)) + " |" for row in sheet.rows]
    notes = [line for note in sheet.collect_notes() for line in ("", _escape_markdown(note))]
    answer_lines = [
        line
        for question, sentences in answers.items()
        for line in ("", f"**{question}**", "", *(f"- {_escape_markdown(sentence)}" for sentence in sentences))
    ]
    if answer_lines:
        answer_lines += ["", "CI: confidence interval. Verdicts are not corrected for the number of comparisons."]
    return "\n".join([f"**{_escape_markdown(sheet.title)}**", "", header, rule, *rows, *notes, *answer_lines]) + "\n"


def render_latex(sheet: Sheet) -> str:
    """Render a LaTeX table with its title as the caption and its notes below the rows.

    It needs the package booktabs, and XeLaTeX or LuaLaTeX for scripts other than Latin.
    """
    import pandas as pd

    frame = pd.DataFrame(
        [[*map(_format_latex_cell, row)] for row in sheet.rows], columns=[*map(_escape_latex, sheet.column_heads)]
    )
    notes = "\n\n".join(map(_escape_latex, sheet.collect_notes()))
    note_lines = ["", "\\medskip", "\\begin{minipage}{\\linewidth}", "\\footnotesize", notes, "\\end{minipage}"]
    return "\n".join(
        [
            "% \\usepackage{booktabs}",
            "\\begin{table}",
            "\\centering",
            f"\\caption{{{_escape_latex(sheet.title)}}}",
            frame.to_latex(index=False, column_format="l" + "r" * (len(sheet.columns) - 1)).rstrip(),
            *(note_lines if notes else []),
            "\\end{table}",
            "",
        ]
    )


def _pad_cell(cell: Cell, text_width: int, marks_width: int, is_left_aligned: bool) -> str:
    space = " " * (text_width - _count_terminal_columns(cell.text))
    text = cell.text + space if is_left_aligned else space + cell.text
    return text + cell.marks + " " * (marks_width - _count_terminal_columns(cell.marks))


def _count_terminal_columns(text: str) -> int:
    """Return the width of a text in a terminal: two columns for an ideograph, none for a combining accent."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|&~$])", r"\\\1", text)


def _format_markdown_cell(cell: Cell) -> str:
    text = _escape_markdown(cell.text)
    bold = f"**{text}**" if cell.bold else text
    return bold + (f"<sup>{_escape_markdown(cell.marks)}</sup>" if cell.marks else "")


LATEX_ESCAPES = {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    "–": "--",
    # A line break `\\` would read these as its argument.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
# Text fonts may lack these characters.
LATEX_MATH_COMMANDS = {
    "−": "-",
    "†": "\\dagger",
    "‡": "\\ddagger",
    "↑": "\\uparrow",
    "⇑": "\\Uparrow",
    "↓": "\\downarrow",
    "⇓": "\\Downarrow",
    "α": "\\alpha",
    "β": "\\beta",
}
LATEX_REPLACEMENTS = LATEX_ESCAPES | {character: f"${command}$" for character, command in LATEX_MATH_COMMANDS.items()}


def _escape_latex(text: str) -> str:
    return "".join(LATEX_REPLACEMENTS.get(character, character) for character in text)


def _format_latex_cell(cell: Cell) -> str:
    text = _escape_latex(cell.text)
    bold = f"\\textbf{{{text}}}" if cell.bold else text
    return bold + _format_latex_marks(cell.marks)


def _format_latex_marks(marks: str) -> str:
    """Format marks as superscripts, in math mode if all symbols have a command."""
    if {*marks} <= {"*", *LATEX_MATH_COMMANDS}:
        return f"$^{{{''.join(LATEX_MATH_COMMANDS.get(mark, mark) for mark in marks)}}}$" if marks else ""
    return f"\\textsuperscript{{{_escape_latex(marks)}}}"
