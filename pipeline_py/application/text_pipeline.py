"""From a text to what a system makes of it: the jobs of the workflow, run in this process on temporary files."""

import gc
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from snakemake.cli import parse_config
from snakemake.utils import update_config

from pipeline_py.config.entry_errors import unknown
from pipeline_py.config.experiment import Experiment
from pipeline_py.config.files import read_file
from pipeline_py.config.load import load
from pipeline_py.plan.plan import Plan
from pipeline_py.plan.text_jobs import CLEAN, TextJob, TextJobs
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import assign_outputs, is_output, list_files, replace_paths
from pipeline_py.run.progress import without_progress
from pipeline_py.run.record import check_input
from pipeline_py.run.runner import Stage

DEFAULT_CONFIGURATION = Path("config.yaml")

WHOLE_TEXTS = {"parsing": {"shard_size": 10**9}}
"""Texts are not parsed in shards, even if they are longer than the set whose place they take."""

CODE = Path(__file__).parents[2]
"""The folder of this code, with the claims of papers."""

LOCK = Lock()
"""Stages set options of torch for all threads."""


def read_experiment(directory: Path, configfiles: Sequence[str], overrides: Sequence[str]) -> Experiment:
    """Validate the configuration of an experiment as Snakemake's options give it.

    Args:
        directory: the folder where Snakemake is run; `configfiles` and paths in the configuration are relative to it.
        configfiles: merged into config.yaml.
        overrides: KEY=VALUE, merged into these.

    Raises:
        InputError: the configuration is invalid.
    """
    config: dict[str, Any] = {}
    user_config: dict[str, Any] = {}
    for path in (DEFAULT_CONFIGURATION, *map(Path, configfiles)):
        content = read_file(directory / path)
        update_config(config, content)
        update_config(user_config, content if path != DEFAULT_CONFIGURATION else {})
    command_line = parse_config(overrides) | WHOLE_TEXTS
    update_config(user_config, command_line)
    experiment = load(config, command_line, check_files=False, own=user_config)
    return experiment.model_copy(update={"data": str(directory / experiment.data)})


