"""The workflow's own steps from a text to what a system makes of it, run in this process on files that go away.

Nothing here knows what the steps are: their order, files and options are those that Snakemake would run.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from pipeline_py import checksum, stage
from pipeline_py.input_error import InputError
from pipeline_py.one_process import OneProcess, warnings_alone
from pipeline_py.options import parsed
from pipeline_py.provenance import PACKAGE, code_of

PLANNER = "pipeline_py.application.workflow_steps"

IMPORTABLE = Path(__file__).parents[2]
"""The folder that `pipeline_py` is found in."""


@dataclass(frozen=True)
class Step:
    """A job of the workflow: a stage with its command line, and the files that Snakemake knows of."""

    stage: str
    arguments: Sequence[str]
    inputs: Sequence[str]
    outputs: Sequence[str]


@dataclass(frozen=True)
class Plan:
    """What the workflow runs for a test set.

    Attributes:
        system: what translates.
        run: which of its trainings.
        results: the experiment's folder of them.
        files: paths of what is made, by what it is: `text`, of networks also `source_pieces`, `target_pieces`, and
            where it reads trees `tree` or `lexical`.
        steps: of the set, in no order.
    """

    system: str
    run: str
    results: str
    files: Mapping[str, str]
    steps: Sequence[Step]


def plan(directory: Path, system: str, run: str | None, configfiles: Sequence[str], config: Sequence[str]) -> Plan:
    """Ask the workflow in a folder what it runs.

    Raises:
        InputError: there is no workflow, the configuration is at fault, it has no such system, or its stages have other
            code than those of this process.
    """
    if not (directory / "Snakefile").is_file():
        raise InputError("there is no Snakefile; go to the folder where you run snakemake, or name it", directory)
    request = {"system": system, "run": run, "configfiles": configfiles, "overrides": config}
    folders = [str(directory.absolute()), str(IMPORTABLE)]
    asked = subprocess.run(
        [sys.executable, "-m", PLANNER, json.dumps(request)],
        cwd=directory,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")])},
    )
    if asked.returncode:
        raise RuntimeError(asked.stderr)
    answer = json.loads(asked.stdout)
    if "error" in answer:
        raise InputError(answer["error"])
    differing = [name for name, code in answer.pop("code").items() if code != code_of(name)]
    if differing:
        raise InputError(
            f"`{differing[0]}` there has other code than in {IMPORTABLE}, from where `{PACKAGE}` is imported; run "
            "Python in the folder of the Snakefile, or with that in PYTHONPATH",
            directory,
        )
    return Plan(steps=[Step(**job) for job in answer.pop("jobs")], **answer)


@dataclass(frozen=True)
class Chain:
    """Steps of a plan with the models that they load.

    Attributes:
        plan: what the workflow runs.
        directory: where; paths of the plan start there.
        remedy: a command that makes what is missing.
    """

    plan: Plan
    directory: Path
    remedy: str
    _process: OneProcess = field(default_factory=OneProcess)
    _whole: set[Path] = field(default_factory=set)

    def __post_init__(self) -> None:
        """See to it that what is trained is there.

        Raises:
            InputError: the system or something that it needs is not, or new text cannot have what it reads.
        """
        steps, files = self._steps_to(self.plan.files["text"])
        if any(step.stage == "syntax.import_trees" for step in steps):
            raise InputError(
                f"{self.plan.system} reads trees that are given for each text, and new text has none; "
                "take the system with a parser's trees"
            )
        missing = [file for file in files if not (self.directory / file).exists()]
        if missing:
            raise InputError(
                f"{self.plan.system} is not trained, or not whole: {missing[0]} is not there; `{self.remedy}` makes it"
            )

    def step(self, stage_: str) -> Step:
        """The step of a stage that runs once: `nmt.translate`."""
        (step,) = [step for step in self.plan.steps if step.stage == stage_]
        return step

    def arguments(self, stage_: str, work: Path) -> dict[str, Any]:
        """Its arguments, with what is made of the text in the work folder."""
        return self._arguments(self.step(stage_), work)

    def make(
        self,
        work: Path,
        files: Sequence[str],
        sources: Sequence[str],
        targets: Sequence[str] | None = None,
        changes: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Make files of the plan of a text.

        Args:
            work: a folder where they are made, under the paths that they have in the plan.
            files: what to make.
            sources: a sentence each.
            targets: translations, which stand where a test set has references; None where nothing is made of them.
            changes: arguments of stages that are others than planned.
        """
        steps, _ = self._steps_to(*files)
        for step in steps:
            arguments = self._arguments(step, work)
            if step.stage == "corpus.clean":
                _write(arguments["source_input"], sources)
                for path in arguments["target_input"]:
                    _write(path, ["-"] * len(sources) if targets is None else targets)
            self.run(step.stage, work, {**arguments, **(changes or {}).get(step.stage, {})})

    def run(self, stage_: str, work: Path, arguments: Mapping[str, Any]) -> None:
        """Run a stage in this process.

        Args:
            stage_: `nmt.translate`.
            work: where files of the text stand, which need no check.
            arguments: of its function.

        Raises:
            InputError: what a stage says of its input, or a file has changed since it was written.
        """
        with chdir(self.directory), warnings_alone(), self._process.stage(stage_):
            for path in {*stage.inputs(arguments)} - self._whole:
                if not path.is_relative_to(work):
                    if not checksum.is_whole(path):
                        raise InputError(checksum.DAMAGED, path)
                    self._whole.add(path)
            _function(stage_)(**arguments)

    def _arguments(self, step: Step, work: Path) -> dict[str, Any]:
        own = {file for one in self.plan.steps for file in one.outputs}
        own |= {file for one in self.plan.steps if one.stage == "corpus.clean" for file in one.inputs}

        def placed(value: Any) -> Any:
            if isinstance(value, list):
                return [placed(one) for one in value]
            if isinstance(value, Path):
                return work / value if str(value) in own else value
            if isinstance(value, str):
                name, _, file = value.rpartition("=")
                return f"{name}={work / file}" if file in own else value
            return value

        arguments = parsed(_function(step.stage), step.stage, step.arguments)
        return {name: None if name == "cache" else placed(value) for name, value in arguments.items()}

    def _steps_to(self, *files: str) -> tuple[list[Step], list[str]]:
        """The steps that make some files, in order, and what must be there."""
        by_output = {file: step for step in self.plan.steps for file in step.outputs}
        steps: list[Step] = []
        there: dict[str, None] = {}

        def need(file: str) -> None:
            step = by_output.get(file)
            if step is None:
                there[file] = None
            elif step not in steps:
                for one in step.inputs if step.stage != "corpus.clean" else ():
                    need(one)
                steps.append(step)

        for file in files:
            need(file)
        return steps, [*there]


def _function(stage_: str) -> Callable[..., None]:
    function: Callable[..., None] = getattr(import_module(f"pipeline_py.{stage_}"), stage_.rpartition(".")[2])
    return function


def _write(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
        file.writelines(line.replace("\n", " ") + "\n" for line in lines)
