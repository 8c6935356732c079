"""Ceilings of BLEU by set, as `evaluation.ceiling` writes them."""

from pathlib import Path

from pipeline_py.evaluation.ceiling import COLUMNS, Ceiling
from pipeline_py.report.read_table import read_table


def read_ceilings(path: Path) -> list[Ceiling]:
    """Read the ceilings of an experiment.

    Raises:
        InputError: if the file is not an output of `evaluation.ceiling`.
    """
    rows = read_table(path, COLUMNS, numbers=["bleu"], counts=["sentences"]).to_dict("records")
    return [Ceiling(**{column: row[column] for column in COLUMNS}) for row in rows]
