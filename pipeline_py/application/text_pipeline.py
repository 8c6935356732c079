"""Translation of a text by the jobs of the workflow, run in this process on temporary files."""

import gc
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from pipeline_py.application.result_files import ResultFiles
from pipeline_py.config.entry_errors import format_unknown_name_error
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.plan.paths import get_run_folder
from pipeline_py.plan.plan import ExperimentPlan
from pipeline_py.plan.text_jobs import (
    CLEAN_JOB_NAME,
    TextJob,
    TextJobFinder,
    choose_replaced_set,
    find_text_files,
)
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import assign_outputs, is_output_parameter, iterate_argument_paths, replace_nested_paths
from pipeline_py.run.job_runner import StageFunction
from pipeline_py.run.progress_display import silence_progress
from pipeline_py.run.workflow_files import find_workflow_folder

STAGE_LOCK = Lock()
"""Lock of running stages, which set options of torch for all threads."""


class TextPipeline:
    """The jobs of an experiment that translate a text with one system.

    Attributes:
        experiment: configuration of the experiment.
        system_name: name of the system.
        run_name: name of the run.
        files: files of the text, see `find_text_files`.
    """

    def __init__(
        self, experiment: ExperimentConfig, system_name: str, run_name: str | None, result_files: ResultFiles
    ) -> None:
        """Check that all trained files of a system exist.

        Args:
            experiment: configuration of the experiment.
            system_name: name of the system.
            run_name: name of the run; None for the first.
            result_files: location of trained files.

        Raises:
            InputError: the system or run is unknown or not trained, or it reads trees that new text does not have.
        """
        self.experiment, self.system_name = experiment, system_name
        if system_name not in experiment.systems:
            raise InputError(format_unknown_name_error("system", system_name, experiment.systems))
        if experiment.find_external_system(system_name):
            raise InputError(f"{system_name} has `type: translations` and no model for new text; choose another system")
        self.run_name = run_name or experiment.get_runs(system_name)[0]
        if self.run_name not in experiment.get_runs(system_name):
            raise InputError(
                f"{system_name} has no run `{self.run_name}`, but {', '.join(experiment.get_runs(system_name))}"
            )
        split = choose_replaced_set(experiment)
        self._result_files = result_files
        self._check_existence(result_files.recorded_files, split)
        plan = ExperimentPlan(experiment, find_workflow_folder(), result_files.hash_cache_path)
        self._text_jobs = TextJobFinder(plan, split)
        self._stages: dict[str, StageFunction] = {}
        self._checked_paths: set[Path] = set()
        self.files = find_text_files(plan, system_name, self.run_name, split)
        jobs, existing = self._text_jobs.resolve_jobs([self.files["text"]])
        if any(job.job.stage == "syntax.import_trees" for job in jobs):
            raise InputError(
                f"{system_name} reads trees from files, and new text has none; "
                "use a system that reads the trees of a parser"
            )
        self._check_existence(existing, split)

    def _check_existence(self, files: Iterable[str], split: str) -> None:
        missing_files = [file for file in files if not self._result_files.locate(file).exists()]
        if missing_files:
            text = f"{get_run_folder('evaluation', self.system_name, self.run_name)}/{split}.txt"
            error = self._result_files.format_missing_files(missing_files, text)
            raise InputError(f"{self.system_name} is not complete here: {error}")

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
                arguments["originals"] = None
            self.run_stage(job.job.stage, arguments, work_folder)

    def resolve_arguments(self, job: TextJob, work_folder: Path) -> dict[str, Any]:
        """Return the arguments of a job, with files of the text in the work folder."""
        files: dict[str, Any] = {**job.job.files, **job.job.files_by_set.get(job.set_name, {})}
        paths = (
            str(
                self._locate_work_file(file, work_folder)
                if self._text_jobs.find_job(file)
                else self._result_files.locate(file)
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
                    self._result_files.check(path)
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
