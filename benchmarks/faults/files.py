"""Attack: a file of the results is damaged after it was written, and what reads it runs."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from benchmarks.faults import stages
from benchmarks.faults.cases import Case, Outcome, Result, failed, last_words
from benchmarks.faults.damage import damaged
from benchmarks.faults.experiment import Experiment, remove, run_job
from benchmarks.faults.jobs import Job
from benchmarks.faults.results import differing, remains
from pipeline_py.run.errors import InputError
from pipeline_py.run.record import SUFFIX

LIMIT = 120
"""Seconds."""

READERS = 2
"""At most so many stages that read a damaged file run."""

REMEDIED = 5
"""Of so many errors, the remedy of one is followed."""

RECORD = re.compile(rf"(.*/)\.([^/]+){re.escape(SUFFIX)}$")
"""A record, and the output that it is of."""

KINDS = {
    "checkpoint": re.compile(r"/checkpoints/"),
    "cached copy": re.compile(r"/cache/"),
    "record": RECORD,
    "compiled kernels": re.compile(r"^cache/"),
    ".arrow": re.compile(r"\.arrow$"),
    ".safetensors": re.compile(r"\.safetensors$"),
    "model of a parser": re.compile(r"\.pt$"),
    "JSON or table": re.compile(r"\.(json|tsv|md)$"),
    "text, trees or vocabulary": re.compile(r""),
}
"""A file is of the first kind that it fits."""


def kind_of(file: str) -> str:
    """Say what a file is."""
    return next(kind for kind, pattern in KINDS.items() if pattern.search(file))


def attack(case: Case) -> Result:
    """Damage a file, and run stages that read it."""
    experiment, random = case.experiment, case.random
    of_kinds = _of_kinds(experiment)
    kind = [*of_kinds][case.number % len(of_kinds)]
    file = random.choice(of_kinds[kind])
    content, way = damaged((experiment.folder / file).read_bytes(), random)
    everywhere = random.random() < 0.5
    readers = readers_of(experiment, file)
    chosen = random.sample(readers, min(READERS, len(readers)))
    what = f"{way} {file}{' and what is linked with it' if everywhere else ''}"

    experiment.copied(case.folder)
    hit = _linked(case.folder, file) if everywhere else [case.folder / file]
    for path in hit:
        path.unlink()
        path.write_bytes(content)
    if kind == "checkpoint":  # a training whose outputs were kept looks at no checkpoint
        shutil.rmtree(case.folder / Path(file).parents[1] / "cache", ignore_errors=True)
    outcome, said = Outcome.RIGHT, ""
    for job in chosen:
        remove(case.folder, job.outputs)
        done = stages.stage(job.command, case.folder, LIMIT)
        ended = failed(done, [file, RECORD.sub(r"\1\2", file)])
        different = [] if ended else differing(experiment.folder, case.folder, job.outputs)
        experiment.restored(case.folder, job.outputs)
        if ended is None:
            if different:
                return Result(kind, Outcome.WRONG, f"{what}; {job.name}", f"differs: {different}")
            continue
        outcome, said = ended, f"{job.name}: {last_words(done)}"
        if ended is not Outcome.CLEAR:
            return Result(kind, ended, what, said)
    if outcome is Outcome.CLEAR and case.number // len(of_kinds) % REMEDIED == 0:
        different = _remedied(case, RECORD.sub(r"\1\2", file), chosen)
        if different:
            return Result(kind, Outcome.WRONG, f"{what}; then the remedy", f"differs: {different}")
    if left := remains(case.folder):
        return Result(kind, Outcome.WRONG, what, f"leaves {left}")
    return Result(kind, outcome, what, said)


def readers_of(experiment: Experiment, file: str) -> list[Job]:
    """The jobs that read a file, or the output that it is the record of; the report only where no other does."""
    read = RECORD.sub(r"\1\2", file)
    readers = [job for job in experiment.jobs if job.reads(read)]
    return [job for job in readers if job.rule != "report"] or readers


def _of_kinds(experiment: Experiment) -> dict[str, list[str]]:
    """The files that are read, by their kinds."""
    files: dict[str, list[str]] = {}
    for file in experiment.files:
        if Path(file).parts[0] in ("results", "cache") and readers_of(experiment, file):
            files.setdefault(kind_of(file), []).append(file)
    return files


def _remedied(case: Case, file: str, readers: Sequence[Job]) -> list[str]:
    """Remove a damaged file and run again, as its error says; what differs then."""
    maker = case.experiment.maker(file)
    (case.folder / file).unlink(missing_ok=True)
    jobs = [job for job in case.experiment.jobs if job == maker or job in readers]
    try:
        for job in jobs:
            remove(case.folder, job.outputs)
            run_job(job, case.folder)
    except InputError as error:
        return [str(error)]
    return differing(case.experiment.folder, case.folder, [file for job in jobs for file in job.outputs])


def _linked(folder: Path, file: str) -> list[Path]:
    number = (folder / file).stat().st_ino
    return [path for path in folder.rglob("*") if path.is_file() and path.stat().st_ino == number]
