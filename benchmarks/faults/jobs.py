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

RUNNER = "pipeline_py.run"
"""The module that runs a job given as JSON."""

JOB = re.compile(
    r"^(?:local)?rule (?P<rule>\w+):\n(?P<facts>(?: {4}.*\n)*)"
    rf"Shell command:\s*python -m {re.escape(RUNNER)} (?P<call>.*)\n",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Job:
    """A job of the workflow.

    Attributes:
        rule: its name.
        inputs: files that the rule names.
        outputs: files that it makes.
        json: the job that the runner gets.
    """

    rule: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    json: str

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return f"{self.rule} {self.outputs[0]}"

    @property
    def command(self) -> tuple[str, str]:
        """The module that `python -m` runs, and its argument."""
        return RUNNER, self.json

    @cached_property
    def call(self) -> Mapping[str, Any]:
        """The stage and its arguments."""
        return json.loads(self.json)

    @property
    def module(self) -> str:
        """The module of its stage."""
        return f"pipeline_py.{self.call['stage']}"

    @property
    def reused(self) -> list[str]:
        """Folders of the cache and the checkpoints that it would reuse or resume from."""
        caches = [str(Path(output).parent / "cache" / Path(output).name) for output in self.outputs]
        return [*caches, *(call["checkpoints"] for call in self.call["calls"] if "checkpoints" in call)]

    @cached_property
    def paths(self) -> frozenset[str]:
        """Texts among its arguments, which include all its paths, and its inputs."""
        return frozenset([*_texts(self.call["arguments"]), *_texts(self.call["calls"]), *self.inputs]) - {""}

    def reads(self, file: str) -> bool:
        """Whether a file, or a folder that it is in, is given to the job and not made by it, or is in its cache."""
        ways = {file, *map(str, Path(file).parents)} - {"."}
        if file in self.outputs or {*self.outputs} & ways:
            return False
        return bool((self.paths | {*self.reused}) & ways) or (Path(file).parts[0] == "cache" and ".nmt." in self.module)


def planned(said: str) -> list[Job]:
    """Read the jobs from what `snakemake --dry-run --printshellcmds` says, each before those that read its outputs."""
    jobs = []
    for found in JOB.finditer(said):
        inputs, outputs = (_listed(found["facts"], key) for key in ("input", "output"))
        jobs.append(Job(found["rule"], inputs, outputs, shlex.split(found["call"])[0]))
    makers = {output: job for job in jobs for output in job.outputs}
    needs = {job: dict.fromkeys(makers[file] for file in job.inputs if file in makers) for job in jobs}
    return [*TopologicalSorter(needs).static_order()]


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def behind(jobs: Sequence[Job], changed: Iterable[str]) -> list[Job]:
    """Of jobs in order, those that read one of some files, or what such a job makes."""
    touched, found = {*changed}, []
    for job in jobs:
        if any(job.reads(file) for file in touched):
            found.append(job)
            touched.update(job.outputs)
    return found


def _listed(facts: str, key: str) -> tuple[str, ...]:
    found = re.search(rf"^ {{4}}{key}: (.*)$", facts, flags=re.MULTILINE)
    return tuple(found[1].split(", ")) if found else ()
