"""Files of statistics with a given score, in the format of `evaluation.compute_metric_statistics`."""

from math import exp
from pathlib import Path

import numpy as np

from pipeline_py.evaluation.column_files import write_sentence_columns

LARGE_COUNT = 1e6


def write_statistics(
    path: Path,
    scores: dict[str, float],
    signature: str = "nrefs:4|case:lc",
    length_pair: tuple[float, float] = (LARGE_COUNT, LARGE_COUNT),
    sentence_count: int = 10,
) -> Path:
    """Write statistics of BLEU and RIBES; all but the first sentence are empty."""
    columns = {}
    for metric, score in scores.items():
        if metric == "bleu":
            brevity = min(1.0, exp(1 - length_pair[1] / length_pair[0]))
            row = [*length_pair, *[score / 100 / brevity * LARGE_COUNT] * 4, *[LARGE_COUNT] * 4]
        else:
            row = [score / 100, 1.0]
        columns[metric] = np.zeros((sentence_count, len(row)))
        columns[metric][0] = row
    write_sentence_columns(path, columns, dict.fromkeys(scores, signature))
    return path
