"""Attack: what a stage reads is well written and wrong, as a user's file or that of other software may be."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow.feather

from benchmarks.faults import stage_processes
from benchmarks.faults.cases import (
    AttackCase,
    AttackOutcome,
    AttackResult,
    classify_stage_failure,
    extract_last_message,
)
from benchmarks.faults.experiment import SPLIT_TEXTS, USER_FILES_FOLDER, FaultExperiment, remove_outputs
from benchmarks.faults.mutations import mutate_content
from benchmarks.faults.planned_jobs import PlannedJob, select_downstream_jobs
from benchmarks.faults.result_comparison import list_partial_files
from pipeline_py.run.job_record import remove_records

TIME_LIMIT = 60
"""Seconds."""

BINARY_SUFFIXES = (".arrow", ".safetensors", ".pt", ".so", ".pdf", ".svg", ".html")
"""Endings of binary files."""

CHEAP_PACKAGES = ("corpus", "subword", "syntax")
"""Packages whose stages run behind a user's file, as far as they train nothing."""

DROPPING_RULES = ("clean", "import_trees")
"""Rules that drop sentences and say so, or skip empty ones."""

COSTLY_RULES = ("train_parser", "learn_segmenter", "parse")
SENTENCE_COUNTS = {size for size, *_ in SPLIT_TEXTS.values()}


def attack_input(case: AttackCase) -> AttackResult:
    """Mutate a file, and run a stage that reads it; of a user's file also what comes behind."""
    experiment, random = case.experiment, case.random
    users = case.case_number % 2 == 0
    of_stages = _group_inputs_by_rule(experiment, users)
    rule = [*of_stages][case.case_number // 2 % len(of_stages)]
    job, file = random.choice(of_stages[rule])
    content, ways = mutate_content((experiment.folder / file).read_bytes(), random)
    description = f"{ways} in {file}"
    experiment.copy_to(case.folder)
    path = case.folder / file
    path.unlink()
    path.write_bytes(content)
    remove_records([path])  # a file from elsewhere has no record
    jobs = [*filter(_is_cheap, select_downstream_jobs(experiment.jobs, [file]))] if users else [job]
    for job in jobs:
        remove_outputs(case.folder, job.outputs)
    name = "a user's file" if users else f"a file of {Path(file).parts[1]}"
    changed = {file}
    for job in jobs:
        process_result = stage_processes.run_stage(job.module_and_argument, case.folder, TIME_LIMIT)
        ended = classify_stage_failure(process_result, [*job.path_arguments, *_list_user_files(experiment)])
        if ended is not None:
            return AttackResult(name, ended, f"{description}; {job.name}", extract_last_message(process_result))
        changed.update(job.outputs)
        if lost := _describe_lost_sentences(experiment, case.folder, job):
            return AttackResult(name, AttackOutcome.WRONG_RESULT, f"{description}; {job.name}", lost)
    left = list_partial_files(case.folder)
    return AttackResult(
        name,
        AttackOutcome.WRONG_RESULT if left else AttackOutcome.RIGHT_RESULT,
        description,
        f"leaves {left}" if left else "",
    )


def _group_inputs_by_rule(experiment: FaultExperiment, is_user_file: bool) -> dict[str, list[tuple[PlannedJob, str]]]:
    """Jobs with the text files that they read, by rule: users' files, or what stages made."""
    read: dict[str, list[tuple[PlannedJob, str]]] = {}
    for job in experiment.jobs:
        for file in sorted(job.path_arguments & experiment.checksums.keys() - {*job.outputs}):
            is_text = not file.endswith(BINARY_SUFFIXES)
            if is_text and file.startswith(f"{USER_FILES_FOLDER}/") == is_user_file and job.rule not in COSTLY_RULES:
                read.setdefault(job.rule, []).append((job, file))
    return read


def _is_cheap(job: PlannedJob) -> bool:
    return (
        any(job.stage_module.startswith(f"pipeline_py.{package}.") for package in CHEAP_PACKAGES)
        and job.rule not in COSTLY_RULES
    )


def _list_user_files(experiment: FaultExperiment) -> Sequence[str]:
    return [file for file in experiment.file_names if file.startswith(f"{USER_FILES_FOLDER}/")]


def _describe_lost_sentences(experiment: FaultExperiment, folder: Path, job: PlannedJob) -> str:
    """Say where files of a job that had a line or a row for each sentence have different numbers of them now."""
    counted = [file for file in job.inputs if job.rule not in DROPPING_RULES and file.split("/")[1] != "raw"]
    by_size: dict[int | None, dict[str, int | None]] = {}
    for file in (*counted, *job.outputs):
        size = count_sentences(experiment.folder / file)
        if size in SENTENCE_COUNTS:
            by_size.setdefault(size, {})[file] = count_sentences(folder / file)
    return next((f"sentences: {sizes}" for sizes in by_size.values() if len({*sizes.values()}) > 1), "")


def count_sentences(path: Path) -> int | None:
    """Count sentences by lines, rows or blocks of lines; return None for other formats."""
    if not path.is_file():
        return None
    if path.suffix == ".arrow":
        return pyarrow.feather.read_table(path).num_rows
    if path.suffix == ".conllu":
        blocks = path.read_bytes().replace(b"\r\n", b"\n").split(b"\n\n")
        return sum(block.lstrip().startswith((b"#", b"1\t", b"1-")) for block in blocks)
    if path.suffix in (".json", ".tsv", ".md"):
        return None
    content = path.read_bytes()
    return content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
