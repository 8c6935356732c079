"""Commands that run one after the other within a time limit; a crash or hang costs only the command itself."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

HANG_FACTOR = 3
"""A command that takes so many times its expected time is ended."""


class Outcome(StrEnum):
    """The outcome of a command."""

    FINISHED = "finished"
    FAILED = "failed"
    ENDED = "ended as it took too long"
    SKIPPED = "skipped as too little time is left"


class TimedJob(NamedTuple):
    """A command that prints its results, one JSON object a line.

    A later line replaces an earlier one, so that a command that is ended leaves its last result.
    """

    name: str
    command: Sequence[str]
    expected_seconds: float


class JobResult(NamedTuple):
    """The outcome of a job, its last result (None if there is none), and the file of its messages."""

    job: TimedJob
    outcome: Outcome
    row: dict[str, Any] | None
    log_path: Path


def run_jobs(jobs: Sequence[TimedJob], deadline: float, log_folder: Path) -> Iterator[JobResult]:
    """Run the jobs for which enough time is left, in their order.

    Args:
        jobs: the most important one first.
        deadline: time of `time.monotonic` at which the running job is ended.
        log_folder: folder for a file of messages of each job.
    """
    log_folder.mkdir(parents=True, exist_ok=True)
    for job in jobs:
        log_path = log_folder / f"{job.name}.txt"
        seconds_left = deadline - time.monotonic()
        if seconds_left < job.expected_seconds:
            yield JobResult(job, Outcome.SKIPPED, None, log_path)
            continue
        print(f"{job.name}: {seconds_left:.0f} s left", file=sys.stderr, flush=True)
        outcome, row = _run_job(job, min(seconds_left, HANG_FACTOR * job.expected_seconds), log_path)
        yield JobResult(job, outcome, row, log_path)


def _run_job(job: TimedJob, time_limit: float, log_path: Path) -> tuple[Outcome, dict[str, Any] | None]:
    """Run a job in a process group of its own, of which no process is left afterwards."""
    with log_path.open("w", encoding="utf-8") as log:
        process = subprocess.Popen(job.command, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=time_limit)
        outcome = Outcome.FAILED if process.returncode else Outcome.FINISHED
    except subprocess.TimeoutExpired:
        _kill_group(process.pid)
        output, _ = process.communicate()
        outcome = Outcome.ENDED
    finally:
        _kill_group(process.pid)
        process.wait()
    lines = [line for line in output.splitlines(keepends=True) if line.startswith("{") and line.endswith("\n")]
    return outcome, json.loads(lines[-1]) if lines else None


def _kill_group(group_id: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group_id, signal.SIGKILL)
