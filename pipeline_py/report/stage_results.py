"""Results of other stages that the page reads: tables, JSON, ceilings, systems without verdicts."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline_py.evaluation.ceiling import COLUMNS, Ceiling
from pipeline_py.evaluation.claims import EXCLUSION_COLUMNS
from pipeline_py.files.text import is_number, read_lines
from pipeline_py.run.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def read_object(path: Path, remedy: str) -> dict[str, Any]:
    """Read a JSON object.

    Args:
        path: the file.
        remedy: what to do where it is none, for the message.

    Raises:
        InputError: if the file is no JSON object.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise InputError(f"the file is not a JSON object; {remedy}", path)
    return content


def read_table(
    path: Path,
    texts: Sequence[str],
    numbers: Sequence[str] = (),
    counts: Sequence[str] = (),
    optional: Sequence[str] = (),
) -> "pd.DataFrame":
    """Read a TSV; quotes mean nothing, as a sentence may begin with one.

    Args:
        path: the file; it may have further columns, which are text.
        texts: columns that it must have.
        numbers: columns that it must have, of numbers.
        counts: columns that it must have, of whole numbers.
        optional: columns of numbers that it may have; an empty cell is NaN there.

    Raises:
        InputError: if a column is missing, a row has more or fewer cells than the header, or a cell is no number.
    """
    import pandas as pd

    lines = (line.split("\t") for line in read_lines(path))
    header = next(lines, [])
    if missing := [column for column in (*texts, *numbers, *counts) if column not in header]:
        raise InputError(f"the file has no column {missing[0]!r}; make it again", path, 1)
    rows = []
    for line, cells in enumerate(lines, start=2):
        if len(cells) != len(header):
            raise InputError(
                f"the row has {len(cells)} cells and the header {len(header)}; make the file again", path, line
            )
        rows.append(cells)
    table = pd.DataFrame(rows, columns=header, dtype=object)
    kinds: tuple[tuple[Sequence[str], Callable[[str], float | None], str], ...] = (
        (numbers, _number, "number"),
        (counts, lambda text: int(text) if is_number(text) else None, "whole number"),
        ([column for column in optional if column in header], lambda text: _number(text) if text else nan, "number"),
    )
    for columns, read, kind in kinds:
        for column in columns:
            values = [read(text) for text in table[column]]
            if None in values:
                line = values.index(None)
                text = table[column].iloc[line]
                raise InputError(f"{column} must be a {kind}, not {text!r}; make the file again", path, line + 2)
            table[column] = pd.Series(values, dtype=object)
    return table


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def read_ceilings(path: Path) -> list[Ceiling]:
    """Read the ceilings of an experiment.

    Raises:
        InputError: if the file is not an output of `evaluation.ceiling`.
    """
    rows = read_table(path, COLUMNS, numbers=["bleu"], counts=["sentences"]).to_dict("records")
    return [Ceiling(**{column: row[column] for column in COLUMNS}) for row in rows]


REMEDY = "Train longer or on more data, or change sizes or the learning rate."


@dataclass(frozen=True)
class Exclusions:
    """What a report does not draw conclusions from.

    Attributes:
        systems: reasons why systems count as untrained, by system.
        sets: reasons why sets are too small, by set.
    """

    systems: dict[str, str] = field(default_factory=dict)
    sets: dict[str, str] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        """Describe the exclusions, a sentence for each system and set."""
        untrained = [
            f"{name} has not learned to translate, so no verdict includes it: {reason}."
            for name, reason in self.systems.items()
        ]
        small = [f"No verdict uses the set {name}: it has {reason}." for name, reason in self.sets.items()]
        return [*untrained, *([REMEDY] if untrained else []), *small]


def read_exclusions(path: Path) -> Exclusions:
    """Read the exclusions of an experiment or table.

    Raises:
        InputError: if the file is not an output of `evaluation.claims`.
    """
    exclusions = Exclusions()
    for row in read_table(path, EXCLUSION_COLUMNS).to_dict("records"):
        (exclusions.systems if row["kind"] == "system" else exclusions.sets)[row["name"]] = row["reason"]
    return exclusions
