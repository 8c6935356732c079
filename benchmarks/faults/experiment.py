"""A very small experiment, its jobs, and its results where nothing disturbs them."""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from benchmarks.faults import stages
from benchmarks.faults.jobs import Job, planned
from pipeline_py.corpus.generate import generate
from pipeline_py.run.errors import InputError

ROOT = Path(__file__).parents[2]
TEXTS = {"train": (120, 0.0, 0.5), "dev": (21, 0.5, 0.6), "one": (22, 0.6, 0.7)}
"""Sentences of each split, and the share of the language that they come from."""

GIVEN = "given"
CHECKPOINTS = "checkpoints"
"""The folder of a training's checkpoints, beside its outputs."""

CACHE = "cache"
"""The folder of a costly stage's earlier outputs, beside these."""

SMALL = "results/small.tsv"
"""The target that takes least: two systems on trees that are given."""

LIMIT = 300
"""Seconds for what nothing disturbs."""


@dataclass(frozen=True)
class Experiment:
    """An experiment that has run.

    Attributes:
        folder: where it ran; nothing may write there any more.
        target: what Snakemake was asked for.
        jobs: those with a stage, in an order in which they can run.
        seconds: what each stage took.
        content: the checksums of all its files.
    """

    folder: Path
    target: str
    jobs: tuple[Job, ...]
    seconds: dict[str, float]
    content: dict[str, str]

    @property
    def files(self) -> list[str]:
        """Whatever it read and made, by name."""
        return sorted(self.content)

    def read_by(self, job: Job) -> list[str]:
        """The files, and the folders of files, that are given to a job and that it does not make."""
        folders = {str(folder) for file in self.content for folder in Path(file).parents}
        return sorted(job.paths & (self.content.keys() | folders - {"."}) - {*job.outputs})

    def maker(self, file: str) -> Job | None:
        """The job that makes a file, or the folder that it lies in."""
        ways = {file, *map(str, Path(file).parents)}
        return next((job for job in self.jobs if ways.intersection(job.outputs)), None)

    def copied(self, folder: Path) -> None:
        """Make a copy of links; a stage writes into no file but those of caches, so the experiment stays as it is."""
        shutil.copytree(self.folder, folder, copy_function=_link, symlinks=True)

    def copied_before(self, folder: Path, *jobs: Job) -> None:
        """Make a copy in which some jobs have not run, and have nothing to reuse."""
        self.copied(folder)
        for job in jobs:
            forget(folder, job)
            remove(folder, job.outputs)

    def restored(self, folder: Path, files: Sequence[str]) -> None:
        """Put files of the experiment, or folders of them, back into a copy."""
        remove(folder, files)
        for file in files:
            if (self.folder / file).is_dir():
                shutil.copytree(self.folder / file, folder / file, copy_function=_link)
            else:
                (folder / file).hardlink_to(self.folder / file)


def remove(folder: Path, outputs: Sequence[str]) -> None:
    """Remove the outputs of a job, as Snakemake does before it starts one."""
    for output in outputs:
        path = folder / output
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def forget(folder: Path, job: Job) -> None:
    """Remove the caches and checkpoints that a job would reuse or resume from."""
    for place in job.reused:
        shutil.rmtree(folder / place, ignore_errors=True)


def described(folder: Path) -> None:
    """Put the configuration and the user's files of the experiment into a folder."""
    given = folder / GIVEN
    given.mkdir(parents=True)
    shutil.copy(ROOT / "config.yaml", folder)
    shutil.copy(Path(__file__).with_suffix(".yaml"), folder)
    for split, (sentences, lowest, highest) in TEXTS.items():
        generate(
            sentences=sentences,
            share_from=lowest,
            share_to=highest,
            source_output=given / f"{split}.en",
            target_output=given / f"{split}.de",
            conllu_output=given / f"{split}.conllu",
            ptb_output=given / f"{split}.ptb",
            counts_output=given / "counts",
        )
        (given / "counts").unlink()
    shutil.copy(given / "one.de", given / "one.second.de")


def started(folder: Path, *arguments: str) -> stages.Process:
    """Start Snakemake in a folder that the experiment is described in."""
    profile = ROOT / "profiles" / "default"
    place = ["--snakefile", str(ROOT / "Snakefile"), "--configfile", "experiment.yaml", "--cores", "2"]

    def run() -> None:
        from snakemake.cli import main

        options = [*place, "--workflow-profile", str(profile), *arguments]
        sys.argv = ["snakemake", *options]  # the profile looks at it
        main(options)

    return stages.Process(run, folder, {"XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": str(ROOT)})


def dry_run(folder: Path, *arguments: str) -> stages.Done:
    """Let Snakemake say what it would run there."""
    return started(folder, "--dry-run", "--printshellcmds", *arguments).done(LIMIT)


def undisturbed(folder: Path, target: str) -> Experiment:
    """Describe the experiment in a folder and run it there, stage by stage.

    Raises:
        InputError: something fails though nothing disturbs it.
    """
    described(folder)
    said = dry_run(folder, "--forceall", target)
    jobs = planned(said.said)
    if said.code != 0 or not jobs:
        raise InputError(f"the dry run fails:\n{said.said[-2000:]}", folder)
    seconds: dict[str, float] = {}
    for job in jobs:
        seconds[job.name] = run_job(job, folder).seconds
    for job in jobs:
        if job.rule == "train":
            _interrupt(job, folder)
    shutil.rmtree(folder / ".snakemake")
    return Experiment(folder, target, tuple(jobs), seconds, _content(folder))


def changed_since(experiment: Experiment) -> list[str]:
    """The files of an experiment that are not as they were when it had run."""
    now = _content(experiment.folder)
    return sorted(file for file in now.keys() | experiment.content if now.get(file) != experiment.content.get(file))


def _content(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


def _interrupt(job: Job, folder: Path) -> None:
    """Leave the checkpoint of a training that was killed beside the results of the one that was not."""
    made = folder / Path(job.outputs[0]).parent
    with tempfile.TemporaryDirectory(dir=folder) as name:
        finished = Path(name) / "finished"
        shutil.copytree(made, finished, copy_function=_link)
        remove(folder, job.outputs)
        shutil.rmtree(made / CACHE)
        stages.stage(job.command, folder, LIMIT, until=lambda: any(made.glob(f"{CHECKPOINTS}/*/rolling.safetensors")))
        if (made / CHECKPOINTS).exists():
            (made / CHECKPOINTS).rename(finished / CHECKPOINTS)
        shutil.rmtree(made)
        finished.rename(made)


def run_job(job: Job, folder: Path) -> stages.Done:
    """Run a job that must not fail.

    Raises:
        InputError: it does.
    """
    done = stages.stage(job.command, folder, LIMIT)
    if done.code != 0:
        raise InputError(f"{job.name} fails though nothing disturbs it:\n{done.said[-2000:]}", folder)
    return done


def _link(source: str, target: str) -> None:
    # What a stage takes from its cache gets a new time, which links would have in common with the experiment.
    if CACHE in Path(source).parts:
        shutil.copy2(source, target)
    else:
        Path(target).hardlink_to(source)
