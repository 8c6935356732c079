"""Whether results are those of the run that nothing disturbed."""

import csv
import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TIMES = re.compile(r"second|minutes|hours|joules|core_share|machine_load")
"""What keys and columns are called that say how long something took, and what else ran meanwhile."""

OF_TIMES = (
    "facts.md",
    "measured.tsv",
    "measured.md",
    "measured.tex",
    "measured.sheet.json",
    "report.html",
    ".facts.tex",
)
"""How files end that show such numbers in tables for people; the numbers themselves stand in other files."""


def differing(one: Path, other: Path, files: Iterable[str]) -> list[str]:
    """Say which files of one folder are not the same in another, but for the times that they tell."""
    return [file for file in files if not same(one / file, other / file)]


def same(one: Path, other: Path) -> bool:
    """Whether two files or folders say the same, but for times."""
    if one.is_dir() or other.is_dir():
        names = [sorted(str(path.relative_to(at)) for path in at.rglob("*") if path.is_file()) for at in (one, other)]
        return names[0] == names[1] and not differing(one, other, names[0])
    if not one.exists() or not other.exists():
        return one.exists() == other.exists()
    first, second = one.read_bytes(), other.read_bytes()
    if first == second:
        return True
    if one.name.endswith(OF_TIMES):
        return bool(first) and bool(second)
    try:
        return _timeless(one, first) == _timeless(other, second)
    except ValueError:
        return False


def describe_faults(expected: Path, folder: Path, files: Iterable[str]) -> str:
    """Name files that differ from those of another folder, or that a killed process left; empty if there are none."""
    if files_that_differ := differing(expected, folder, files):
        return f"differs: {files_that_differ}"
    if left := remains(folder):
        return f"leaves {left}"
    return ""


def remains(folder: Path) -> list[str]:
    """What a killed process left beside its results."""
    return sorted(str(path.relative_to(folder)) for path in (folder / "results").rglob("*.part"))


def _timeless(path: Path, content: bytes) -> Any:
    if path.suffix == ".json":
        return _without_times(json.loads(content))
    if path.suffix == ".tsv":
        rows = csv.DictReader(io.StringIO(content.decode("utf-8")), delimiter="\t", quoting=csv.QUOTE_NONE)
        return [_without_times(row) for row in rows]
    return content


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(below) for key, below in value.items() if not TIMES.search(str(key))}
    return [*map(_without_times, value)] if isinstance(value, list) else value
