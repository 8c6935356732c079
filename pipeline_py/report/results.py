"""The numbers of a table: BLEU of every row on every set."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from statistics import fmean, stdev

from pipeline_py.evaluation.named_files import named_files
from pipeline_py.stage import InputError


@dataclass(frozen=True)
class Score:
    """BLEU in percent of each run, and sacrebleu's signature that says how it was counted."""

    runs: tuple[float, ...]
    signature: str

    @property
    def bleu(self) -> float:
        """Mean over the runs."""
        return fmean(self.runs)


@dataclass(frozen=True)
class Results:
    """The scores of a table, of every row on every set."""

    rows: Sequence[str]
    dev: str
    tests: Sequence[str]
    scores: dict[tuple[str, str], Score]

    def averages(self, row: str) -> tuple[float, ...]:
        """Mean BLEU over the test sets of each run of a row."""
        return tuple(map(fmean, zip(*(self.scores[row, test].runs for test in self.tests), strict=True)))

    def average(self, row: str) -> float:
        """Mean BLEU of a row over the test sets and runs."""
        return fmean(self.averages(row))

    def best(self, rows: Sequence[str]) -> str | None:
        """The row with the highest average, the first of equals."""
        return max(rows, key=self.average, default=None)

    def signatures(self) -> dict[str, str]:
        """The signature of each set.

        Raises:
            InputError: if two scores of a set were counted differently, so that they cannot be compared.
        """
        signatures = {}
        for name in (self.dev, *self.tests):
            first, *others = (self.scores[row, name].signature for row in self.rows)
            for row, signature in zip(self.rows[1:], others, strict=True):
                if signature != first:
                    raise InputError(
                        f"{row!r} on {name!r} was scored as {signature} and {self.rows[0]!r} as {first}; "
                        "score both alike"
                    )
            signatures[name] = first
        return signatures


def deviation(values: Sequence[float]) -> float | None:
    """Sample standard deviation over runs; None of one run."""
    return stdev(values) if len(values) > 1 else None


def read_scores(pairs: Sequence[str], rows: Sequence[str], sets: Sequence[str]) -> dict[tuple[str, str], Score]:
    """Read the scores of `ROW:SET=FILE`, or `ROW:SET:RUN=FILE` where a row has several runs, sacrebleu JSON.

    Raises:
        InputError: if a score is missing, is none, belongs to no cell, or the runs of a row differ between sets.
    """
    files = named_files(pairs, "--score")
    cells = {f"{row}:{name}": (row, name) for row in rows for name in sets}
    runs: dict[tuple[str, str], dict[str, Path]] = {cell: {} for cell in cells.values()}
    for key, path in files.items():
        name, run = (key, "") if key in cells else (key.rpartition(":")[0], key.rpartition(":")[2])
        if name not in cells:
            raise InputError(f"--score {key!r} belongs to no cell; name a --row and a --dev or --test as ROW:SET")
        runs[cells[name]][run] = path
    for key, (row, name) in cells.items():
        if not runs[row, name]:
            raise InputError(f"no score of {key!r}; give --score {key}=FILE")
        if runs[row, name].keys() != runs[row, sets[0]].keys():
            raise InputError(
                f"{row!r} has other runs on {name!r} than on {sets[0]!r}; give a score of each run on each"
            )
    # In one order for all sets of a row: a run's average is over its own scores.
    return {(row, name): _read_cell([paths[run] for run in runs[row, sets[0]]]) for (row, name), paths in runs.items()}


def _read_cell(paths: Sequence[Path]) -> Score:
    first, *others = map(_read_score, paths)
    for (_, signature), path in zip(others, paths[1:], strict=True):
        if signature != first[1]:
            raise InputError(f"scored as {signature} and {paths[0]} as {first[1]}; score both alike", path)
    return Score(runs=tuple(bleu for bleu, _ in (first, *others)), signature=first[1])


def _read_score(path: Path) -> tuple[float, str]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        bleu, signature = float(content["score"]), str(content["signature"])
    except (ValueError, KeyError, TypeError):
        raise InputError("the file is no sacrebleu JSON with score and signature; score again", path) from None
    if not isfinite(bleu):
        raise InputError(f"the score is {bleu}, which is no BLEU; score again", path)
    return bleu, signature
