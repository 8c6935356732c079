"""Tables of what was measured: whole as TSV, in part for people."""

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from benchmarks.rounds import MedianAndRange
from benchmarks.settings import BenchmarkSettings
from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.run.errors import InputError

TableRow = Mapping[str, Any]
"""Column → text, number, or `MedianAndRange`."""


def write_and_print_table(
    name: str, rows: Sequence[TableRow], columns: Mapping[str, tuple[str, str]], title: str, settings: BenchmarkSettings
) -> None:
    """Write all rows as `NAME.tsv`, and print a table of some columns for each shape."""
    write_table(settings.results / f"{name}.tsv", rows)
    print(f"\n{title}")
    for shape in settings.network_sizes:
        print(f"\nembedding {shape.embedding}, hidden {shape.hidden}")
        print_table([row for row in rows if row["shape"] == str(shape)], columns)


def write_table(path: Path, rows: Sequence[TableRow]) -> None:
    """Write rows of the same columns as TSV; that of a `MedianAndRange` is followed by `…_lowest` and `…_highest`."""
    with open_atomic_text_file(path) as file:
        print(*(name for key, value in rows[0].items() for name in _list_column_names(key, value)), sep="\t", file=file)
        for row in rows:
            print(*(cell for value in row.values() for cell in _format_cells(value)), sep="\t", file=file)


def append_row(path: Path, row: TableRow) -> None:
    """Append a row to a TSV file, which gets a headline if it is new.

    Raises:
        InputError: the file has other columns.
    """
    header = "\t".join(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        file.seek(0)
        first_line = file.readline()
        if first_line and first_line != f"{header}\n":
            raise InputError("it has other columns than this version writes; move it or change --results", path)
        lines = [*([] if first_line else [header]), "\t".join(map(_format_exact, row.values()))]
        file.write("".join(f"{line}\n" for line in lines))


def print_table(rows: Iterable[TableRow], columns: Mapping[str, tuple[str, str]]) -> None:
    """Print some columns for people.

    Args:
        rows: all of them.
        columns: column → headline, and how its numbers are written, as `format` takes it; "" for text.
    """
    lines = [[head for head, _ in columns.values()]]
    lines += [[_format_rounded(row[key], how) for key, (_, how) in columns.items()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = [not how for _, how in columns.values()]
    for line in lines:
        cells = zip(line, widths, texts, strict=True)
        print("  ".join(cell.ljust(width) if text else cell.rjust(width) for cell, width, text in cells).rstrip())
    print()


def _list_column_names(column: str, value: Any) -> list[str]:
    return [column, f"{column}_lowest", f"{column}_highest"] if isinstance(value, MedianAndRange) else [column]


def _format_cells(value: Any) -> list[str]:
    return [_format_exact(number) for number in value] if isinstance(value, MedianAndRange) else [_format_exact(value)]


def _format_exact(value: Any) -> str:
    if isinstance(value, float):
        return "" if isnan(value) else f"{value:.6g}"
    return str(value)


def _format_rounded(value: Any, number_format: str) -> str:
    numbers = value if isinstance(value, MedianAndRange) else [value]
    if any(isinstance(number, float) and isnan(number) for number in numbers):
        return "–"
    if isinstance(value, MedianAndRange):
        return f"{value.median:{number_format}} ({value.lowest:{number_format}}–{value.highest:{number_format}})"
    return f"{value:{number_format}}" if number_format else str(value)
