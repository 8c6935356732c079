"""Explain a result: the job that made it, its inputs, and what has changed since."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline_py.application.experiment_reader import plan_experiment, read_experiment
from pipeline_py.plan.plan import ExperimentPlan
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import hash_json
from pipeline_py.run.job_record import get_record_path, has_recorded_name, hash_content, read_record
from pipeline_py.run.workflow_files import find_experiment_files, find_workflow_folder

RECORD_KEYS = {"stage", "plan", "wildcards", "identity", "software", "settings", "inputs", "seconds", "results"}
"""Keys of the record of a stage's job."""

MAX_VALUE_LENGTH = 100
"""Number of characters above which a changed value is not shown."""


def explain_file(
    *,
    file: Path,
    configfile: list[str] | None = None,
    config: list[str] | None = None,
) -> None:
    """Show which job made a result, from what, and why the workflow would make it again.

    Args:
        file: The result, for example results/table1.tsv.
        configfile: Configuration file, like Snakemake's option of the same name.
        config: KEY=VALUE, like Snakemake's option of the same name.

    Raises:
        InputError: the file is missing, has no record, or is the result of an experiment in another folder.
    """
    if not file.exists():
        raise InputError("no such file; `arbitree check FILE` shows the jobs that would make it", file)
    record = read_job_record(file)
    if record is None:
        raise InputError("no record of a stage's job is next to this file; name another result of the workflow", file)
    folder = find_experiment_folder(file, record)
    if folder is not None and not folder.samefile(Path.cwd()):
        raise InputError(f"the result of an experiment in another folder; change to {folder}", file)
    print(f"{file}\n  {format_job(record)}")
    print("  software: " + ", ".join(f"{name} {version}" for name, version in record["software"].items()))
    for path in record["inputs"]:
        print(f"  from {path}" + " (missing now)" * (not Path(path).exists()))
    experiment = read_experiment(Path(), find_experiment_files(Path(), configfile or []), config or [])
    plan = plan_experiment(experiment, find_workflow_folder())
    changes = [*find_changes(file, record, plan)]
    if not changes:
        changes = [f"its input {path} would: {change}" for path, change in find_input_changes(record, plan, set())]
    for change in changes:
        print(f"  would be made again: {change}")
    if not changes:
        print("  up to date with this experiment")


def read_job_record(path: Path) -> dict[str, Any] | None:
    """Read the record of the stage's job that made a file; None if there is none."""
    record = read_record(get_record_path(path))
    return record if record is not None and {*record} >= RECORD_KEYS else None


def find_experiment_folder(file: Path, record: Mapping[str, Any]) -> Path | None:
    """Return the folder where Snakemake made a result; None if the result was renamed or its results were moved."""
    path = file.absolute()
    names = [Path(name) for name in record["outputs"] if has_recorded_name(path, name)]
    results = Path(record["results"])
    if not names or results.is_absolute():
        return None
    folder = path.parents[len(names[0].parts) - 1]
    is_results_folder = folder.parts[-len(results.parts) :] == results.parts
    return folder.parents[len(results.parts) - 1] if is_results_folder else None


def format_job(record: Mapping[str, Any]) -> str:
    """Describe the job of a record in one line."""
    wildcards = ", ".join(f"{name} {value}" for name, value in record["wildcards"].items())
    return f"made by {record['stage']}{f' ({wildcards})' if wildcards else ''} in {record['seconds']:.1f} s"


def find_changes(file: Path, record: Mapping[str, Any], plan: ExperimentPlan) -> Iterator[str]:
    """Yield the reasons for which a job would make a result again, except that its inputs would be made again."""
    hashes = [content_hash for name, content_hash in record["outputs"].items() if has_recorded_name(file, name)]
    if [hash_content(file)] != hashes:
        yield "the file is not the one that the job wrote"
    for path, content_hash in record["inputs"].items():
        if Path(path).exists() and hash_content(Path(path)) != content_hash:
            yield f"{path} has changed"
    try:
        job = plan.build_job(record["plan"], record["wildcards"])
        identity = plan.compute_identity(job)
    except Exception:  # a record of other settings or code can have any wildcards
        yield "this experiment has no such job"
        return
    if hash_json(identity) == record["identity"]:
        return
    settings = [*compare_values("", job.settings, record["settings"])]
    software = [*compare_values("", identity["software"], record["software"])]
    yield from [*settings, *software] or ["the names or contents of its input files differ"]


def find_input_changes(
    record: Mapping[str, Any], plan: ExperimentPlan, checked_paths: set[Path]
) -> Iterator[tuple[Path, str]]:
    """Yield inputs, and inputs of the jobs that made them, that would be made again, with the first reason."""
    for path in map(Path, record["inputs"]):
        if path in checked_paths or not path.exists():
            continue
        checked_paths.add(path)
        input_record = read_job_record(path)
        if input_record is None:
            continue
        change = next(find_changes(path, input_record, plan), None)
        if change is None:
            yield from find_input_changes(input_record, plan, checked_paths)
        else:
            yield path, change


def compare_values(key: str, value: Any, recorded_value: Any) -> Iterator[str]:
    """Yield a sentence for each value that differs from the recorded one, with its key in nested mappings."""
    if isinstance(value, Mapping) and isinstance(recorded_value, Mapping):
        for name in {**value, **recorded_value}:
            path = f"{key}.{name}" if key else name
            if name not in value:
                yield f"{path} is not set any more"
            else:
                yield from compare_values(path, value[name], recorded_value.get(name))
    elif value != recorded_value:
        texts = [repr(value), repr(recorded_value)]
        is_short = max(map(len, texts)) <= MAX_VALUE_LENGTH
        yield f"{key} is {texts[0]} and was {texts[1]}" if is_short else f"{key} has changed"
