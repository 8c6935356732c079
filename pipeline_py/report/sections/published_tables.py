"""Section with tables as published, to be compared with tables from other data."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline_py.files.text_files import read_lines
from pipeline_py.report.page_parts import PageSection
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tables.published_numbers import (
    PublishedNumber,
    build_number_cell,
    count_decimals,
    read_published_numbers,
)
from pipeline_py.report.tables.sheet import MISSING_VALUE, Cell, Column, Sheet

PAGE_ORDER = 20

_AUTHORS_AND_YEAR = re.compile(r"(.+?)\. (\d{4})\. ")


@dataclass(frozen=True)
class PaperSource:
    """A paper with its full reference and its citation."""

    reference: str
    citation: str


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    path = chapter.manifest.find_file("published", chapter.table_name)
    if path is not None:
        source = read_source(path)
        yield PageSection(
            "As published",
            [
                "Numbers of the paper, from its own data and languages. They show how systems compare there; do not "
                "compare a single number with one of ours.",
                source.reference,
                *chapter.sheet.departures,
            ],
            tables=build_published_tables(
                read_published_numbers(path), chapter.manifest.published_tables[chapter.table_name], source.citation
            ),
        )


def read_source(path: Path) -> PaperSource:
    """Read the source from the first line of a file of `workflow/published/`."""
    text = next(read_lines(path), "").removeprefix("# ")
    match = _AUTHORS_AND_YEAR.match(text)
    if match is None:
        return PaperSource(text, text)
    surnames = [author.split(" ")[-1] for author in re.split(", | and ", match[1])]
    authors = " and ".join(surnames) if len(surnames) < 3 else f"{surnames[0]} et al."
    return PaperSource(text, f"{authors} ({match[2]})")


def build_published_tables(
    numbers: Sequence[PublishedNumber], table_numbers: Sequence[str], citation: str
) -> list[Sheet]:
    """Build the published tables, one for each table and task.

    Args:
        numbers: the numbers of a paper.
        table_numbers: numbers of its tables.
        citation: citation of the paper.
    """
    return [
        _build_table([row for row in numbers if (row.table, row.task) == place], citation, *place)
        for place in dict.fromkeys((row.table, row.task) for row in numbers if row.table in table_numbers)
    ]


def _build_table(rows: Sequence[PublishedNumber], citation: str, table_number: str, task: str) -> Sheet:
    """Build a table with a column for each set and measure; heads omit what all columns of scores share."""
    columns = list(dict.fromkeys((row.set, row.metric) for row in rows))
    score_columns = list(dict.fromkeys((row.set, row.metric) for row in rows if row.role != "train")) or columns
    has_one_metric = len({metric for _, metric in score_columns}) == 1
    has_one_set = len({name for name, _ in score_columns}) == 1
    decimals = {metric: count_decimals(row.value for row in rows if row.metric == metric) for _, metric in columns}
    numbers = {(row.system, row.set, row.metric): row for row in rows}

    def build_cell(system: str, name: str, metric: str) -> Cell:
        number = numbers.get((system, name, metric))
        return Cell(MISSING_VALUE) if number is None else build_number_cell(number, decimals[metric])

    def build_column(name: str, metric: str) -> Column:
        if (name, metric) not in score_columns:
            head = metric
        elif has_one_metric:
            head = name
        else:
            head = metric if has_one_set else f"{metric} {name}"
        return Column(name, head, "paper")

    place = table_number if table_number.startswith("Section") else f"Table {table_number}"
    return Sheet(
        f"As printed in {citation}, {place}, {task}"
        + (f", {score_columns[0][1]}" if has_one_metric else "")
        + (f" on {score_columns[0][0]}" if has_one_set else "")
        + "; marks are the paper's.",
        [Column("system", "System", "paper"), *(build_column(*column) for column in columns)],
        [
            [Cell(system), *(build_cell(system, *column) for column in columns)]
            for system in dict.fromkeys(row.system for row in rows)
        ],
    )
