"""What Snakemake would run: the command of each job, with the files that it reads and makes."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

JOB = re.compile(r"^(?:local)?rule (?P<rule>\w+):\n(?P<facts>(?: {4}.*\n)*)Shell command:\s*(?P<command>\S.*)\n", re.M)
SHELL = "bash"
"""What a command starts with that is no stage's."""

RUNNER = "pipeline_py.run"
"""The module that runs a job given as JSON."""


@dataclass(frozen=True)
class Job:
    """A job of the workflow.

    Attributes:
        rule: its name.
        inputs: files that the rule names.
        outputs: files that it makes.
        command: the module of its stage, or `SHELL`, and the options.
    """

    rule: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    command: tuple[str, ...]

    @cached_property
    def name(self) -> str:
        """What to call it in messages."""
        return f"{self.rule} {self.outputs[0]}"

    @cached_property
    def call(self) -> Mapping[str, Any]:
        """The job that the runner gets; empty for other commands."""
        return json.loads(self.command[1]) if self.command[0] == RUNNER else {}

    @property
    def module(self) -> str:
        """The module of its stage, or `SHELL`."""
        return f"pipeline_py.{self.call['stage']}" if self.call else self.command[0]

    @property
    def reused(self) -> list[str]:
        """Folders of the cache and the checkpoints that it would reuse or resume from."""
        caches = [str(Path(output).parent / "cache" / Path(output).name) for output in self.outputs]
        calls = self.call.get("calls", [])
        return [*caches, *(of_call["checkpoints"] for of_call in calls if "checkpoints" in of_call)]

    @cached_property
    def paths(self) -> frozenset[str]:
        """Whatever stands as a value behind its options, or in its call."""
        if self.call:
            return frozenset([*_texts(self.call["arguments"]), *_texts(self.call["calls"]), *self.inputs]) - {""}
        values = [value for option in self.command[1:] for value in (option, option.partition("=")[2])]
        return frozenset([*values, *(value.partition("=")[2] for value in values), *self.inputs]) - {""}

    def reads(self, file: str) -> bool:
        """Whether a file, or a folder that it is in, is given to the job and not made by it, or is in its cache."""
        ways = {file, *map(str, Path(file).parents)} - {"."}
        if file in self.outputs or {*self.outputs} & ways:
            return False
        return bool((self.paths | {*self.reused}) & ways) or (Path(file).parts[0] == "cache" and ".nmt." in self.module)


def planned(said: str) -> list[Job]:
    """Read the jobs with a command from what `snakemake --dry-run --printshellcmds` says, each before what needs it."""
    jobs = []
    for found in JOB.finditer(said):
        if found["command"] == "None":
            continue
        words = shlex.split(found["command"])
        redirected = next((place for place, word in enumerate(words) if word.startswith("2>")), len(words))
        of_stage = words[:2] == ["python", "-m"]
        command = tuple(words[2:redirected]) if of_stage else (SHELL, "-c", re.sub(r" 2>\S+", "", found["command"]))
        inputs, outputs = (_listed(found["facts"], key) for key in ("input", "output"))
        jobs.append(Job(found["rule"], inputs, outputs, command))
    return in_order(jobs)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def in_order(jobs: Iterable[Job]) -> list[Job]:
    """Sort jobs so that each stands behind those whose outputs it reads."""
    maker = {output: job for job in jobs for output in job.outputs}
    return [*TopologicalSorter({job: {*_before(job, maker)} for job in jobs}).static_order()]


def behind(jobs: Sequence[Job], changed: Iterable[str]) -> list[Job]:
    """Of jobs in order, those that read one of some files, or what such a job makes."""
    touched, found = {*changed}, []
    for job in jobs:
        if any(job.reads(file) for file in touched):
            found.append(job)
            touched.update(job.outputs)
    return found


def _before(job: Job, maker: dict[str, Job]) -> Iterable[Job]:
    return (maker[file] for file in job.inputs if file in maker)


def _listed(facts: str, key: str) -> tuple[str, ...]:
    found = re.search(rf"^ {{4}}{key}: (.*)$", facts, flags=re.MULTILINE)
    return tuple(found[1].split(", ")) if found else ()
