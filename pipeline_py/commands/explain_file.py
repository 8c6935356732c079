"""Explain a result: the job that made it, its inputs, and what has changed since."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline_py.application.experiment_reader import read_experiment
from pipeline_py.plan.plan import ExperimentPlan
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import hash_json
from pipeline_py.run.job_record import get_record_path, has_recorded_name, hash_content, read_record
from pipeline_py.run.workflow_files import find_experiment_files, find_workflow_folder


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
        InputError: the file has no record.
    """
    record = read_record(get_record_path(file))
    if record is None:
        raise InputError("no record of a job is next to this file; name a result of the workflow", file)
    print(f"{file}\n  {format_job(record)}")
    print("  software: " + ", ".join(f"{name} {version}" for name, version in record["software"].items()))
    for path in record["inputs"]:
        print(f"  from {path}")
    experiment = read_experiment(Path.cwd(), find_experiment_files(Path(), configfile or []), config or [])
    plan = ExperimentPlan(experiment, find_workflow_folder(), Path(".snakemake/contents.json"))
    changes = [*find_changes(file, record, plan)]
    for change in changes:
        print(f"  would be made again: {change}")
    if not changes:
        print("  up to date with this experiment, as far as its own job and inputs show")


def format_job(record: Mapping[str, Any]) -> str:
    """Describe the job of a record in one line."""
    wildcards = ", ".join(f"{name} {value}" for name, value in record["wildcards"].items())
    return f"made by {record['stage']}{f' ({wildcards})' if wildcards else ''} in {record['seconds']:.1f} s"


def find_changes(file: Path, record: Mapping[str, Any], plan: ExperimentPlan) -> Iterator[str]:
    """Yield the reasons for which a result would be made again."""
    hashes = [content for name, content in record["outputs"].items() if has_recorded_name(file, name)]
    if not file.exists() or [hash_content(file)] != hashes:
        yield "the file is not the one that the job wrote"
    for path, content in record["inputs"].items():
        if not Path(path).exists():
            yield f"{path} does not exist"
        elif hash_content(Path(path)) != content:
            yield f"{path} has changed"
    try:
        job = plan.build_job(record["plan"], record["wildcards"])
        identity = plan.compute_identity(job)
    except (InputError, KeyError, AttributeError, TypeError):
        yield "this experiment has no such job"
        return
    if hash_json(identity) == record["identity"]:
        return
    settings = {name: value for name, value in job.settings.items() if record["arguments"].get(name) != value}
    for name, value in settings.items():
        yield f"{name} is {value!r} and was {record['arguments'].get(name)!r}"
    software = {name: value for name, value in identity["software"].items() if record["software"].get(name) != value}
    for name, value in software.items():
        yield f"{'the code' if name == 'code' else name} is {value} and was {record['software'].get(name)}"
    if not settings and not software:
        yield "the names or contents of its input files differ"
