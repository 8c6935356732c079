"""Inject faults into a very small experiment, and count the outcomes.

    python -m benchmarks.faults
    python -m benchmarks.faults --files 1000 --inputs 2000 --configurations 500 --kills 60 --minutes 180

The seed and the number of an attack decide everything about it: `--only files:17` repeats one.
"""

import shutil
import sys
import time
from pathlib import Path
from typing import Annotated

from benchmarks import table
from benchmarks.faults import configurations as of_configurations
from benchmarks.faults import disks as of_disks
from benchmarks.faults import files as of_files
from benchmarks.faults import inputs as of_inputs
from benchmarks.faults import kills as of_kills
from benchmarks.faults import pairs as of_pairs
from benchmarks.faults import stages
from benchmarks.faults.campaign import Campaign, Told, count_outcomes, interleaved, markdown, write_bad
from benchmarks.faults.cases import BAD
from benchmarks.faults.experiment import SMALL, changed_since, undisturbed
from pipeline_py.run.command import Option, run_command
from pipeline_py.run.errors import InputError
from pipeline_py.run.usage import count_processors

ATTACKS = {
    "files": of_files.attack,
    "inputs": of_inputs.attack,
    "configurations": of_configurations.attack,
    "kills": of_kills.attack,
    "disks": of_disks.attack,
    "pairs": of_pairs.attack,
}


def faults(
    *,
    files: Annotated[int, Option(min=0)] = 90,
    inputs: Annotated[int, Option(min=0)] = 120,
    configurations: Annotated[int, Option(min=0)] = 60,
    kills: Annotated[int, Option(min=0)] = 20,
    disks: Annotated[int, Option(min=0)] = 20,
    pairs: Annotated[int, Option(min=0)] = 10,
    target: str = SMALL,
    seed: int = 1,
    minutes: Annotated[int, Option(min=1)] = 10,
    only: list[str] | None = None,
    processes: Annotated[int | None, Option(min=1)] = None,
    keep: bool = False,
    work: Path = Path("benchmarks/work"),
    results: Path = Path("benchmarks/results"),
) -> None:
    """Inject faults into an experiment, and write tables of the outcomes.

    Args:
        files: Number of damaged files. Every stage that reads a file is run on it.
        inputs: Number of well-formed files with wrong content.
        configurations: Number of unusual or wrong configurations, each tried in a dry run.
        kills: Number of kills of stages and trainings at random moments; one in five kills Snakemake.
        disks: Number of disks that are full before a stage has finished.
        pairs: Number of times that the same stage or, one in five, Snakemake runs twice at once.
        target: Target of the experiment; `all` has every kind of system, and takes some minutes before the first
            attack.
        seed: Seed of all attacks.
        minutes: No attack begins after this many minutes.
        only: One attack by name and number, e.g. files:17; repeatable.
        processes: Attacks at the same time; by default one for each processor.
        keep: Keep the folders of the attacks in --work.
        work: Folder for the experiment and its copies, in a new subfolder `faults`.
        results: Folder for `faults.tsv`, and for `faults.txt` with the list of failures.

    Raises:
        InputError: an attack is none, or the experiment fails without any.
    """
    counts = {
        "files": files,
        "inputs": inputs,
        "configurations": configurations,
        "kills": kills,
        "disks": disks,
        "pairs": pairs,
    }
    cases = [_case(name) for name in only] if only else interleaved(counts)
    stages.warm()
    place = (work / "faults").absolute()
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    print("the experiment runs without any attack", file=sys.stderr)
    experiment = undisturbed(place / "experiment", target)
    campaign = Campaign(experiment, ATTACKS, seed, place, time.monotonic() + 60 * minutes, keep)
    told: list[Told] = []
    for one in campaign.all(cases, processes or count_processors()):
        told.append(one)
        if one[2].outcome in BAD:
            print(f"\n{one[0]}:{one[1]}: {one[2].outcome}: {one[2].what}: {one[2].said}", file=sys.stderr)
    if changed := changed_since(experiment):
        raise InputError(f"attacks reached the experiment itself: {changed}", experiment.folder)
    rows = count_outcomes(told)
    table.write(results / "faults.tsv", rows)
    again = ["python", "-m", "benchmarks.faults", "--seed", str(seed), "--target", target]
    bad = write_bad(results / "faults.txt", told, again)
    print(markdown(rows))
    print(f"{len(told)} attacks, {bad} of them went badly: {results / 'faults.txt'}")


def _case(name: str) -> tuple[str, int]:
    attack, _, number = name.partition(":")
    if attack not in ATTACKS or not number.isdecimal():
        raise InputError(f"--only {name} is no attack; an attack is e.g. files:17, the names are {', '.join(ATTACKS)}")
    return attack, int(number)


if __name__ == "__main__":
    run_command(faults)
