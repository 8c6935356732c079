"""The numbers of a table: BLEU of every row on every set, and how pairs of rows compare."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from statistics import fmean, stdev

from pipeline_py.evaluation.named_files import named_files
from pipeline_py.stage import InputError
from pipeline_py.text import read_lines

# The `sacrebleu` command rounds to one decimal; what differs by more is another output or another setting.
SAME_SCORE = 0.05 + 1e-9


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
class Comparison:
    """The sign test of one system against another on one set."""

    bleu_system: float
    bleu_other: float
    better: int
    worse: int
    p_value: float

    def is_better(self, alpha: float) -> bool:
        """Whether the system is significantly better: higher BLEU, more sentences that raise it, p < alpha."""
        return self.bleu_system > self.bleu_other and self.better > self.worse and self.p_value < alpha


@dataclass(frozen=True)
class Results:
    """Everything that stands in a table.

    `scores` has every pair of a row and a set, `comparisons` is by (test set, system, other).
    """

    rows: Sequence[str]
    dev: str
    tests: Sequence[str]
    scores: dict[tuple[str, str], Score]
    comparisons: dict[tuple[str, str, str], Comparison]

    def averages(self, row: str) -> tuple[float, ...]:
        """Mean BLEU over the test sets of each run of a row."""
        return tuple(map(fmean, zip(*(self.scores[row, test].runs for test in self.tests), strict=True)))

    def average(self, row: str) -> float:
        """Mean BLEU of a row over the test sets and runs."""
        return fmean(self.averages(row))

    def best(self, rows: Sequence[str]) -> str | None:
        """The row with the highest average, the first of equals."""
        return max(rows, key=self.average, default=None)

    def comparison(self, test: str, system: str, other: str) -> Comparison:
        """The sign test of `system` against `other`.

        Raises:
            InputError: if it was not made, or was made with other outputs or settings than the scores.
        """
        found = self.comparisons.get((test, system, other))
        if found is None:
            raise InputError(
                f"no sign test of {system!r} against {other!r} on {test!r}; "
                f"give --significance {test}=FILE with that pair"
            )
        for row, bleu in ((system, found.bleu_system), (other, found.bleu_other)):
            if abs(bleu - self.scores[row, test].bleu) > SAME_SCORE:
                raise InputError(
                    f"{row!r} on {test!r} has BLEU {bleu:.2f} in the sign test and {self.scores[row, test].bleu:.2f} "
                    "as its score; make both anew with the same outputs, tokenizer and case"
                )
        return found

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


def read_comparisons(pairs: Sequence[str], tests: Sequence[str]) -> dict[tuple[str, str, str], Comparison]:
    """Read the sign tests of `TEST=FILE`, the TSV of `evaluation.significance`.

    Raises:
        InputError: if a file is malformed or belongs to no test set.
    """
    comparisons = {}
    for test, path in named_files(pairs, "--significance").items():
        if test not in tests:
            raise InputError(f"--significance {test!r} belongs to no test set; name it with --test, or leave it out")
        lines = csv.DictReader(read_lines(path), delimiter="\t")
        for row in lines:
            try:
                comparisons[test, row["system"], row["other"]] = Comparison(
                    bleu_system=float(row["bleu_system"]),
                    bleu_other=float(row["bleu_other"]),
                    better=int(row["better"]),
                    worse=int(row["worse"]),
                    p_value=float(row["p_value"]),
                )
            except (KeyError, ValueError, TypeError):
                raise InputError("no row of a sign test; make the file anew", path, lines.line_num) from None
    return comparisons
