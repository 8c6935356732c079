"""Comparison of results with those of an undisturbed run."""

import csv
import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TIME_KEY_PATTERN = re.compile(r"second|minutes|hours|joules|core_share|machine_load")
"""Keys and columns of measured times and machine load, which differ between equal runs."""

TIME_TABLE_SUFFIXES = (
    "facts.md",
    "measured.tsv",
    "measured.md",
    "measured.tex",
    "measured.sheet.json",
    "report.html",
    ".facts.tex",
)
"""Endings of rendered files with measured times, whose values are compared in other files."""


def list_differing_files(expected_folder: Path, actual_folder: Path, files: Iterable[str]) -> list[str]:
    """Say which files of one folder are not the same in another, but for the times that they tell."""
    return [file for file in files if not has_same_content(expected_folder / file, actual_folder / file)]


def has_same_content(expected_path: Path, actual_path: Path) -> bool:
    """Return whether two files or folders are equal except for measured times."""
    if expected_path.is_dir() or actual_path.is_dir():
        names = [
            sorted(str(path.relative_to(at)) for path in at.rglob("*") if path.is_file())
            for at in (expected_path, actual_path)
        ]
        return names[0] == names[1] and not list_differing_files(expected_path, actual_path, names[0])
    if not expected_path.exists() or not actual_path.exists():
        return expected_path.exists() == actual_path.exists()
    first, second = expected_path.read_bytes(), actual_path.read_bytes()
    if first == second:
        return True
    if expected_path.name.endswith(TIME_TABLE_SUFFIXES):
        return bool(first) and bool(second)
    try:
        return _parse_without_times(expected_path, first) == _parse_without_times(actual_path, second)
    except ValueError:
        return False


def describe_faults(expected_folder: Path, folder: Path, files: Iterable[str]) -> str:
    """Name files that differ from those of another folder, or that a killed process left; empty if there are none."""
    if files_that_differ := list_differing_files(expected_folder, folder, files):
        return f"differs: {files_that_differ}"
    if left := list_partial_files(folder):
        return f"leaves {left}"
    return ""


def list_partial_files(folder: Path) -> list[str]:
    """List incomplete files of a killed process."""
    return sorted(str(path.relative_to(folder)) for path in (folder / "results").rglob("*.part"))


def _parse_without_times(path: Path, content: bytes) -> Any:
    if path.suffix == ".json":
        return _remove_times(json.loads(content))
    if path.suffix == ".tsv":
        rows = csv.DictReader(io.StringIO(content.decode("utf-8")), delimiter="\t", quoting=csv.QUOTE_NONE)
        return [_remove_times(row) for row in rows]
    return content


def _remove_times(json_value: Any) -> Any:
    if isinstance(json_value, dict):
        return {key: _remove_times(below) for key, below in json_value.items() if not TIME_KEY_PATTERN.search(str(key))}
    return [*map(_remove_times, json_value)] if isinstance(json_value, list) else json_value
