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

from benchmarks import result_table
from benchmarks.faults import concurrency_attack as of_pairs
from benchmarks.faults import configuration_attack as of_configurations
from benchmarks.faults import damaged_file_attack as of_files
from benchmarks.faults import full_disk_attack as of_disks
from benchmarks.faults import kill_attack as of_kills
from benchmarks.faults import stage_processes
from benchmarks.faults import wrong_input_attack as of_inputs
from benchmarks.faults.campaign import (
    FaultCampaign,
    NumberedResult,
    count_outcomes,
    interleave_cases,
    render_markdown_table,
    write_bad_cases,
)
from benchmarks.faults.cases import BAD_OUTCOMES
from benchmarks.faults.experiment import SMALL_TARGET, list_changed_files, run_undisturbed
from pipeline_py.run.command_line import OptionLimits, run_command
from pipeline_py.run.cpu_usage import count_processors
from pipeline_py.run.errors import InputError

ATTACK_FUNCTIONS = {
    "files": of_files.attack_file,
    "inputs": of_inputs.attack_input,
    "configurations": of_configurations.attack_configuration,
    "kills": of_kills.attack_process,
    "disks": of_disks.attack_disk,
    "pairs": of_pairs.attack_concurrently,
}


def inject_faults(
    *,
    files: Annotated[int, OptionLimits(minimum=0)] = 90,
    inputs: Annotated[int, OptionLimits(minimum=0)] = 120,
    configurations: Annotated[int, OptionLimits(minimum=0)] = 60,
    kills: Annotated[int, OptionLimits(minimum=0)] = 20,
    disks: Annotated[int, OptionLimits(minimum=0)] = 20,
    pairs: Annotated[int, OptionLimits(minimum=0)] = 10,
    target: str = SMALL_TARGET,
    seed: int = 1,
    minutes: Annotated[int, OptionLimits(minimum=1)] = 10,
    only: list[str] | None = None,
    processes: Annotated[int | None, OptionLimits(minimum=1)] = None,
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
    cases = [_parse_case_id(name) for name in only] if only else interleave_cases(counts)
    stage_processes.import_stage_modules()
    place = (work / "faults").absolute()
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    print("the experiment runs without any attack", file=sys.stderr)
    experiment = run_undisturbed(place / "experiment", target)
    campaign = FaultCampaign(experiment, ATTACK_FUNCTIONS, seed, place, time.monotonic() + 60 * minutes, keep)
    case_results: list[NumberedResult] = []
    for result in campaign.run_cases(cases, processes or count_processors()):
        case_results.append(result)
        if result[2].outcome in BAD_OUTCOMES:
            print(
                f"\n{result[0]}:{result[1]}: {result[2].outcome}: {result[2].description}: {result[2].message}",
                file=sys.stderr,
            )
    if changed := list_changed_files(experiment):
        raise InputError(f"attacks reached the experiment itself: {changed}", experiment.folder)
    rows = count_outcomes(case_results)
    result_table.write_table(results / "faults.tsv", rows)
    again = ["python", "-m", "benchmarks.faults", "--seed", str(seed), "--target", target]
    bad = write_bad_cases(results / "faults.txt", case_results, again)
    print(render_markdown_table(rows))
    print(f"{len(case_results)} attacks, {bad} of them went badly: {results / 'faults.txt'}")


def _parse_case_id(case_id: str) -> tuple[str, int]:
    attack, _, number = case_id.partition(":")
    if attack not in ATTACK_FUNCTIONS or not number.isdecimal():
        raise InputError(
            f"--only {case_id} is no attack; an attack is e.g. files:17, the names are {', '.join(ATTACK_FUNCTIONS)}"
        )
    return attack, int(number)


if __name__ == "__main__":
    run_command(inject_faults)
