"""Attack: two of the same at once, in one folder."""

import time

from benchmarks.faults import stage_processes
from benchmarks.faults.cases import (
    AttackCase,
    AttackOutcome,
    AttackResult,
    classify_stage_failure,
    extract_last_message,
)
from benchmarks.faults.experiment import remove_outputs, start_snakemake
from benchmarks.faults.kill_attack import TIME_LIMIT
from benchmarks.faults.planned_jobs import select_downstream_jobs
from benchmarks.faults.result_comparison import describe_faults

CONCURRENT_RUN_MESSAGES = ("Directory cannot be locked", "a concurrent process has deleted it")
"""Messages of a Snakemake process that another one blocks, by its lock or by deleting a file."""


def attack_concurrently(case: AttackCase) -> AttackResult:
    """Start two stages, or two workflows."""
    return _start_workflow_twice(case) if case.case_number % 5 == 4 else _start_stage_twice(case)


def _start_stage_twice(case: AttackCase) -> AttackResult:
    """Start the same stage twice, the second a moment after the first; both write the same outputs."""
    experiment = case.experiment
    job = case.random.choice([job for job in experiment.jobs if job.rule != "write_page"])
    experiment.copy_without_outputs(case.folder, job)
    between = case.random.uniform(0, experiment.stage_seconds[job.name] / 2)
    first = stage_processes.start_stage(job.module_and_argument, case.folder)
    time.sleep(between)
    second = stage_processes.start_stage(job.module_and_argument, case.folder)
    return _judge_concurrent_results(
        "stages", case, f"{job.name} twice, {between:.2f} s apart", [first, second], job.outputs
    )


def _start_workflow_twice(case: AttackCase) -> AttackResult:
    experiment = case.experiment
    experiment.copy_to(case.folder)
    last = case.random.choice([job for job in experiment.jobs if job.rule in ("score", "postprocess", "vocabulary")])
    jobs = [last, *select_downstream_jobs(experiment.jobs, last.outputs)]
    for job in jobs:
        remove_outputs(case.folder, job.outputs)
    between = case.random.uniform(0, 5)
    first = start_snakemake(case.folder, experiment.target)
    time.sleep(between)
    second = start_snakemake(case.folder, experiment.target)
    outputs = [output for job in experiment.jobs for output in job.outputs]
    return _judge_concurrent_results(
        "workflows", case, f"Snakemake twice, {between:.1f} s apart", [first, second], outputs
    )


def is_refused_run(process_result: stage_processes.ProcessResult) -> bool:
    """Return whether Snakemake stopped because of another process and reported it."""
    return any(words in process_result.output for words in CONCURRENT_RUN_MESSAGES)


def _judge_concurrent_results(
    attack_kind: str,
    case: AttackCase,
    description: str,
    processes: list[stage_processes.ForkedProcess],
    outputs: list[str] | tuple[str, ...],
) -> AttackResult:
    """One of two may fail, where it says why; then the results are those of the other."""
    ends = [process.wait_for_result(TIME_LIMIT) for process in processes]
    outcomes = [
        AttackOutcome.CLEAR_ERROR
        if end.exit_code == 1 and is_refused_run(end)
        else classify_stage_failure(end, [str(case.folder), *outputs])
        for end in ends
    ]
    messages = " || ".join(extract_last_message(end) for end, outcome in zip(ends, outcomes, strict=True) if outcome)
    for outcome in outcomes:
        if outcome not in (None, AttackOutcome.CLEAR_ERROR):
            return AttackResult(attack_kind, outcome or AttackOutcome.RIGHT_RESULT, description, messages)
    if outcomes.count(AttackOutcome.CLEAR_ERROR) == len(outcomes):
        return AttackResult(attack_kind, AttackOutcome.VAGUE_ERROR, description, messages)
    if wrong := describe_faults(case.experiment.folder, case.folder, outputs):
        return AttackResult(attack_kind, AttackOutcome.WRONG_RESULT, description, wrong)
    return AttackResult(
        attack_kind,
        AttackOutcome.CLEAR_ERROR if AttackOutcome.CLEAR_ERROR in outcomes else AttackOutcome.RIGHT_RESULT,
        description,
        messages,
    )
