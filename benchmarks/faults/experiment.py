"""A very small experiment, its jobs, and its results where nothing disturbs them."""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from benchmarks.faults import stage_processes
from benchmarks.faults.planned_jobs import PlannedJob, parse_planned_jobs
from pipeline_py.corpus.generate import generate
from pipeline_py.run.errors import InputError

ROOT = Path(__file__).parents[2]
SPLIT_TEXTS = {"train": (120, 0.0, 0.5), "dev": (21, 0.5, 0.6), "one": (22, 0.6, 0.7)}
"""Sentences of each split, and the share of the language that they come from."""

USER_FILES_FOLDER = "given"
CHECKPOINTS_FOLDER = "checkpoints"
"""The folder of a training's checkpoints, beside its outputs."""

CACHE_FOLDER = "cache"
"""The folder of a costly stage's earlier outputs, beside these."""

SMALL_TARGET = "results/small.tsv"
"""The target that takes least: two systems on trees that are given."""

TIME_LIMIT = 300
"""Seconds for what nothing disturbs."""


@dataclass(frozen=True)
class FaultExperiment:
    """An experiment that has run.

    Attributes:
        folder: where it ran; nothing may write there any more.
        target: what Snakemake was asked for.
        jobs: those with a stage, in an order in which they can run.
        stage_seconds: what each stage took.
        checksums: the checksums of all its files.
    """

    folder: Path
    target: str
    jobs: tuple[PlannedJob, ...]
    stage_seconds: dict[str, float]
    checksums: dict[str, str]

    @property
    def file_names(self) -> list[str]:
        """Names of all files that the experiment reads and writes."""
        return sorted(self.checksums)

    def list_job_inputs(self, job: PlannedJob) -> list[str]:
        """The files, and the folders of files, that are given to a job and that it does not make."""
        folders = {str(folder) for file in self.checksums for folder in Path(file).parents}
        return sorted(job.path_arguments & (self.checksums.keys() | folders - {"."}) - {*job.outputs})

    def find_producer(self, file: str) -> PlannedJob | None:
        """The job that makes a file, or the folder that it lies in."""
        ways = {file, *map(str, Path(file).parents)}
        return next((job for job in self.jobs if ways.intersection(job.outputs)), None)

    def copy_to(self, folder: Path) -> None:
        """Make a copy of links; a stage writes into no file but those of caches, so the experiment stays as it is."""
        shutil.copytree(self.folder, folder, copy_function=_link_or_copy, symlinks=True)

    def copy_without_outputs(self, folder: Path, *jobs: PlannedJob) -> None:
        """Make a copy in which some jobs have not run, and have nothing to reuse."""
        self.copy_to(folder)
        for job in jobs:
            remove_reusable_files(folder, job)
            remove_outputs(folder, job.outputs)

    def restore_files(self, folder: Path, files: Sequence[str]) -> None:
        """Put files of the experiment, or folders of them, back into a copy."""
        remove_outputs(folder, files)
        for file in files:
            if (self.folder / file).is_dir():
                shutil.copytree(self.folder / file, folder / file, copy_function=_link_or_copy)
            else:
                (folder / file).hardlink_to(self.folder / file)


def remove_outputs(folder: Path, outputs: Sequence[str]) -> None:
    """Remove the outputs of a job, as Snakemake does before it starts one."""
    for output in outputs:
        path = folder / output
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def remove_reusable_files(folder: Path, job: PlannedJob) -> None:
    """Remove the caches and checkpoints that a job would reuse or resume from."""
    for place in job.reusable_folders:
        shutil.rmtree(folder / place, ignore_errors=True)


def write_experiment(folder: Path) -> None:
    """Put the configuration and the user's files of the experiment into a folder."""
    user_folder = folder / USER_FILES_FOLDER
    user_folder.mkdir(parents=True)
    shutil.copy(ROOT / "config.yaml", folder)
    shutil.copy(Path(__file__).with_suffix(".yaml"), folder)
    for split, (sentences, lowest, highest) in SPLIT_TEXTS.items():
        generate(
            sentences=sentences,
            share_from=lowest,
            share_to=highest,
            source_output=user_folder / f"{split}.en",
            target_output=user_folder / f"{split}.de",
            conllu_output=user_folder / f"{split}.conllu",
            ptb_output=user_folder / f"{split}.ptb",
            counts_output=user_folder / "counts",
        )
        (user_folder / "counts").unlink()
    shutil.copy(user_folder / "one.de", user_folder / "one.second.de")


