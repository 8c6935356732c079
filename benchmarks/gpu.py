"""Measure on a GPU, in limited time: updates, searches, many trainings at once, OpenNMT-py and parsers.

    python -m benchmarks.gpu --minutes 10
    python -m benchmarks.gpu --device cpu                      a trial in tiny sizes
    python -m benchmarks.gpu --only update_tree2seq_medium

The most important measurement comes first. Each is a process of its own, and its row is in `gpu.tsv` at once.
"""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, Literal

from benchmarks import result_table
from benchmarks.gpu_measurements import MEASUREMENTS
from benchmarks.timed_jobs import Outcome, TimedJob, run_jobs
from pipeline_py.run.command_line import run_command
from pipeline_py.run.device_selection import select_device
from pipeline_py.run.errors import InputError

TRIAL_SECONDS = 20
"""Expected seconds of a measurement in tiny sizes on a CPU."""

COLUMNS = {
    "measurement": ("", ""),
    "sizes": ("", ""),
    "precision": ("", ""),
    "recorded": ("recorded", ""),
    "wall_ms": ("wall ms", ",.2f"),
    "kernel_ms": ("kernel ms", ",.2f"),
    "kernels": ("kernels", ",.0f"),
    "busy_share": ("busy", ".0%"),
    "words_per_second": ("words/s", ",.0f"),
    "peak_mb": ("peak MB", ",.0f"),
    "processes": ("processes", "d"),
}


def measure_gpu(
    *,
    minutes: float = 10.0,
    device: Literal["cuda", "cpu"] = "cuda",
    only: list[str] | None = None,
    peers: Path | None = None,
    stanza: Path | None = None,
    text: Path | None = None,
    work: Path = Path("benchmarks/work"),
    results: Path = Path("benchmarks/results"),
) -> None:
    """Measure updates, searches, trainings that share the GPU, OpenNMT-py and parsers, and add rows to `gpu.tsv`.

    A row has the wall-clock time of an update, a search or a text, and the number of its kernels and copies. Its busy
    share is the part of that time in which kernels of the process run: the GPU waits in the rest. With several
    processes, times, kernels and memory are those of one process, and words per second of all. On a CPU, sizes are tiny
    and operators count instead of kernels; profiling slows these down.

    A measurement is skipped if too little time is left for it. Those that need an environment or models which do not
    exist are left out.

    Args:
        minutes: Minutes after which the running measurement is ended.
        device: cuda, or cpu for a trial in tiny sizes.
        only: Names of measurements, if not all are wanted; repeatable.
        peers: Python of an environment with OpenNMT-py; by default that in --work, if it exists.
        stanza: Folder with Stanza's English models, for measurements of parsers with --text.
        text: Tokenized English text that is parsed, one sentence a line, plain or gzipped.
        work: Folder for prepared files and logs.
        results: Folder for `gpu.tsv`, to which rows are added.

    Raises:
        InputError: there is no GPU or no such measurement, or some measurement failed.
    """
    deadline = time.monotonic() + 60 * minutes
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if unknown_names := {*(only or [])} - {*MEASUREMENTS}:
        raise InputError(f"--only {min(unknown_names)} is none of {', '.join(MEASUREMENTS)}")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")  # all processes share one GPU, also where there are several
    select_device(device)
    default_peers = work / "peers" / "bin" / "python"
    peers = peers or (default_peers if default_peers.exists() else None)
    paths = {"work": work, "peers": peers, "stanza": stanza, "text": text}
    options = {"device": device, **{key: str(path.absolute()) for key, path in paths.items() if path is not None}}
    names = only or [name for name, measurement in MEASUREMENTS.items() if measurement.needed_paths <= {*options}]
    jobs = [build_job(name, options) for name in names]
    rows: list[dict[str, Any]] = []
    failures = []
    try:
        for result in run_jobs(jobs, deadline, work / "logs" / "gpu"):
            if result.row is not None:
                result_table.append_row(results / "gpu.tsv", result.row)
                rows.append(result.row)
            if result.outcome is not Outcome.FINISHED:
                print(f"{result.job.name}: {result.outcome}", file=sys.stderr)
            if result.outcome is Outcome.FAILED:
                failures.append(result)
    finally:
        if rows:
            print(" ".join(f"{key} {rows[0][key]}" for key in ("device", "torch", "commit", "code")))
            result_table.print_table(rows, COLUMNS)
    if failures:
        failed_names = ", ".join(result.job.name for result in failures)
        raise InputError(f"{failed_names} failed; the files in this folder say why", failures[0].log_path.parent)


def build_job(name: str, options: dict[str, str]) -> TimedJob:
    """Build the job of a measurement."""
    arguments = [word for key, value in options.items() for word in (f"--{key}", value)]
    command = [sys.executable, "-m", "benchmarks.gpu_measurements", "--measurement", name, *arguments]
    seconds = TRIAL_SECONDS if options["device"] == "cpu" else MEASUREMENTS[name].expected_seconds
    return TimedJob(name, command, seconds)


if __name__ == "__main__":
    run_command(measure_gpu)
