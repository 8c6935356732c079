"""Readers for the results of other stages: TSV files, ceilings and exclusions."""

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
    """Read a TSV file without quoting, because sentences may contain quotation marks.

    Args:
        path: the file.
        number_columns: columns of floats, ignored if the file lacks them; an empty cell is NaN. Other columns are text.
        count_columns: columns of integers.
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
    """Systems and sets that verdicts exclude.

    Attributes:
        system_reasons: reasons why systems count as untrained, by system.
        set_reasons: reasons why sets are too small, by set.
    """

    system_reasons: dict[str, str] = field(default_factory=dict)
    set_reasons: dict[str, str] = field(default_factory=dict)

    @property
    def descriptions(self) -> list[str]:
        """Describe the exclusions, a sentence for each system and set."""
        system_sentences = [
            f"{name} has not learned to translate, so no verdict includes it: {reason}."
            for name, reason in self.system_reasons.items()
        ]
        set_sentences = [
            f"No verdict uses the set {name}: it has {reason}." for name, reason in self.set_reasons.items()
        ]
        return [*system_sentences, *([UNTRAINED_ADVICE] if system_sentences else []), *set_sentences]


def read_verdict_exclusions(path: Path) -> VerdictExclusions:
    """Read the systems and sets that verdicts exclude, an output of `evaluation.judge_claims`."""
    exclusions = VerdictExclusions()
    for row in read_tsv(path).to_dict("records"):
        (exclusions.system_reasons if row["kind"] == "system" else exclusions.set_reasons)[row["name"]] = row["reason"]
    return exclusions
