"""Translation of a text by the jobs of the workflow, run in this process on temporary files."""

import gc
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any

from snakemake.cli import parse_config
from snakemake.utils import update_config

from pipeline_py.config.config_files import read_config_file
from pipeline_py.config.entry_errors import format_unknown_name_error
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.plan.plan import ExperimentPlan
from pipeline_py.plan.text_jobs import CLEAN_JOB_NAME, TextJob, TextJobFinder
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import assign_outputs, is_output_parameter, iterate_argument_paths, replace_nested_paths
from pipeline_py.run.job_record import check_input_file
from pipeline_py.run.job_runner import StageFunction
from pipeline_py.run.progress_display import silence_progress
from pipeline_py.run.workflow_files import find_default_config, find_workflow_folder

UNSHARDED_PARSING = {"parsing": {"shard_size": 10**9}}
"""Settings that disable parsing in shards, whose number depends on the set that the text replaces."""

STAGE_LOCK = Lock()
"""Lock of running stages, which set options of torch for all threads."""


def read_experiment(
    directory: Path,
    configfiles: Sequence[str],
    overrides: Sequence[str],
    fixed_settings: Mapping[str, Any] = MappingProxyType({}),
) -> ExperimentConfig:
    """Read and validate the configuration of an experiment.

    Args:
        directory: folder where Snakemake is run; `configfiles` and paths in the configuration are relative to it.
        configfiles: files that override config.yaml.
        overrides: KEY=VALUE that override these files.
        fixed_settings: keys that override all others.

    Raises:
        InputError: the configuration is invalid.
    """
    config: dict[str, Any] = {}
    user_config: dict[str, Any] = {}
    default_config = find_default_config(directory)
    for path in (default_config, *(directory / file for file in configfiles)):
        content = read_config_file(path)
        update_config(config, content)
        update_config(user_config, content if path != default_config else {})
    command_line = parse_config(overrides) | fixed_settings
    update_config(user_config, command_line)
    experiment = load_experiment(config, command_line, should_check_files=False, own_config=user_config)
    return experiment.model_copy(update={"data": str(directory / experiment.data)})