class TextPipeline:
    """The jobs of an experiment that make translations of a text by one system.

    Attributes:
        experiment: its configuration.
        system: the name of the system.
        run: the name of its training.
        directory: the folder where Snakemake is run.
        files: paths that begin with `<results>` of what is made of a text: `text`, of networks also `source_pieces`,
            `target_pieces`, and if the system reads trees `tree`.
    """

    def __init__(self, experiment: Experiment, system: str, run: str | None, directory: Path, remedy: str) -> None:
        """Check that everything that was trained exists.

        Args:
            experiment: the configuration.
            system: the name of a system.
            run: one of its trainings; None: the first.
            directory: the folder where Snakemake is run.
            remedy: the command that makes missing files, with `{file}` for one.

        Raises:
            InputError: there is no such system or run, it is not trained, or new text cannot have what it reads.
        """
        self.experiment, self.system, self.directory = experiment, system, directory
        if system not in experiment.systems:
            raise InputError(unknown("system", system, experiment.systems))
        if experiment.from_elsewhere(system):
            raise InputError(f"{system} is of `type: translations`: it has no model that translates new text")
        self.run = run or experiment.runs(system)[0]
        if self.run not in experiment.runs(system):
            raise InputError(f"{system} has no run `{self.run}`, but {', '.join(experiment.runs(system))}")
        split = [*experiment.corpora.scored_tests, "dev"][0]  # has references, where translations to score are put
        self._plan = Plan(experiment, CODE, directory / ".snakemake/contents.json")
        self._jobs = TextJobs(self._plan, split)
        self._stages: dict[str, Stage] = {}
        self._checked: set[Path] = set()
        self.files = self._find_files(split)
        jobs, existing = self._jobs.order([self.files["text"]])
        if any(job.job.stage == "syntax.import_trees" for job in jobs):
            raise InputError(
                f"{system} reads trees that are given for each text, and new text has none; "
                "take the system with a parser's trees"
            )
        for file in existing:
            if not self._locate_result(file).exists():
                path = file.replace("<results>", experiment.folder("results"))
                command = remedy.replace("{file}", self.files["text"]).replace(
                    "<results>", experiment.folder("results")
                )
                raise InputError(f"{system} is not trained, or not completely: {path} is missing; `{command}` makes it")

    def _find_files(self, split: str) -> dict[str, str]:
        files = {"text": f"<results>/evaluation/{self.system}/{self.run}/{split}.txt"}
        if self.experiment.is_neural(self.system):
            network = self.experiment.network(self.experiment.networks(self.system)[0])
            units, subword = self.experiment.units_of(self.system), self._plan.subword
            files |= {
                f"{side}_pieces": subword.pieces(units, side).format(split=split) for side in ("source", "target")
            }
            if "trees" in network.syntax:
                files["tree"] = subword.syntax(units, "trees").format(parser=network.parser, split=split)
        return files

    @property
    def reads_lexical_trees(self) -> bool:
        """Whether the system reads trees within split words."""
        networks = self.experiment.networks(self.system)
        return bool(networks) and self.experiment.network(networks[0]).reads_lexical_trees

    def job(self, file: str) -> TextJob:
        """Return the job that makes a file of the text."""
        job = self._jobs.find(file)
        assert job is not None, file
        return job

    @property
    def translation(self) -> TextJob:
        """The job that translates."""
        folder = "nmt" if self.experiment.is_neural(self.system) else "smt"
        return self.job(self.files["text"].replace("/evaluation/", f"/{folder}/").removesuffix("txt") + "pieces")

    def make(
        self,
        work: Path,
        files: Sequence[str],
        sources: Sequence[str],
        targets: Sequence[str] | None = None,
        changes: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Make files of a text.

        Args:
            work: a folder where they are made, with the paths that they have in the results.
            files: what to make.
            sources: sentences.
            targets: translations in the place of references; None if nothing is made of them.
            changes: other values for arguments of jobs, by the name of the job.
        """
        for job in self._jobs.order(files)[0]:
            arguments = {**self.arguments(job, work), **(changes or {}).get(job.name, {})}
            if job.name == CLEAN:
                _write_lines(work / "source", sources)
                _write_lines(work / "target", ["-"] * len(sources) if targets is None else targets)
                references = arguments["target_input"]
                arguments |= {
                    "source_input": str(work / "source"),
                    "target_input": [str(work / "target")] * len(references),
                    "target_output": [str(work / f"target{number}") for number in range(len(references))],
                }
                path = self._locate_work_file(f"<results>/corpus/clean/{job.split}.target", work)
                arguments["target_output"][:1] = [str(path)]
            self.execute(job.job.stage, arguments, work)

    def arguments(self, job: TextJob, work: Path) -> dict[str, Any]:
        """Return the arguments of a job, with files of the text in the work folder."""
        files: dict[str, Any] = {**job.job.files, **job.job.sets.get(job.split, {})}
        paths = (
            str(self._locate_work_file(file, work) if self._jobs.find(file) else self._locate_result(file))
            for file in job.inputs
        )
        located = {name: replace_paths(value, paths) for name, value in files.items()}
        outputs = {name: str(self._locate_work_file(file, work)) for name, file in job.outputs.items()}
        threads = {"threads": self.experiment.training.threads} if job.job.stage.startswith("nmt.") else {}
        return {**located, **job.job.settings, **job.job.execution, **threads, **assign_outputs(outputs, [], {}, {})[0]}

    def execute(self, stage_name: str, arguments: Mapping[str, Any], work: Path) -> None:
        """Run a stage in this process, with models that are loaded once.

        Args:
            stage_name: "nmt.translate".
            arguments: JSON values by parameter.
            work: folder of the text's files, which are not checked.

        Raises:
            InputError: the stage refuses its input, or a file has changed since it was written.
        """
        stage = self._stages.setdefault(stage_name, Stage(stage_name))
        validated = stage.validate(arguments)
        for name, value in validated.items():
            for path in list_files(value):
                if is_output(name):
                    path.parent.mkdir(parents=True, exist_ok=True)
                elif path not in self._checked and not path.is_relative_to(work):
                    check_input(path)
                    self._checked.add(path)
        with LOCK, without_progress():
            try:
                stage.call(validated, self._load_networks(stage_name, work))
            finally:
                _restore_torch()

    def _load_networks(self, stage_name: str, work: Path) -> Any:
        """Return the networks of `nmt.translate` for a stage that uses the same; None for others."""
        is_alone = len(self.experiment.networks(self.system)) == 1
        if stage_name != "nmt.force_decode" and not (stage_name == "nmt.attend" and is_alone):
            return None
        stage = self._stages.setdefault("nmt.translate", Stage("nmt.translate"))
        return stage.load(stage.validate(self.arguments(self.translation, work)))

    def _locate_result(self, file: str) -> Path:
        return self.directory / file.replace("<results>", self.experiment.folder("results"))

    def _locate_work_file(self, file: str, work: Path) -> Path:
        return work / file.replace("<results>", "results")

    def find_work_file(self, name: str, work: Path) -> Path:
        """Return the path of one of `files` in a work folder."""
        return self._locate_work_file(self.files[name], work)


def _restore_torch() -> None:
    """Reset what networks set for their process, which a notebook and other stages do without."""
    gc.unfreeze()
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.set_deterministic_debug_mode("default")
        torch.set_flush_denormal(False)


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
        file.writelines(line.replace("\n", " ") + "\n" for line in lines)
