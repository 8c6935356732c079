"""N-grams that one of a table's two systems gets right more often than the other, a table in either direction."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pipeline_py.config.tables import Table
from pipeline_py.report.chosen_pair import chosen_pair
from pipeline_py.report.page_table import PageCell, PageColumn, PageTable, cell
from pipeline_py.report.tsv_rows import number, read_rows

COLUMNS = ("system", "other", "ngram", "matches_system", "matches_other", "references", "share")
COUNTS = ("matches_system", "matches_other", "references")


def tables(path: Path, table: Table, called: Mapping[str, str], on: str) -> Iterator[PageTable]:
    """Yield the n-grams of the systems that a table is about, first those of what it proposes.

    Args:
        path: the TSV of `evaluation.ngrams`.
        table: options of the table.
        called: what its systems are called.
        on: the set, for people.

    Raises:
        InputError: if the file is none.
    """
    rows = read_rows(path, COLUMNS)
    pair = chosen_pair(table, [(row["system"], row["other"]) for row in rows])
    for system, other in () if pair is None else (pair, pair[::-1]):
        found = [row for row in rows if (row["system"], row["other"]) == (system, other)]
        if found:
            yield PageTable(
                f"What {called[system]} gets right more often than {called[other]} on {on}: how often each of them "
                "and the references have it.",
                [PageColumn("N-gram", is_text=True)]
                + [PageColumn(head) for head in (called[system], called[other], "References", "Share")],
                [
                    [
                        PageCell(row["ngram"]),
                        *(cell(f"{number(row, column, path):.0f}") for column in COUNTS),
                        cell(f"{number(row, 'share', path):.3f}"),
                    ]
                    for row in found
                ],
            )