class TextPipeline:
    """The jobs of an experiment that translate a text with one system.

    Attributes:
        experiment: configuration of the experiment.
        system_name: name of the system.
        run_name: name of the run.
        directory: folder where Snakemake is run.
        files: output paths that begin with `<results>`: `text`; for networks also `source_pieces` and `target_pieces`;
            for systems that read trees also `tree`.
    """

    def __init__(
        self,
        experiment: ExperimentConfig,
        system_name: str,
        run_name: str | None,
        directory: Path,
        training_command: str,
    ) -> None:
        """Check that all trained files of a system exist.

        Args:
            experiment: configuration of the experiment.
            system_name: name of the system.
            run_name: name of the run; None for the first.
            directory: folder where Snakemake is run.
            training_command: command that makes missing files, with the placeholder `{file}`.

        Raises:
            InputError: the system or run is unknown or not trained, or it reads trees that new text does not have.
        """
        self.experiment, self.system_name, self.directory = experiment, system_name, directory
        if system_name not in experiment.systems:
            raise InputError(format_unknown_name_error("system", system_name, experiment.systems))
        if experiment.find_external_system(system_name):
            raise InputError(f"{system_name} has `type: translations` and no model for new text; choose another system")
        self.run_name = run_name or experiment.get_runs(system_name)[0]
        if self.run_name not in experiment.get_runs(system_name):
            raise InputError(
                f"{system_name} has no run `{self.run_name}`, but {', '.join(experiment.get_runs(system_name))}"
            )
        split = [*experiment.corpora.scored_tests, "dev"][0]  # has references, which translations to score replace
        self._plan = ExperimentPlan(experiment, find_workflow_folder(), directory / ".snakemake/contents.json")
        self._text_jobs = TextJobFinder(self._plan, split)
        self._stages: dict[str, StageFunction] = {}
        self._checked_paths: set[Path] = set()
        self.files = self._collect_file_paths(split)
        jobs, existing = self._text_jobs.resolve_jobs([self.files["text"]])
        if any(job.job.stage == "syntax.import_trees" for job in jobs):
            raise InputError(
                f"{system_name} reads trees from files, and new text has none; "
                "use a system that reads the trees of a parser"
            )
        for file in existing:
            if not self._locate_result(file).exists():
                path = file.replace("<results>", experiment.get_output_folder("results"))
                command = training_command.replace("{file}", self.files["text"]).replace(
                    "<results>", experiment.get_output_folder("results")
                )
                raise InputError(
                    f"{system_name} is not trained, or not completely: {path} is missing; `{command}` makes it"
                )

    def _collect_file_paths(self, split: str) -> dict[str, str]:
        files = {"text": f"<results>/evaluation/{self.system_name}/{self.run_name}/{split}.txt"}
        if self.experiment.is_neural(self.system_name):
            network = self.experiment.get_network(self.experiment.get_networks(self.system_name)[0])
            units, subword = self.experiment.get_subword_name(self.system_name), self._plan.subword
            files |= {
                f"{side}_pieces": subword.get_piece_path_pattern(units, side).format(split=split)
                for side in ("source", "target")
            }
            if "trees" in network.required_syntax_names:
                files["tree"] = subword.get_syntax_path_pattern(units, "trees").format(
                    parser=network.parser, split=split
                )
        return files

    @property
    def reads_lexical_trees(self) -> bool:
        """True if the system reads lexical trees."""
        networks = self.experiment.get_networks(self.system_name)
        return bool(networks) and self.experiment.get_network(networks[0]).reads_lexical_trees

    def get_job(self, file: str) -> TextJob:
        """Return the job that makes a file of the text."""
        job = self._text_jobs.find_job(file)
        assert job is not None, file
        return job

    @property
    def translation_job(self) -> TextJob:
        """The job that translates."""
        folder = "nmt" if self.experiment.is_neural(self.system_name) else "smt"
        return self.get_job(self.files["text"].replace("/evaluation/", f"/{folder}/").removesuffix("txt") + "pieces")

    def make_files(
        self,
        work_folder: Path,
        files: Sequence[str],
        sources: Sequence[str],
        targets: Sequence[str] | None = None,
        argument_overrides: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Make files of a text.

        Args:
            work_folder: folder for the files, with the same subfolders as the results.
            files: paths of the files that begin with `<results>`.
            sources: source sentences.
            targets: translations that take the place of references; None if no file depends on them.
            argument_overrides: changed arguments of jobs, by name of the job.
        """
        for job in self._text_jobs.resolve_jobs(files)[0]:
            arguments = {**self.resolve_arguments(job, work_folder), **(argument_overrides or {}).get(job.job_name, {})}
            if job.job_name == CLEAN_JOB_NAME:
                _write_lines(work_folder / "source", sources)
                _write_lines(work_folder / "target", ["-"] * len(sources) if targets is None else targets)
                references = arguments["target_input"]
                arguments |= {
                    "source_input": str(work_folder / "source"),
                    "target_input": [str(work_folder / "target")] * len(references),
                    "target_output": [str(work_folder / f"target{number}") for number in range(len(references))],
                }
                path = self._locate_work_file(f"<results>/corpus/clean/{job.set_name}.target", work_folder)
                arguments["target_output"][:1] = [str(path)]
            self.run_stage(job.job.stage, arguments, work_folder)

    def resolve_arguments(self, job: TextJob, work_folder: Path) -> dict[str, Any]:
        """Return the arguments of a job, with files of the text in the work folder."""
        files: dict[str, Any] = {**job.job.files, **job.job.files_by_set.get(job.set_name, {})}
        paths = (
            str(
                self._locate_work_file(file, work_folder)
                if self._text_jobs.find_job(file)
                else self._locate_result(file)
            )
            for file in job.input_paths
        )
        located = {name: replace_nested_paths(value, paths) for name, value in files.items()}
        outputs = {name: str(self._locate_work_file(file, work_folder)) for name, file in job.output_paths.items()}
        threads = {"threads": self.experiment.training.threads} if job.job.stage.startswith("nmt.") else {}
        return {
            **located,
            **job.job.settings,
            **job.job.execution_settings,
            **threads,
            **assign_outputs(outputs, [], {}, {})[0],
        }

    def run_stage(self, stage_name: str, arguments: Mapping[str, Any], work_folder: Path) -> None:
        """Run a stage in this process; models are loaded once.

        Args:
            stage_name: name of the stage, e.g. "nmt.translate".
            arguments: JSON values by parameter.
            work_folder: folder of the text's files, which are not checked.

        Raises:
            InputError: the stage rejects its input, or a file has changed since it was written.
        """
        stage = self._stages.setdefault(stage_name, StageFunction(stage_name))
        validated = stage.validate_arguments(arguments)
        for name, value in validated.items():
            for path in iterate_argument_paths(value):
                if is_output_parameter(name):
                    path.parent.mkdir(parents=True, exist_ok=True)
                elif path not in self._checked_paths and not path.is_relative_to(work_folder):
                    check_input_file(path)
                    self._checked_paths.add(path)
        with STAGE_LOCK, silence_progress():
            try:
                stage.call_function(validated, self._load_networks(stage_name, work_folder))
            finally:
                _restore_torch_settings()

    def _load_networks(self, stage_name: str, work_folder: Path) -> Any:
        """Return the loaded networks of `nmt.translate` for a stage that shares them; None for other stages."""
        is_single_network = len(self.experiment.get_networks(self.system_name)) == 1
        if stage_name != "nmt.force_decode" and not (stage_name == "nmt.attend" and is_single_network):
            return None
        stage = self._stages.setdefault("nmt.translate", StageFunction("nmt.translate"))
        return stage.load_shared_value(
            stage.validate_arguments(self.resolve_arguments(self.translation_job, work_folder))
        )

    def _locate_result(self, file: str) -> Path:
        return self.directory / file.replace("<results>", self.experiment.get_output_folder("results"))

    def _locate_work_file(self, file: str, work_folder: Path) -> Path:
        return work_folder / file.replace("<results>", "results")

    def find_work_file(self, name: str, work_folder: Path) -> Path:
        """Return the path of one of `files` in a work folder."""
        return self._locate_work_file(self.files[name], work_folder)


def _restore_torch_settings() -> None:
    """Reset global settings that networks change for their process."""
    gc.unfreeze()
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.set_deterministic_debug_mode("default")
        torch.set_flush_denormal(False)


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
        file.writelines(line.replace("\n", " ") + "\n" for line in lines)
