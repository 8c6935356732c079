"""What the workflow runs to translate a text: the commands of its rules, asked of Snakemake in a dry run.

A process of its own, since Snakemake changes the one that it runs in:
`python -m pipeline_py.application.workflow_steps REQUEST` takes and prints JSON.
"""

import json
import logging
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from snakemake.cli import main as snakemake
from snakemake.cli import parse_config
from snakemake.logging import logger
from snakemake.utils import update_config
from snakemake_interface_logger_plugins.common import LogEvent

from pipeline_py import each_set
from pipeline_py.config.experiment import Experiment
from pipeline_py.config.loading.files import read_file
from pipeline_py.config.loading.load import load
from pipeline_py.config.loading.unknown import unknown
from pipeline_py.input_error import InputError
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.plan.subword import SubwordPlan
from pipeline_py.provenance import code_of

DEFAULT = Path("config.yaml")

IN_ONE_PIECE = f"parsing={json.dumps({'shard_size': 10**9})}"
"""Texts are parsed whole, be they longer than the set whose steps they take."""

AS_IF_NOTHING_WERE_THERE = shlex.split(
    "--dry-run --forceall --nolock --cores all --scheduler greedy --workflow-profile none"
)


class Jobs(logging.Filter):
    """Takes note of the jobs of a dry run that make files of one set, and of what goes wrong.

    A filter, since Snakemake takes away all handlers as it begins.
    """

    def __init__(self, split: str) -> None:
        super().__init__()
        self.split = split
        self.found: list[dict[str, Any]] = []
        self._mistakes: list[logging.LogRecord] = []

    def filter(self, record: logging.LogRecord) -> bool:
        job: Any = record
        if record.levelno >= logging.ERROR:
            self._mistakes.append(record)
        elif getattr(record, "event", None) == LogEvent.JOB_INFO:
            if job.shellcmd and (found := command(job.shellcmd, job.wildcards.get("split", ""), self.split)):
                files = {"inputs": [*map(str, job.input)], "outputs": [*map(str, job.output)]}
                if "split" not in job.wildcards:
                    files = {name: _named(of_all, found["arguments"]) for name, of_all in files.items()}
                self.found.append(found | files)
            return False
        return True

    @property
    def mistakes(self) -> str:
        """What the workflow says of them, whose own filter comes behind this one."""
        return "; ".join(" ".join(str(record.msg).split()) for record in self._mistakes)


def command(shell: str, split: str, wanted: str) -> dict[str, Any]:
    """The stage that a rule runs, and its arguments, without where its messages go; nothing of another set.

    Args:
        shell: what the job runs.
        split: the set that the job is of; empty of a job of all sets.
        wanted: the set.
    """
    words = shlex.split(shell.replace("\\\n", " "))
    end = next((place for place, word in enumerate(words) if word.startswith("2>")), len(words))
    program, option, module, *arguments = words[:end]
    assert (program, option) == ("python", "-m"), shell
    if module == each_set.__name__:
        stage, *words = arguments
        sets = each_set.of_each(words)
        return {"stage": stage, "arguments": sets[wanted]} if wanted in sets else {}
    return {"stage": module.removeprefix("pipeline_py."), "arguments": arguments} if split == wanted else {}


def _named(files: Sequence[str], words: Sequence[str]) -> list[str]:
    """Those of a job's files that a command line names."""
    return [file for file in files if any(word == file or word.endswith(f"={file}") for word in words)]


def steps(system: str, run: str | None, configfiles: Sequence[str], overrides: Sequence[str]) -> dict[str, Any]:
    """Plan what makes a test set's translation, as if nothing were there.

    Args:
        system: a system of the experiment.
        run: one of its runs; None: the first.
        configfiles: laid over config.yaml, as Snakemake's option of the same name.
        overrides: KEY=VALUE, laid over these.

    Returns:
        The fields of `chain.Plan`, and by stage the hash of its code.

    Raises:
        InputError: the configuration is at fault, or has no such system.
    """
    config: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for path in (DEFAULT, *map(Path, configfiles)):
        given = read_file(path)
        update_config(config, given)
        update_config(own, given if path != DEFAULT else {})
    overrides = [*overrides, IN_ONE_PIECE]
    command_line = parse_config(overrides)
    update_config(own, command_line)
    experiment = load(config, command_line, check_files=False, own=own)
    if system not in experiment.systems:
        raise InputError(unknown("system", system, experiment.systems))
    if experiment.from_elsewhere(system):
        raise InputError(f"{system} is of `type: translations`: it has no model that translates new text")
    run = run or experiment.runs(system)[0]
    if experiment.is_neural(system) != run.startswith("seed"):
        raise InputError(f"{system} has no run `{run}`, but {', '.join(experiment.runs(system))}")
    split = [*experiment.corpora.scored_tests, "dev"][0]  # has references, in whose place translations are scored
    files = _files(experiment, system, run, split)
    jobs = Jobs(split)
    logger.addFilter(jobs)
    targets = [files[name] for name in ("text", "target_pieces") if name in files]
    options = ["--configfile", *configfiles] if configfiles else []
    arguments = [*targets, *options, "--config", *overrides, *AS_IF_NOTHING_WERE_THERE]
    try:
        snakemake(arguments)
    except SystemExit as end:
        if end.code or not jobs.found:
            raise InputError(jobs.mistakes or "Snakemake plans nothing") from None
    return {
        "system": system,
        "run": run,
        "results": experiment.folder("results"),
        "files": files,
        "jobs": jobs.found,
        "code": {job["stage"]: code_of(job["stage"]) for job in jobs.found},
    }


def _files(experiment: Experiment, system: str, run: str, split: str) -> dict[str, str]:
    """Where what is made of a text stands, by what it is."""
    results = experiment.folder("results")
    files = {"text": f"<results>/evaluation/{system}/{run}/{{split}}.txt"}
    if experiment.is_neural(system):
        first = experiment.networks(system)[0]
        units, network = experiment.units_of(system), experiment.network(first)
        subword = SubwordPlan(experiment, CorpusPlan(experiment, lambda _: []))
        files |= {f"{side}_pieces": subword.pieces(units, side) for side in ("source", "target")}
        if "trees" in network.syntax:
            files["tree"] = subword.syntax(units, "trees").replace("{parser}", network.parser or "")
        if network.reads_lexical_trees:
            files["lexical"] = ""
    return {name: file.replace("<results>", results).replace("{split}", split) for name, file in files.items()}


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """The steps that are asked for, or a sentence that says why there are none."""
    try:
        with redirect_stdout(sys.stderr):
            return steps(**request)
    except InputError as error:
        return {"error": str(error)}


if __name__ == "__main__":
    print(json.dumps(answer(json.loads(sys.argv[1]))))
