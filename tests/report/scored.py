"""Statistics that give a certain score, as `evaluation.statistics` writes them, for the tests of what reads them."""

from math import exp
from pathlib import Path

import numpy as np

from pipeline_py.evaluation.columns import write_columns

MANY = 1e6


def write_statistics(
    path: Path,
    scores: dict[str, float],
    signature: str = "nrefs:4|case:lc",
    lengths: tuple[float, float] = (MANY, MANY),
    sentences: int = 10,
) -> Path:
    """Write statistics of BLEU and RIBES; all but the first sentence are empty."""
    columns = {}
    for metric, score in scores.items():
        if metric == "bleu":
            brevity = min(1.0, exp(1 - lengths[1] / lengths[0]))
            row = [*lengths, *[score / 100 / brevity * MANY] * 4, *[MANY] * 4]
        else:
            row = [score / 100, 1.0]
        columns[metric] = np.zeros((sentences, len(row)))
        columns[metric][0] = row
    write_columns(path, columns, dict.fromkeys(scores, signature))
    return path
