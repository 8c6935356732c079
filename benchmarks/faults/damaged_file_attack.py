"""Attack: a file of the results is damaged after it was written, and what reads it runs."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from benchmarks.faults import stage_processes
from benchmarks.faults.cases import (
    AttackCase,
    AttackOutcome,
    AttackResult,
    classify_stage_failure,
    extract_last_message,
)
from benchmarks.faults.damage import damage_content
from benchmarks.faults.experiment import FaultExperiment, remove_outputs, run_job_successfully
from benchmarks.faults.planned_jobs import PlannedJob
from benchmarks.faults.result_comparison import list_differing_files, list_partial_files
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_record import RECORD_SUFFIX

TIME_LIMIT = 120
"""Seconds."""

MAX_READERS = 2
"""At most so many stages that read a damaged file run."""

ERRORS_PER_REMEDY = 5
"""Number of errors of which the remedy of one is tried."""

RECORD_PATTERN = re.compile(rf"(.*/)\.([^/]+){re.escape(RECORD_SUFFIX)}$")
"""A record, and the output that it is of."""

FILE_KINDS = {
    "checkpoint": re.compile(r"/checkpoints/"),
    "cached copy": re.compile(r"/cache/"),
    "record": RECORD_PATTERN,
    "compiled kernels": re.compile(r"^cache/"),
    ".arrow": re.compile(r"\.arrow$"),
    ".safetensors": re.compile(r"\.safetensors$"),
    "model of a parser": re.compile(r"\.pt$"),
    "JSON or table": re.compile(r"\.(json|tsv|md)$"),
    "text, trees or vocabulary": re.compile(r""),
}
"""A file is of the first kind that it fits."""


def get_file_kind(file: str) -> str:
    """Say what a file is."""
    return next(kind for kind, pattern in FILE_KINDS.items() if pattern.search(file))


def attack_file(case: AttackCase) -> AttackResult:
    """Damage a file, and run stages that read it."""
    experiment, random = case.experiment, case.random
    of_kinds = _group_files_by_kind(experiment)
    kind = [*of_kinds][case.case_number % len(of_kinds)]
    file = random.choice(of_kinds[kind])
    content, way = damage_content((experiment.folder / file).read_bytes(), random)
    everywhere = random.random() < 0.5
    readers = find_readers(experiment, file)
    selected_jobs = random.sample(readers, min(MAX_READERS, len(readers)))
    description = f"{way} {file}{' and what is linked with it' if everywhere else ''}"

    experiment.copy_to(case.folder)
    hit = _find_hard_links(case.folder, file) if everywhere else [case.folder / file]
    for path in hit:
        path.unlink()
        path.write_bytes(content)
    if kind == "checkpoint":  # a training whose outputs were kept looks at no checkpoint
        shutil.rmtree(case.folder / Path(file).parents[1] / "cache", ignore_errors=True)
    outcome, message = AttackOutcome.RIGHT_RESULT, ""
    for job in selected_jobs:
        remove_outputs(case.folder, job.outputs)
        process_result = stage_processes.run_stage(job.module_and_argument, case.folder, TIME_LIMIT)
        ended = classify_stage_failure(process_result, [file, RECORD_PATTERN.sub(r"\1\2", file)])
        different = [] if ended else list_differing_files(experiment.folder, case.folder, job.outputs)
        experiment.restore_files(case.folder, job.outputs)
        if ended is None:
            if different:
                return AttackResult(
                    kind, AttackOutcome.WRONG_RESULT, f"{description}; {job.name}", f"differs: {different}"
                )
            continue
        outcome, message = ended, f"{job.name}: {extract_last_message(process_result)}"
        if ended is not AttackOutcome.CLEAR_ERROR:
            return AttackResult(kind, ended, description, message)
    if outcome is AttackOutcome.CLEAR_ERROR and case.case_number // len(of_kinds) % ERRORS_PER_REMEDY == 0:
        different = _apply_remedy(case, RECORD_PATTERN.sub(r"\1\2", file), selected_jobs)
        if different:
            return AttackResult(
                kind, AttackOutcome.WRONG_RESULT, f"{description}; then the remedy", f"differs: {different}"
            )
    if left := list_partial_files(case.folder):
        return AttackResult(kind, AttackOutcome.WRONG_RESULT, description, f"leaves {left}")
    return AttackResult(kind, outcome, description, message)


def find_readers(experiment: FaultExperiment, file: str) -> list[PlannedJob]:
    """The jobs that read a file, or the output that it is the record of; the report only where no other does."""
    read = RECORD_PATTERN.sub(r"\1\2", file)
    readers = [job for job in experiment.jobs if job.is_reader_of(read)]
    return [job for job in readers if job.rule != "write_page"] or readers


def _group_files_by_kind(experiment: FaultExperiment) -> dict[str, list[str]]:
    """The files that are read, by their kinds."""
    files: dict[str, list[str]] = {}
    for file in experiment.file_names:
        if Path(file).parts[0] in ("results", "cache") and find_readers(experiment, file):
            files.setdefault(get_file_kind(file), []).append(file)
    return files


def _apply_remedy(case: AttackCase, file: str, readers: Sequence[PlannedJob]) -> list[str]:
    """Remove a damaged file and run again, as its error says; what differs then."""
    maker = case.experiment.find_producer(file)
    (case.folder / file).unlink(missing_ok=True)
    jobs = [job for job in case.experiment.jobs if job == maker or job in readers]
    try:
        for job in jobs:
            remove_outputs(case.folder, job.outputs)
            run_job_successfully(job, case.folder)
    except InputError as error:
        return [str(error)]
    return list_differing_files(case.experiment.folder, case.folder, [file for job in jobs for file in job.outputs])


def _find_hard_links(folder: Path, file: str) -> list[Path]:
    number = (folder / file).stat().st_ino
    return [path for path in folder.rglob("*") if path.is_file() and path.stat().st_ino == number]
