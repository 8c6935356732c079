"""Attack: two of the same at once, in one folder."""

import time

from benchmarks.faults import stages
from benchmarks.faults.cases import Case, Outcome, Result, failed, last_words
from benchmarks.faults.experiment import remove, started
from benchmarks.faults.jobs import behind
from benchmarks.faults.kills import LIMIT
from benchmarks.faults.results import describe_faults

ANOTHER = ("Directory cannot be locked", "a concurrent process has deleted it")
"""What Snakemake says where another one works: it has the lock, or what it is about to write went meanwhile."""


def attack(case: Case) -> Result:
    """Start two stages, or two workflows."""
    return _workflows(case) if case.number % 5 == 4 else _stages(case)


def _stages(case: Case) -> Result:
    """The same stage twice, the second a moment after the first: both make the same, so it does not matter which."""
    experiment = case.experiment
    job = case.random.choice([job for job in experiment.jobs if job.rule != "report"])
    experiment.copied_before(case.folder, job)
    between = case.random.uniform(0, experiment.seconds[job.name] / 2)
    first = stages.started(job.command, case.folder)
    time.sleep(between)
    second = stages.started(job.command, case.folder)
    return _judged("stages", case, f"{job.name} twice, {between:.2f} s apart", [first, second], job.outputs)


def _workflows(case: Case) -> Result:
    experiment = case.experiment
    experiment.copied(case.folder)
    last = case.random.choice([job for job in experiment.jobs if job.rule in ("score", "postprocess", "vocabulary")])
    jobs = [last, *behind(experiment.jobs, last.outputs)]
    for job in jobs:
        remove(case.folder, job.outputs)
    between = case.random.uniform(0, 5)
    first = started(case.folder, experiment.target)
    time.sleep(between)
    second = started(case.folder, experiment.target)
    outputs = [output for job in experiment.jobs for output in job.outputs]
    return _judged("workflows", case, f"Snakemake twice, {between:.1f} s apart", [first, second], outputs)


def refused(done: stages.Done) -> bool:
    """Whether Snakemake made way for another one, and says so."""
    return any(words in done.said for words in ANOTHER)


def _judged(
    on: str, case: Case, what: str, processes: list[stages.Process], outputs: list[str] | tuple[str, ...]
) -> Result:
    """One of two may fail, where it says why; then the results are those of the other."""
    ends = [process.done(LIMIT) for process in processes]
    outcomes = [
        Outcome.CLEAR if done.code == 1 and refused(done) else failed(done, [str(case.folder), *outputs])
        for done in ends
    ]
    said = " || ".join(last_words(done) for done, outcome in zip(ends, outcomes, strict=True) if outcome)
    for outcome in outcomes:
        if outcome not in (None, Outcome.CLEAR):
            return Result(on, outcome or Outcome.RIGHT, what, said)
    if outcomes.count(Outcome.CLEAR) == len(outcomes):
        return Result(on, Outcome.VAGUE, what, said)
    if wrong := describe_faults(case.experiment.folder, case.folder, outputs):
        return Result(on, Outcome.WRONG, what, wrong)
    return Result(on, Outcome.CLEAR if Outcome.CLEAR in outcomes else Outcome.RIGHT, what, said)
