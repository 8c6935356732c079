"""Cases side by side, for as long as there is time, each in a folder of its own, and the table of their outcomes."""

import multiprocessing
import shlex
import shutil
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.faults.cases import BAD, Case, Outcome, Result
from benchmarks.faults.experiment import Experiment
from pipeline_py.files.artifacts import writing
from pipeline_py.run.progress import progress

Attack = Callable[[Case], Result]
Told = tuple[str, int, Result]
"""The name of an attack, the number of the case, and what became of it."""


@dataclass(frozen=True)
class Campaign:
    """Attacks on an experiment.

    Attributes:
        experiment: whose copies are attacked.
        attacks: by name.
        seed: with an attack's name and its number, decides everything of a case.
        folder: for the copies.
        end: when no further case begins, as `time.monotonic` counts.
        keep: leave the folders of cases.
    """

    experiment: Experiment
    attacks: Mapping[str, Attack]
    seed: int
    folder: Path
    end: float
    keep: bool = False

    def case(self, name: str, number: int) -> Result | None:
        """Make one case; None where there is no time any more."""
        if time.monotonic() > self.end:
            return None
        folder = self.folder / f"{name}.{number}"
        try:
            return self.attacks[name](Case(self.experiment, folder, Random(f"{self.seed} {name} {number}"), number))
        except Exception:
            # A campaign of hours is not lost for a case that it did not foresee.
            return Result(name, Outcome.TRACEBACK, "the attack itself fails", traceback.format_exc())
        finally:
            if not self.keep:
                shutil.rmtree(folder, ignore_errors=True)

    def all(self, cases: Sequence[tuple[str, int]], processes: int) -> Iterator[Told]:
        """Make cases side by side, and tell those that were made."""
        context = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(processes, mp_context=context) as pool:
            made = pool.map(self.case, *zip(*cases, strict=True))
            for (name, number), result in progress(zip(cases, made, strict=True), "faults", len(cases), "cases"):
                if result is not None:
                    yield name, number, result


def interleaved(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Order the cases of all attacks so that a campaign that runs out of time has had its share of each."""
    cases = [(name, number) for name, count in counts.items() for number in range(count)]
    return sorted(cases, key=lambda case: ((case[1] + 0.5) / counts[case[0]], case[0]))


def count_outcomes(told: Iterable[Told]) -> list[dict[str, str | int]]:
    """Count outcomes: a row for each kind of attack, and one for all."""
    counted: dict[tuple[str, str], Counter[Outcome]] = {}
    for name, _, result in sorted(told, key=lambda one: (one[0], one[2].attack)):
        for row in ((name, result.attack), ("together", "")):
            counted.setdefault(row, Counter())[result.outcome] += 1
    last = counted.pop(("together", ""), Counter())
    every = [*counted.items(), (("together", ""), last)]
    return [
        {"attack": name, "on": what, "cases": counts.total(), **{str(outcome): counts[outcome] for outcome in Outcome}}
        for (name, what), counts in every
    ]


def markdown(table: Sequence[dict[str, str | int]]) -> str:
    """Give the table as the documentation shows it."""
    head = [*table[0]]
    lines = [
        head,
        ["---", "---", *["---:"] * (len(head) - 2)],
        *([str(cell) for cell in row.values()] for row in table),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write_bad(path: Path, told: Iterable[Told], again: Sequence[str]) -> int:
    """Write the cases that went badly, each with the command that repeats it; say how many there are."""
    bad = [one for one in told if one[2].outcome in BAD]
    with writing(path) as file:
        for name, number, result in bad:
            command = shlex.join([*again, "--only", f"{name}:{number}"])
            print(f"{result.outcome}: {result.what}\n  {command}", file=file)
            for line in result.said.splitlines():
                print(f"    {line}", file=file)
    return len(bad)
