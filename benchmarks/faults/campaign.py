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

from benchmarks.faults.cases import BAD_OUTCOMES, AttackCase, AttackOutcome, AttackResult
from benchmarks.faults.experiment import FaultExperiment
from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.run.progress_display import show_progress

AttackFunction = Callable[[AttackCase], AttackResult]
NumberedResult = tuple[str, int, AttackResult]
"""The name of an attack, the number of the case, and what became of it."""


@dataclass(frozen=True)
class FaultCampaign:
    """Attacks on an experiment.

    Attributes:
        experiment: whose copies are attacked.
        attacks: by name.
        seed: with an attack's name and its number, decides everything of a case.
        folder: for the copies.
        deadline: when no further case begins, as `time.monotonic` counts.
        keeps_folders: leave the folders of cases.
    """

    experiment: FaultExperiment
    attacks: Mapping[str, AttackFunction]
    seed: int
    folder: Path
    deadline: float
    keeps_folders: bool = False

    def run_case(self, attack_name: str, case_number: int) -> AttackResult | None:
        """Make one case; None where there is no time any more."""
        if time.monotonic() > self.deadline:
            return None
        folder = self.folder / f"{attack_name}.{case_number}"
        try:
            return self.attacks[attack_name](
                AttackCase(self.experiment, folder, Random(f"{self.seed} {attack_name} {case_number}"), case_number)
            )
        except Exception:
            # A campaign of hours is not lost for a case that it did not foresee.
            return AttackResult(attack_name, AttackOutcome.TRACEBACK, "the attack itself fails", traceback.format_exc())
        finally:
            if not self.keeps_folders:
                shutil.rmtree(folder, ignore_errors=True)

    def run_cases(self, case_ids: Sequence[tuple[str, int]], process_count: int) -> Iterator[NumberedResult]:
        """Make cases side by side, and tell those that were made."""
        context = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(process_count, mp_context=context) as pool:
            results = pool.map(self.run_case, *zip(*case_ids, strict=True))
            for (name, number), result in show_progress(
                zip(case_ids, results, strict=True), "faults", len(case_ids), "cases"
            ):
                if result is not None:
                    yield name, number, result


def interleave_cases(case_counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Order the cases of all attacks so that a campaign that runs out of time has had its share of each."""
    cases = [(name, number) for name, count in case_counts.items() for number in range(count)]
    return sorted(cases, key=lambda case: ((case[1] + 0.5) / case_counts[case[0]], case[0]))


def count_outcomes(results: Iterable[NumberedResult]) -> list[dict[str, str | int]]:
    """Count outcomes: a row for each kind of attack, and one for all."""
    counted: dict[tuple[str, str], Counter[AttackOutcome]] = {}
    for name, _, result in sorted(results, key=lambda case: (case[0], case[2].attack_kind)):
        for row in ((name, result.attack_kind), ("together", "")):
            counted.setdefault(row, Counter())[result.outcome] += 1
    last = counted.pop(("together", ""), Counter())
    every = [*counted.items(), (("together", ""), last)]
    return [
        {
            "attack": name,
            "on": attack_kind,
            "cases": counts.total(),
            **{str(outcome): counts[outcome] for outcome in AttackOutcome},
        }
        for (name, attack_kind), counts in every
    ]


def render_markdown_table(rows: Sequence[dict[str, str | int]]) -> str:
    """Give the table as the documentation shows it."""
    head = [*rows[0]]
    lines = [
        head,
        ["---", "---", *["---:"] * (len(head) - 2)],
        *([str(cell) for cell in row.values()] for row in rows),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write_bad_cases(path: Path, results: Iterable[NumberedResult], repeat_command: Sequence[str]) -> int:
    """Write the cases that went badly, each with the command that repeats it; say how many there are."""
    bad = [result for result in results if result[2].outcome in BAD_OUTCOMES]
    with open_atomic_text_file(path) as file:
        for name, number, result in bad:
            command = shlex.join([*repeat_command, "--only", f"{name}:{number}"])
            print(f"{result.outcome}: {result.description}\n  {command}", file=file)
            for line in result.message.splitlines():
                print(f"    {line}", file=file)
    return len(bad)
