"""Attack: what a stage reads is well written and wrong, as a user's file or that of other software may be."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow.feather

from benchmarks.faults import stages
from benchmarks.faults.cases import Case, Outcome, Result, failed, last_words
from benchmarks.faults.experiment import GIVEN, TEXTS, Experiment, remove
from benchmarks.faults.jobs import Job, behind
from benchmarks.faults.mutations import mutated
from benchmarks.faults.results import remains
from pipeline_py.run.record import remove_records

LIMIT = 60
"""Seconds."""

TEXT = (".arrow", ".safetensors", ".pt", ".so", ".pdf", ".svg", ".html")
"""How files end that are not text."""

CHEAP = ("corpus", "subword", "syntax")
"""Packages whose stages run behind a user's file, as far as they train nothing."""

DROPPING = ("clean", "import_trees")
"""Rules that drop sentences and say so, or skip empty ones."""

COSTLY = ("train_parser", "learn_segmenter", "parse")
SENTENCES = {size for size, *_ in TEXTS.values()}


def attack(case: Case) -> Result:
    """Mutate a file, and run a stage that reads it; of a user's file also what comes behind."""
    experiment, random = case.experiment, case.random
    users = case.number % 2 == 0
    of_stages = _read_by(experiment, users)
    rule = [*of_stages][case.number // 2 % len(of_stages)]
    job, file = random.choice(of_stages[rule])
    content, ways = mutated((experiment.folder / file).read_bytes(), random)
    what = f"{ways} in {file}"
    experiment.copied(case.folder)
    path = case.folder / file
    path.unlink()
    path.write_bytes(content)
    remove_records([path])  # a file from elsewhere has no record
    jobs = [one for one in behind(experiment.jobs, [file]) if _is_cheap(one)] if users else [job]
    for one in jobs:
        remove(case.folder, one.outputs)
    name = "a user's file" if users else f"a file of {Path(file).parts[1]}"
    changed = {file}
    for one in jobs:
        done = stages.stage(one.command, case.folder, LIMIT)
        ended = failed(done, [*one.paths, *_given(experiment)])
        if ended is not None:
            return Result(name, ended, f"{what}; {one.name}", last_words(done))
        changed.update(one.outputs)
        if lost := _lost(experiment, case.folder, one):
            return Result(name, Outcome.WRONG, f"{what}; {one.name}", lost)
    left = remains(case.folder)
    return Result(name, Outcome.WRONG if left else Outcome.RIGHT, what, f"leaves {left}" if left else "")


def _read_by(experiment: Experiment, users: bool) -> dict[str, list[tuple[Job, str]]]:
    """Jobs with the text files that they read, by rule: users' files, or what stages made."""
    read: dict[str, list[tuple[Job, str]]] = {}
    for job in experiment.jobs:
        for file in sorted(job.paths & experiment.content.keys() - {*job.outputs}):
            is_text = not file.endswith(TEXT)
            if is_text and file.startswith(f"{GIVEN}/") == users and job.rule not in COSTLY:
                read.setdefault(job.rule, []).append((job, file))
    return read


def _is_cheap(job: Job) -> bool:
    return any(job.module.startswith(f"pipeline_py.{package}.") for package in CHEAP) and job.rule not in COSTLY


def _given(experiment: Experiment) -> Sequence[str]:
    return [file for file in experiment.files if file.startswith(f"{GIVEN}/")]


def _lost(experiment: Experiment, folder: Path, job: Job) -> str:
    """Say where files of a job that had a line or a row for each sentence have different numbers of them now."""
    counted = [file for file in job.inputs if job.rule not in DROPPING and file.split("/")[1] != "raw"]
    by_size: dict[int | None, dict[str, int | None]] = {}
    for file in (*counted, *job.outputs):
        size = sentences(experiment.folder / file)
        if size in SENTENCES:
            by_size.setdefault(size, {})[file] = sentences(folder / file)
    return next((f"sentences: {sizes}" for sizes in by_size.values() if len({*sizes.values()}) > 1), "")


def sentences(path: Path) -> int | None:
    """How many sentences a file has, one a line, a row or a block of lines; None where it has none of these."""
    if not path.is_file():
        return None
    if path.suffix == ".arrow":
        return pyarrow.feather.read_table(path).num_rows
    if path.suffix == ".conllu":
        blocks = path.read_bytes().replace(b"\r\n", b"\n").split(b"\n\n")
        return sum(block.lstrip().startswith((b"#", b"1\t", b"1-")) for block in blocks)
    if path.suffix in (".json", ".tsv", ".md"):
        return None
    content = path.read_bytes()
    return content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
