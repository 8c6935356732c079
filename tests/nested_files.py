"""Files of tests in the nested dictionaries that stages take."""

from collections.abc import Mapping
from pathlib import Path


def group_by_kind(files: Mapping[str, Path]) -> dict[str, dict[str, Path]]:
    """Group files named `KIND:NAME` or `KIND` as kind → name → file."""
    kinds: dict[str, dict[str, Path]] = {}
    for key, path in files.items():
        kind, _, name = key.partition(":")
        kinds.setdefault(kind, {})[name] = path
    return kinds


def group_by_system(files: Mapping[str, Path]) -> dict[str, dict[str, Path]]:
    """Group files named `SYSTEM:RUN`, or `SYSTEM` if it has a single run, as system → run → file."""
    systems: dict[str, dict[str, Path]] = {}
    for key, path in files.items():
        system, _, run = key.partition(":")
        systems.setdefault(system, {})[run or "single"] = path
    return systems


def get_table_outputs(folder: Path, table_name: str = "table") -> dict[str, Path]:
    """Return the outputs of the stage `report.render_table` in a folder."""
    return {
        "tsv_output": folder / f"{table_name}.tsv",
        "sheet_output": folder / f"{table_name}.sheet.json",
        "markdown_output": folder / f"{table_name}.md",
        "latex_output": folder / f"{table_name}.tex",
    }
