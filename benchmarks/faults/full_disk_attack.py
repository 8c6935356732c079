"""Attack: the disk is full before a stage is done; then there is room, and it runs again."""

import os
import shutil
import subprocess
from pathlib import Path

from benchmarks.faults import stage_processes
from benchmarks.faults.cases import (
    AttackCase,
    AttackOutcome,
    AttackResult,
    classify_stage_failure,
    extract_last_message,
)
from benchmarks.faults.experiment import remove_outputs, remove_reusable_files
from benchmarks.faults.planned_jobs import PlannedJob
from benchmarks.faults.result_comparison import describe_faults

TIME_LIMIT = 120
"""Seconds."""

PAGE_SIZE = 4096
"""Bytes of the blocks of a disk in memory."""

SPACIOUS_DISK_SIZE = "256m"
"""Size of a disk with free space, for the mount option `size`."""


def attack_disk(case: AttackCase) -> AttackResult:
    """Fill a disk in memory where this user may mount one; else files may not grow."""
    job = case.random.choice([job for job in case.experiment.jobs if job.rule != "write_page"])
    if case.case_number % 2 == 0 and os.geteuid() == 0 and shutil.which("mount"):
        return _run_on_full_disk(case, job)
    return _run_with_file_size_limit(case, job)


def _run_with_file_size_limit(case: AttackCase, job: PlannedJob) -> AttackResult:
    experiment = case.experiment
    experiment.copy_without_outputs(case.folder, job)
    most = max(_compute_size(experiment.folder / output) for output in job.outputs)
    size = case.random.randrange(max(most, 1))
    process_result = stage_processes.run_stage(job.module_and_argument, case.folder, TIME_LIMIT, max_file_size=size)
    return _judge_disk_result(
        "files of limited size", case, job, process_result, f"{job.name} with files of at most {size} bytes"
    )


def _run_on_full_disk(case: AttackCase, job: PlannedJob) -> AttackResult:
    experiment = case.experiment
    needed = experiment.list_job_inputs(job)
    free = case.random.randrange(
        1, sum(_compute_size(experiment.folder / output) // PAGE_SIZE + 3 for output in job.outputs) + 1
    )
    case.folder.mkdir()
    mounted = _run_mount("-t", "tmpfs", "-o", f"size={SPACIOUS_DISK_SIZE}", "tmpfs", str(case.folder))
    if not mounted:
        case.folder.rmdir()
        return _run_with_file_size_limit(case, job)
    try:
        for path in needed:
            (case.folder / path).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (experiment.folder / path).is_dir() else shutil.copy2
            copy(experiment.folder / path, case.folder / path)
        remove_reusable_files(case.folder, job)
        shutil.copytree(experiment.folder / "cache", case.folder / "cache")
        used = shutil.disk_usage(case.folder).used
        _run_mount("-o", f"remount,size={used + free * PAGE_SIZE}", str(case.folder))
        process_result = stage_processes.run_stage(job.module_and_argument, case.folder, TIME_LIMIT)
        _run_mount("-o", f"remount,size={SPACIOUS_DISK_SIZE}", str(case.folder))
        return _judge_disk_result(
            "full disk", case, job, process_result, f"{job.name} with {free * PAGE_SIZE} bytes free"
        )
    finally:
        subprocess.run(["umount", "-l", str(case.folder)], check=True)


def _judge_disk_result(
    attack_kind: str, case: AttackCase, job: PlannedJob, process_result: stage_processes.ProcessResult, description: str
) -> AttackResult:
    """Judge a stage on a full disk, and what it makes when there is room."""
    ended = classify_stage_failure(
        process_result, ["the disk is full", *job.outputs, *(str(Path(output).parent) for output in job.outputs)]
    )
    if ended not in (None, AttackOutcome.CLEAR_ERROR):
        return AttackResult(
            attack_kind, ended or AttackOutcome.RIGHT_RESULT, description, extract_last_message(process_result)
        )
    if ended is None and (wrong := describe_faults(case.experiment.folder, case.folder, job.outputs)):
        return AttackResult(attack_kind, AttackOutcome.WRONG_RESULT, description, wrong)
    remove_outputs(case.folder, job.outputs)
    again = stage_processes.run_stage(job.module_and_argument, case.folder, TIME_LIMIT)
    if again.exit_code != 0:
        return AttackResult(
            attack_kind, AttackOutcome.WRONG_RESULT, f"{description}; then with room", extract_last_message(again)
        )
    if wrong := describe_faults(case.experiment.folder, case.folder, job.outputs):
        return AttackResult(attack_kind, AttackOutcome.WRONG_RESULT, f"{description}; then with room", wrong)
    return AttackResult(
        attack_kind,
        ended or AttackOutcome.RIGHT_RESULT,
        description,
        extract_last_message(process_result) if ended else "",
    )


def _compute_size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    return sum(file.stat().st_size for file in [path, *path.rglob("*")] if file.is_file())


def _run_mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True).returncode == 0
