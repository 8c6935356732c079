"""Attack: the disk is full before a stage is done; then there is room, and it runs again."""

import os
import shutil
import subprocess
from pathlib import Path

from benchmarks.faults import stages
from benchmarks.faults.cases import Case, Outcome, Result, failed, last_words
from benchmarks.faults.experiment import forget, remove
from benchmarks.faults.jobs import Job
from benchmarks.faults.results import describe_faults

LIMIT = 120
"""Seconds."""

PAGE = 4096
"""Bytes of the blocks of a disk in memory."""

ROOM = "256m"
"""Of a disk that is not full."""


def attack(case: Case) -> Result:
    """Fill a disk in memory where this user may mount one; else files may not grow."""
    job = case.random.choice([job for job in case.experiment.jobs if job.rule != "report"])
    if case.number % 2 == 0 and os.geteuid() == 0 and shutil.which("mount"):
        return _on_full_disk(case, job)
    return _with_small_files(case, job)


def _with_small_files(case: Case, job: Job) -> Result:
    experiment = case.experiment
    experiment.copied_before(case.folder, job)
    most = max(_size(experiment.folder / output) for output in job.outputs)
    size = case.random.randrange(max(most, 1))
    done = stages.stage(job.command, case.folder, LIMIT, file_size=size)
    return _judged("files of limited size", case, job, done, f"{job.name} with files of at most {size} bytes")


def _on_full_disk(case: Case, job: Job) -> Result:
    experiment = case.experiment
    needed = experiment.read_by(job)
    free = case.random.randrange(1, sum(_size(experiment.folder / output) // PAGE + 3 for output in job.outputs) + 1)
    case.folder.mkdir()
    mounted = _mount("-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(case.folder))
    if not mounted:
        case.folder.rmdir()
        return _with_small_files(case, job)
    try:
        for path in needed:
            (case.folder / path).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (experiment.folder / path).is_dir() else shutil.copy2
            copy(experiment.folder / path, case.folder / path)
        forget(case.folder, job)
        shutil.copytree(experiment.folder / "cache", case.folder / "cache")
        used = shutil.disk_usage(case.folder).used
        _mount("-o", f"remount,size={used + free * PAGE}", str(case.folder))
        done = stages.stage(job.command, case.folder, LIMIT)
        _mount("-o", f"remount,size={ROOM}", str(case.folder))
        return _judged("full disk", case, job, done, f"{job.name} with {free * PAGE} bytes free")
    finally:
        subprocess.run(["umount", "-l", str(case.folder)], check=True)


def _judged(on: str, case: Case, job: Job, done: stages.Done, what: str) -> Result:
    """Judge a stage on a full disk, and what it makes when there is room."""
    ended = failed(done, ["the disk is full", *job.outputs, *(str(Path(output).parent) for output in job.outputs)])
    if ended not in (None, Outcome.CLEAR):
        return Result(on, ended or Outcome.RIGHT, what, last_words(done))
    if ended is None and (wrong := describe_faults(case.experiment.folder, case.folder, job.outputs)):
        return Result(on, Outcome.WRONG, what, wrong)
    remove(case.folder, job.outputs)
    again = stages.stage(job.command, case.folder, LIMIT)
    if again.code != 0:
        return Result(on, Outcome.WRONG, f"{what}; then with room", last_words(again))
    if wrong := describe_faults(case.experiment.folder, case.folder, job.outputs):
        return Result(on, Outcome.WRONG, f"{what}; then with room", wrong)
    return Result(on, ended or Outcome.RIGHT, what, last_words(done) if ended else "")


def _size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    return sum(file.stat().st_size for file in [path, *path.rglob("*")] if file.is_file())


def _mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True).returncode == 0
