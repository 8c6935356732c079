"""Tables of what was measured: whole as TSV, in part for people."""

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from benchmarks.rounds import Spread
from benchmarks.setting import Setting
from pipeline_py.files.artifacts import writing

Row = Mapping[str, Any]
"""Column → text, number, or `Spread`."""


def report(
    name: str, rows: Sequence[Row], columns: Mapping[str, tuple[str, str]], title: str, setting: Setting
) -> None:
    """Write all rows as `NAME.tsv`, and print a table of some columns for each shape."""
    write(setting.results / f"{name}.tsv", rows)
    print(f"\n{title}")
    for shape in setting.shapes:
        print(f"\nembedding {shape.embedding}, hidden {shape.hidden}")
        show([row for row in rows if row["shape"] == str(shape)], columns)


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write rows of the same columns as TSV; that of a `Spread` is followed by `…_lowest` and `…_highest`."""
    with writing(path) as file:
        print(*(name for key, value in rows[0].items() for name in _names(key, value)), sep="\t", file=file)
        for row in rows:
            print(*(cell for value in row.values() for cell in _cells(value)), sep="\t", file=file)


def show(rows: Iterable[Row], columns: Mapping[str, tuple[str, str]]) -> None:
    """Print some columns for people.

    Args:
        rows: all of them.
        columns: column → headline, and how its numbers are written, as `format` takes it; "" for text.
    """
    lines = [[head for head, _ in columns.values()]]
    lines += [[_written(row[key], how) for key, (_, how) in columns.items()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = [not how for _, how in columns.values()]
    for line in lines:
        cells = zip(line, widths, texts, strict=True)
        print("  ".join(cell.ljust(width) if text else cell.rjust(width) for cell, width, text in cells).rstrip())
    print()


def _names(key: str, value: Any) -> list[str]:
    return [key, f"{key}_lowest", f"{key}_highest"] if isinstance(value, Spread) else [key]


def _cells(value: Any) -> list[str]:
    return [_exact(number) for number in value] if isinstance(value, Spread) else [_exact(value)]


def _exact(value: Any) -> str:
    if isinstance(value, float):
        return "" if isnan(value) else f"{value:.6g}"
    return str(value)


def _written(value: Any, how: str) -> str:
    numbers = value if isinstance(value, Spread) else [value]
    if any(isinstance(number, float) and isnan(number) for number in numbers):
        return "–"
    if isinstance(value, Spread):
        return f"{value.median:{how}} ({value.lowest:{how}}–{value.highest:{how}})"
    return f"{value:{how}}" if how else str(value)
