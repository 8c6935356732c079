"""How long a job takes: as it took here before, else as its like did, here or in the embedded experiment.

What jobs took is in the files that Snakemake writes at `benchmark:`, BENCHMARKS/ROOM/STAGE/NAME.tsv.
"""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import NamedTuple

START = 0.3
"""Seconds until a process works, however little it has to do."""

SAMPLED = 10.0
"""Seconds that a job has to take for Snakemake's samples of its time on the processor to be worth something."""

TYPICAL = Path(__file__).with_name("typical_seconds.tsv")
"""What the jobs of the embedded experiment took where the file was made (`python -m benchmarks.typical_seconds`)."""


class Job(NamedTuple):
    """A job as its benchmark file calls it."""

    stage: str
    """ROOM/STAGE."""

    name: str


RunTimes = Mapping[Job, float]
"""Seconds of jobs."""


def job_of(file: Path, benchmarks: Path) -> Job:
    """The job that a benchmark file below a folder is of; a table's name may have a folder of its own."""
    room, stage, *name = file.relative_to(benchmarks).parts
    return Job(f"{room}/{stage}", "/".join(name).removesuffix(".tsv"))


def recorded(benchmarks: Path) -> dict[Job, float]:
    """What jobs took, by the files below a folder; of a job that was resumed, the last part.

    Where a job shared its processor with others, that is the time it had of it: more jobs at a time make none slower.
    """
    found = {}
    for file in sorted(benchmarks.glob("*/*/**/*.tsv")):
        with file.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                wall, busy = _number(row.get("s")), _number(row.get("cpu_time"))
                if wall is not None:
                    found[job_of(file, benchmarks)] = wall if busy is None or wall < SAMPLED else min(wall, busy)
    return found


def _number(cell: str | None) -> float | None:
    """The number in a cell, which is `NA` or `-` where Snakemake has none."""
    try:
        return float(cell or "")
    except ValueError:
        return None


def typical() -> dict[Job, float]:
    """What the jobs of the embedded experiment took."""
    with TYPICAL.open(encoding="utf-8", newline="") as lines:
        return {Job(row["stage"], row["job"]): float(row["seconds"]) for row in csv.DictReader(lines, delimiter="\t")}


def expected(job: Job, here: RunTimes, elsewhere: RunTimes, growth: Callable[[], float]) -> float:
    """Seconds that a job will take, about.

    Args:
        job: The job.
        here: What jobs took on this machine, for this experiment.
        elsewhere: What those of the embedded experiment took.
        growth: How many times more work the job is than its like in the embedded experiment; asked for only where
            nothing of its stage has run here.

    Returns:
        0 for a stage of which nothing is known at all.
    """
    if job in here:
        return here[job]
    of_stage = _of_stage(job, elsewhere)
    like = elsewhere.get(job, median(of_stage.values()) if of_stage else 0.0)
    if seen := {other: seconds for other, seconds in here.items() if other.stage == job.stage}:
        in_both = [seconds / elsewhere[other] for other, seconds in seen.items() if elsewhere.get(other)]
        return like * median(in_both) if in_both and like else median(seen.values())
    return min(like, START) + max(like - START, 0.0) * growth()


def _of_stage(job: Job, times: RunTimes) -> RunTimes:
    """Times of jobs of the same stage; of those for the training text, or of the others, as the job is one or not."""
    of_stage = {other: seconds for other, seconds in times.items() if other.stage == job.stage}
    alike = {other: seconds for other, seconds in of_stage.items() if _trains(other) == _trains(job)}
    return alike or of_stage


def _trains(job: Job) -> bool:
    return "train" in job.name.split(".")
