"""Results of other stages that the page reads: tables, JSON, ceilings, systems without verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline_py.evaluation.compute_bleu_ceiling import CEILING_COLUMNS, BleuCeiling
from pipeline_py.files.text_files import read_lines

if TYPE_CHECKING:
    import pandas as pd


def read_tsv(path: Path, number_columns: Sequence[str] = (), count_columns: Sequence[str] = ()) -> "pd.DataFrame":
    """Read a TSV; quotes mean nothing, as a sentence may begin with one.

    Args:
        path: the file.
        number_columns: columns of numbers, as far as the file has them; an empty cell is NaN. Other columns are text.
        count_columns: columns of whole numbers.
    """
    import pandas as pd

    header, *rows = (line.split("\t") for line in read_lines(path))
    table = pd.DataFrame(rows, columns=header, dtype=object)
    for column in count_columns:
        table[column] = pd.Series([int(text) for text in table[column]], dtype=object)
    for column in number_columns:
        if column in header:
            table[column] = pd.Series([float(text) if text else nan for text in table[column]], dtype=object)
    return table


def read_ceilings(path: Path) -> list[BleuCeiling]:
    """Read the ceilings of an experiment, an output of `evaluation.compute_bleu_ceiling`."""
    rows = read_tsv(path, number_columns=["bleu"], count_columns=["sentences"]).to_dict("records")
    return [BleuCeiling(**{column: row[column] for column in CEILING_COLUMNS}) for row in rows]


UNTRAINED_ADVICE = "Train longer or on more data, or change sizes or the learning rate."


@dataclass(frozen=True)
class VerdictExclusions:
    """What a report does not draw conclusions from.

    Attributes:
        system_reasons: reasons why systems count as untrained, by system.
        set_reasons: reasons why sets are too small, by set.
    """

    system_reasons: dict[str, str] = field(default_factory=dict)
    set_reasons: dict[str, str] = field(default_factory=dict)

    @property
    def descriptions(self) -> list[str]:
        """Describe the exclusions, a sentence for each system and set."""
        untrained = [
            f"{name} has not learned to translate, so no verdict includes it: {reason}."
            for name, reason in self.system_reasons.items()
        ]
        small = [f"No verdict uses the set {name}: it has {reason}." for name, reason in self.set_reasons.items()]
        return [*untrained, *([UNTRAINED_ADVICE] if untrained else []), *small]


def read_exclusions(path: Path) -> VerdictExclusions:
    """Read the exclusions of an experiment or table, an output of `evaluation.judge_claims`."""
    exclusions = VerdictExclusions()
    for row in read_tsv(path).to_dict("records"):
        (exclusions.system_reasons if row["kind"] == "system" else exclusions.set_reasons)[row["name"]] = row["reason"]
    return exclusions
