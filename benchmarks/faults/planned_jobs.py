"""Jobs that Snakemake would run, with the files that they read and write."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

RUNNER_MODULE = "pipeline_py.run"
"""The module that runs a job given as JSON."""

JOB_PATTERN = re.compile(
    r"^(?:local)?rule (?P<rule>\w+):\n(?P<facts>(?: {4}.*\n)*)"
    rf"Shell command:\s*python -m {re.escape(RUNNER_MODULE)} (?P<call>.*)\n",
    re.MULTILINE,
)


@dataclass(frozen=True)
class PlannedJob:
    """A job of the workflow.

    Attributes:
        rule: its name.
        inputs: files that the rule names.
        outputs: files that it makes.
        job_json: the job that the runner gets.
    """

    rule: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    job_json: str

    @property
    def name(self) -> str:
        """The display name of the job."""
        return f"{self.rule} {self.outputs[0]}"

    @property
    def module_and_argument(self) -> tuple[str, str]:
        """The module that `python -m` runs, and its argument."""
        return RUNNER_MODULE, self.job_json

    @cached_property
    def job_content(self) -> Mapping[str, Any]:
        """The stage and its arguments."""
        return json.loads(self.job_json)

    @property
    def stage_module(self) -> str:
        """The module of its stage."""
        return f"pipeline_py.{self.job_content['stage']}"

    @property
    def reusable_folders(self) -> list[str]:
        """Folders of the cache and the checkpoints that it would reuse or resume from."""
        caches = [str(Path(output).parent / "cache" / Path(output).name) for output in self.outputs]
        return [*caches, *(call["checkpoints"] for call in self.job_content["calls"] if "checkpoints" in call)]

    @cached_property
    def path_arguments(self) -> frozenset[str]:
        """Texts among its arguments, which include all its paths, and its inputs."""
        return frozenset(
            [
                *_iterate_strings(self.job_content["arguments"]),
                *_iterate_strings(self.job_content["calls"]),
                *self.inputs,
            ]
        ) - {""}

    def is_reader_of(self, file: str) -> bool:
        """Return whether the job reads a file, a folder above it, or its own cache entry of it."""
        ways = {file, *map(str, Path(file).parents)} - {"."}
        if file in self.outputs or {*self.outputs} & ways:
            return False
        return bool((self.path_arguments | {*self.reusable_folders}) & ways) or (
            Path(file).parts[0] == "cache" and ".nmt." in self.stage_module
        )


def parse_planned_jobs(dry_run_output: str) -> list[PlannedJob]:
    """Read the jobs from what `snakemake --dry-run --printshellcmds` says, each before those that read its outputs."""
    jobs = []
    for match in JOB_PATTERN.finditer(dry_run_output):
        inputs, outputs = (_parse_file_list(match["facts"], key) for key in ("input", "output"))
        jobs.append(PlannedJob(match["rule"], inputs, outputs, shlex.split(match["call"])[0]))
    makers = {output: job for job in jobs for output in job.outputs}
    needs = {job: dict.fromkeys(makers[file] for file in job.inputs if file in makers) for job in jobs}
    return [*TopologicalSorter(needs).static_order()]


def _iterate_strings(json_value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    if isinstance(json_value, str):
        yield json_value
    elif isinstance(json_value, dict | list):
        for item in json_value.values() if isinstance(json_value, dict) else json_value:
            yield from _iterate_strings(item)


def select_downstream_jobs(jobs: Sequence[PlannedJob], changed_files: Iterable[str]) -> list[PlannedJob]:
    """Select the jobs that read one of the files, directly or through outputs of selected jobs."""
    touched, downstream_jobs = {*changed_files}, []
    for job in jobs:
        if any(job.is_reader_of(file) for file in touched):
            downstream_jobs.append(job)
            touched.update(job.outputs)
    return downstream_jobs


def _parse_file_list(job_text: str, field_name: str) -> tuple[str, ...]:
    match = re.search(rf"^ {{4}}{field_name}: (.*)$", job_text, flags=re.MULTILINE)
    return tuple(match[1].split(", ")) if match else ()
