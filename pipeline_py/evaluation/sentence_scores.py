"""The distribution of scores of single sentences, and how many a system translates better than the first one does.

compare-mt counts sentences by score (Neubig et al. 2019), and MT-Telescope draws such counts (Rei et al. 2021).
"""

import csv
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np
from sacrebleu.metrics.chrf import CHRF

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.evaluation import bleu
from pipeline_py.evaluation.named_files import by_system, named_files
from pipeline_py.options import Option
from pipeline_py.progress import progress
from pipeline_py.stage import InputError

COLUMNS = ("by", "bucket", "low", "high", "system", "other", "sentences", "percent")

BOUNDS = range(0, 101, 10)
"""Percent of chrF; a group holds its lower bound, and the last one its upper bound too."""

SIGNS = {"lower": -1, "equal": 0, "higher": 1}
"""How a score is beside that of the first system → the sign of their difference."""


def sentence_scores(
    *,
    system: list[str],
    reference: list[Path],
    output: Path,
    lowercase: Annotated[bool, Option("--lowercase/--cased")] = True,
) -> None:
    """Count sentences by their chrF, and by whether it is higher or lower than that of the first system.

    Scores are sacrebleu's chrF of the sentence, as in `examples`, and `sentences` is how many have such a score: by
    `score`, in tens of percent with `low` <= chrF < `high`, and 100 in the last; by `difference`, whether chrF is
    `lower` or `higher` than that of `other` for the same sentence, or `equal` to it. `percent` is their share of all.
    Of several runs both are means, of differences over all pairs of a run of the system and a run of the other.
    Groups without a sentence stand there as well.

    Args:
        system: NAME:RUN=FILE, the detokenized output of a system's run; give the option once for each (NAME=FILE
            where there is one run). `other` is the first one.
        reference: a reference translation; give the option once for each. All are compared with.
        output: the counts as TSV, by kind, system and group.
        lowercase: whether case is ignored.

    Raises:
        InputError: if there is no system, files differ in length, or a reference line is empty.
    """
    systems = by_system(named_files(system, "--system"))
    if not systems:
        raise InputError("no system to look at; give --system NAME=FILE")
    scores = iter(_scores([path for paths in systems.values() for path in paths], reference, CHRF(lowercase=lowercase)))
    of_systems = {name: np.array([next(scores) for _ in paths]) for name, paths in systems.items()}
    other, *others = of_systems
    with writing(output) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(COLUMNS)
        for name, of_runs in of_systems.items():
            for (low, high), count in zip(pairwise(BOUNDS), histogram(of_runs), strict=True):
                table.writerow(("score", low, low, high, name, None, count, 100 * count / of_runs.shape[1]))
        for name in others:
            signs = compared(of_systems[name], of_systems[other])
            for sign, count in zip(SIGNS, signs, strict=True):
                percent = 100 * count / of_systems[name].shape[1]
                table.writerow(("difference", sign, None, None, name, other, count, percent))


def histogram(scores: np.ndarray) -> np.ndarray:
    """How many sentences are in each group of scores: (runs, sentences) → the mean over runs, (groups,)."""
    return np.mean([np.histogram(of_run, bins=BOUNDS)[0] for of_run in scores], axis=0)


def compared(scores: np.ndarray, others: np.ndarray) -> np.ndarray:
    """How many sentences score lower, equal and higher than those of another system.

    Args:
        scores: (runs, sentences).
        others: the other's, (runs of it, sentences).

    Returns:
        Means over all pairs of runs, (3,).
    """
    signs = np.sign(scores[:, None] - others[None])
    return np.array([(signs == sign).sum(axis=-1).mean() for sign in SIGNS.values()])


def _scores(outputs: Sequence[Path], references: Sequence[Path], chrf: CHRF) -> np.ndarray:
    """The score of each sentence of each output in percent, (outputs, sentences)."""
    scores = [
        [chrf.sentence_score(line, lines[len(outputs) :]).score for line in lines[: len(outputs)]]
        for lines in progress(bleu.read_sentences(outputs, references), "sentence_scores")
    ]
    return np.array(scores).T


if __name__ == "__main__":
    stage.run(sentence_scores)
