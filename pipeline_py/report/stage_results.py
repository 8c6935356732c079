"""Results of other stages that the page reads: tables, JSON, ceilings, systems without verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline_py.evaluation.ceiling import COLUMNS, Ceiling
from pipeline_py.files.text import read_lines

if TYPE_CHECKING:
    import pandas as pd


def read_table(path: Path, numbers: Sequence[str] = (), counts: Sequence[str] = ()) -> "pd.DataFrame":
    """Read a TSV; quotes mean nothing, as a sentence may begin with one.

    Args:
        path: the file.
        numbers: columns of numbers, as far as the file has them; an empty cell is NaN. Other columns are text.
        counts: columns of whole numbers.
    """
    import pandas as pd

    header, *rows = (line.split("\t") for line in read_lines(path))
    table = pd.DataFrame(rows, columns=header, dtype=object)
    for column in counts:
        table[column] = pd.Series([int(text) for text in table[column]], dtype=object)
    for column in numbers:
        if column in header:
            table[column] = pd.Series([float(text) if text else nan for text in table[column]], dtype=object)
    return table


def read_ceilings(path: Path) -> list[Ceiling]:
    """Read the ceilings of an experiment, an output of `evaluation.ceiling`."""
    rows = read_table(path, numbers=["bleu"], counts=["sentences"]).to_dict("records")
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
    """Read the exclusions of an experiment or table, an output of `evaluation.claims`."""
    exclusions = Exclusions()
    for row in read_table(path).to_dict("records"):
        (exclusions.systems if row["kind"] == "system" else exclusions.sets)[row["name"]] = row["reason"]
    return exclusions
