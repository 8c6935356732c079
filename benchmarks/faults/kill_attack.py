"""Attack: kill -9 of a stage, of a training or of all of Snakemake at any moment; then the same command again."""

import os
import signal
import time
from contextlib import suppress

from benchmarks.faults import stage_processes
from benchmarks.faults.cases import (
    AttackCase,
    AttackOutcome,
    AttackResult,
    classify_stage_failure,
    extract_last_message,
)
from benchmarks.faults.experiment import remove_outputs, start_snakemake
from benchmarks.faults.planned_jobs import PlannedJob, select_downstream_jobs
from benchmarks.faults.result_comparison import describe_faults

TIME_LIMIT = 300
"""Seconds."""

TRAINING_RULES = ("train", "pretrain", "train_parser", "train_smt", "learn_bpe")
MAX_KILLS = 3
"""At most so many in one case."""

STARTUP_SECONDS = 4.0
"""Seconds that Snakemake takes, about, before it starts a job."""


def attack_process(case: AttackCase) -> AttackResult:
    """Kill something."""
    return (_kill_random_stage, _kill_random_training, _kill_random_stage, _kill_random_training, _kill_workflow)[
        case.case_number % 5
    ](case)


def _kill_random_stage(case: AttackCase) -> AttackResult:
    return _kill_and_rerun(
        "a stage", case, case.random.choice([job for job in case.experiment.jobs if job.rule != "write_page"])
    )


def _kill_random_training(case: AttackCase) -> AttackResult:
    trainings = [job for job in case.experiment.jobs if job.rule in TRAINING_RULES]
    return _kill_and_rerun("a training", case, case.random.choice(trainings))


def _kill_and_rerun(attack_kind: str, case: AttackCase, job: PlannedJob) -> AttackResult:
    """Kill a stage some times, then let it come to its end."""
    experiment = case.experiment
    experiment.copy_without_outputs(case.folder, job)
    kills = [
        case.random.uniform(0, experiment.stage_seconds[job.name]) for _ in range(case.random.randint(1, MAX_KILLS))
    ]
    description = f"{job.name} killed after {', '.join(f'{seconds:.2f}' for seconds in kills)} s"
    for seconds in kills:
        remove_outputs(case.folder, job.outputs)  # as Snakemake does before it starts a job
        stage_processes.run_stage(job.module_and_argument, case.folder, TIME_LIMIT, kill_seconds=seconds)
    remove_outputs(case.folder, job.outputs)
    process_result = stage_processes.run_stage(job.module_and_argument, case.folder, TIME_LIMIT)
    return _judge_rerun(attack_kind, case, description, process_result, job.outputs)


def _kill_workflow(case: AttackCase) -> AttackResult:
    """Kill Snakemake, or one process of it; what it makes is missing from a job on."""
    experiment, random = case.experiment, case.random
    first = random.choice([job for job in experiment.jobs if job.rule not in ("fetch", "write_page")])
    jobs = [first, *select_downstream_jobs(experiment.jobs, first.outputs)]
    experiment.copy_without_outputs(case.folder, *jobs)
    expected = sum(experiment.stage_seconds[job.name] + 1 for job in jobs) / 2
    after, kills_one_process = STARTUP_SECONDS + random.uniform(0, expected), random.random() < 0.3
    description = (
        f"{'one process' if kills_one_process else 'all'} of Snakemake killed after {after:.1f} s, from {first.name} on"
    )
    process = start_snakemake(case.folder, experiment.target)
    if kills_one_process:
        time.sleep(after)
        _kill_child_process(process, random.random())
        process.wait_for_result(TIME_LIMIT)
    else:
        process.wait_for_result(TIME_LIMIT, kill_seconds=after)
    unlocked = start_snakemake(case.folder, experiment.target, "--unlock").wait_for_result(TIME_LIMIT)
    if unlocked.exit_code != 0:
        return AttackResult(
            "Snakemake",
            classify_stage_failure(unlocked, [""]) or AttackOutcome.VAGUE_ERROR,
            description,
            extract_last_message(unlocked),
        )
    process_result = start_snakemake(case.folder, experiment.target).wait_for_result(TIME_LIMIT)
    return _judge_rerun(
        "Snakemake", case, description, process_result, [output for job in experiment.jobs for output in job.outputs]
    )


def _kill_child_process(snakemake_process: stage_processes.ForkedProcess, random_fraction: float) -> None:
    """Kill a process that Snakemake started, if there is one."""
    child_processes = snakemake_process.list_session_processes()[1:]
    if child_processes:
        with suppress(ProcessLookupError):
            os.kill(child_processes[int(random_fraction * len(child_processes))], signal.SIGKILL)


def _judge_rerun(
    attack_kind: str,
    case: AttackCase,
    description: str,
    process_result: stage_processes.ProcessResult,
    outputs: list[str] | tuple[str, ...],
) -> AttackResult:
    """Compare what is there after the last run with what there is where nothing was killed."""
    ended = classify_stage_failure(process_result, outputs)
    if ended is not None:  # even a clear error is none of the user's making
        worse = AttackOutcome.VAGUE_ERROR if ended is AttackOutcome.CLEAR_ERROR else ended
        return AttackResult(attack_kind, worse, description, extract_last_message(process_result))
    wrong = describe_faults(case.experiment.folder, case.folder, outputs)
    return AttackResult(
        attack_kind, AttackOutcome.WRONG_RESULT if wrong else AttackOutcome.RIGHT_RESULT, description, wrong
    )
