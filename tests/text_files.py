"""Read and write the small text files of tests."""

import csv
from collections.abc import Iterable
from pathlib import Path


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file. Only a line feed ends a line, and the last line must end, too."""
    *lines, rest = path.read_text(encoding="utf-8").split("\n")
    assert rest == "", f"{path} ends in the middle of a line"
    return lines


def read_table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a TSV file by column, without comments."""
    lines = [line for line in read_lines(path) if not line.startswith("# ")]
    rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert not any(None in row or None in row.values() for row in rows), f"{path} has rows of different lengths"
    return rows