def start_snakemake(folder: Path, *arguments: str) -> stage_processes.ForkedProcess:
    """Start Snakemake in a folder that the experiment is described in."""
    profile = ROOT / "profiles" / "default"
    place = ["--snakefile", str(ROOT / "Snakefile"), "--configfile", "experiment.yaml", "--cores", "2"]

    def run() -> None:
        from snakemake.cli import main

        options = [*place, "--workflow-profile", str(profile), *arguments]
        sys.argv = ["snakemake", *options]  # the profile looks at it
        main(options)

    return stage_processes.ForkedProcess(
        run, folder, {"XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": str(ROOT)}
    )


def run_dry_run(folder: Path, *arguments: str) -> stage_processes.ProcessResult:
    """Let Snakemake say what it would run there."""
    return start_snakemake(folder, "--dry-run", "--printshellcmds", *arguments).wait_for_result(TIME_LIMIT)


def run_undisturbed(folder: Path, target: str) -> FaultExperiment:
    """Describe the experiment in a folder and run it there, stage by stage.

    Raises:
        InputError: something fails though nothing disturbs it.
    """
    write_experiment(folder)
    dry_run_output = run_dry_run(folder, "--forceall", target)
    jobs = parse_planned_jobs(dry_run_output.output)
    if dry_run_output.exit_code != 0 or not jobs:
        raise InputError(f"the dry run fails:\n{dry_run_output.output[-2000:]}", folder)
    seconds: dict[str, float] = {}
    for job in jobs:
        seconds[job.name] = run_job_successfully(job, folder).seconds
    for job in jobs:
        if job.rule == "train":
            _leave_checkpoint(job, folder)
    shutil.rmtree(folder / ".snakemake")
    return FaultExperiment(folder, target, tuple(jobs), seconds, _compute_checksums(folder))


def list_changed_files(experiment: FaultExperiment) -> list[str]:
    """The files of an experiment that are not as they were when it had run."""
    checksums = _compute_checksums(experiment.folder)
    return sorted(
        file
        for file in checksums.keys() | experiment.checksums
        if checksums.get(file) != experiment.checksums.get(file)
    )


def _compute_checksums(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


def _leave_checkpoint(job: PlannedJob, folder: Path) -> None:
    """Leave the checkpoint of a training that was killed beside the results of the one that was not."""
    output_folder = folder / Path(job.outputs[0]).parent
    with tempfile.TemporaryDirectory(dir=folder) as name:
        finished = Path(name) / "finished"
        shutil.copytree(output_folder, finished, copy_function=_link_or_copy)
        remove_outputs(folder, job.outputs)
        shutil.rmtree(output_folder / CACHE_FOLDER)
        stage_processes.run_stage(
            job.module_and_argument,
            folder,
            TIME_LIMIT,
            kill_condition=lambda: any(output_folder.glob(f"{CHECKPOINTS_FOLDER}/*/rolling.safetensors")),
        )
        if (output_folder / CHECKPOINTS_FOLDER).exists():
            (output_folder / CHECKPOINTS_FOLDER).rename(finished / CHECKPOINTS_FOLDER)
        shutil.rmtree(output_folder)
        finished.rename(output_folder)


def run_job_successfully(job: PlannedJob, folder: Path) -> stage_processes.ProcessResult:
    """Run a job that must not fail.

    Raises:
        InputError: it does.
    """
    process_result = stage_processes.run_stage(job.module_and_argument, folder, TIME_LIMIT)
    if process_result.exit_code != 0:
        raise InputError(f"{job.name} fails though nothing disturbs it:\n{process_result.output[-2000:]}", folder)
    return process_result


def _link_or_copy(source: str, target: str) -> None:
    # What a stage takes from its cache gets a new time, which links would have in common with the experiment.
    if CACHE_FOLDER in Path(source).parts:
        shutil.copy2(source, target)
    else:
        Path(target).hardlink_to(source)
