"""Search for outputs that the jobs of a plan have not made."""

import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from pipeline_py.plan.plan import ExperimentPlan
from pipeline_py.run.job import hash_json
from pipeline_py.run.job_record import get_record_path, has_recorded_name, read_record

WORK_FOLDERS = ("cache", "checkpoints", "tensorboard")
"""Folders of jobs that are not outputs."""

UNRECORDED_FILES = ("report.manifest.json",)
"""Files that the main process of Snakemake writes, without records."""


def find_outdated_outputs(plan: ExperimentPlan, results_folder: Path) -> Iterator[str]:
    """Yield outputs without a record or whose record does not match the job in the plan.

    An output is a file, or a folder with a record. Files that no job of the plan makes are included.
    """
    for root, folders, names in os.walk(results_folder):
        outputs = [folder for folder in folders if get_record_path(Path(root, folder)).exists()]
        folders[:] = [folder for folder in folders if folder not in (*WORK_FOLDERS, *outputs)]
        for name in [*names, *outputs]:
            path = Path(root, name)
            file = path.relative_to(results_folder)
            if name.startswith(".") or str(file) in UNRECORDED_FILES:
                continue
            if not _is_current_output(plan, path, file):
                yield str(path)


def _is_current_output(plan: ExperimentPlan, output_path: Path, relative_path: Path) -> bool:
    record = read_record(get_record_path(output_path))
    if record is None or str(relative_path) not in record["outputs"]:
        return False
    try:
        job = plan.build_job(record["plan"], record["wildcards"])
        return hash_json(plan.compute_identity(job)) == record["identity"] and _has_current_inputs(record["inputs"])
    except Exception:  # a job that this plan does not have may fail anywhere
        return False


def _has_current_inputs(inputs: Mapping[str, str]) -> bool:
    """Return whether the recorded hashes of all inputs are those that the job has read."""
    return all(_read_recorded_hash(Path(file)) in (None, content) for file, content in inputs.items())


@cache
def _read_recorded_hash(path: Path) -> str | None:
    record = read_record(get_record_path(path))
    hashes = (
        []
        if record is None
        else [content for name, content in record["outputs"].items() if has_recorded_name(path, name)]
    )
    return hashes[0] if hashes else None
