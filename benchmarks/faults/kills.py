"""Attack: kill -9 of a stage, of a training or of all of Snakemake at any moment; then the same command again."""

import os
import signal
import time
from contextlib import suppress

from benchmarks.faults import stages
from benchmarks.faults.cases import Case, Outcome, Result, failed, last_words
from benchmarks.faults.experiment import remove, started
from benchmarks.faults.jobs import Job, behind
from benchmarks.faults.results import describe_faults

LIMIT = 300
"""Seconds."""

TRAININGS = ("train", "pretrain", "train_parser", "train_smt", "learn_bpe")
KILLS = 3
"""At most so many in one case."""

BEFORE_JOBS = 4.0
"""Seconds that Snakemake takes, about, before it starts a job."""


def attack(case: Case) -> Result:
    """Kill something."""
    return (_stage, _training, _stage, _training, _workflow)[case.number % 5](case)


def _stage(case: Case) -> Result:
    return _killed("a stage", case, case.random.choice([job for job in case.experiment.jobs if job.rule != "report"]))


def _training(case: Case) -> Result:
    trainings = [job for job in case.experiment.jobs if job.rule in TRAININGS]
    return _killed("a training", case, case.random.choice(trainings))


def _killed(on: str, case: Case, job: Job) -> Result:
    """Kill a stage some times, then let it come to its end."""
    experiment = case.experiment
    experiment.copied_before(case.folder, job)
    kills = [case.random.uniform(0, experiment.seconds[job.name]) for _ in range(case.random.randint(1, KILLS))]
    what = f"{job.name} killed after {', '.join(f'{seconds:.2f}' for seconds in kills)} s"
    for seconds in kills:
        remove(case.folder, job.outputs)  # as Snakemake does before it starts a job
        stages.stage(job.command, case.folder, LIMIT, killed_after=seconds)
    remove(case.folder, job.outputs)
    done = stages.stage(job.command, case.folder, LIMIT)
    return _judged(on, case, what, done, job.outputs)


def _workflow(case: Case) -> Result:
    """Kill Snakemake, or one process of it; what it makes is missing from a job on."""
    experiment, random = case.experiment, case.random
    first = random.choice([job for job in experiment.jobs if job.rule not in ("fetch", "report")])
    jobs = [first, *behind(experiment.jobs, first.outputs)]
    experiment.copied_before(case.folder, *jobs)
    expected = sum(experiment.seconds[job.name] + 1 for job in jobs) / 2
    after, alone = BEFORE_JOBS + random.uniform(0, expected), random.random() < 0.3
    what = f"{'one process' if alone else 'all'} of Snakemake killed after {after:.1f} s, from {first.name} on"
    process = started(case.folder, experiment.target)
    if alone:
        time.sleep(after)
        _kill_one(process, random.random())
        process.done(LIMIT)
    else:
        process.done(LIMIT, killed_after=after)
    unlocked = started(case.folder, experiment.target, "--unlock").done(LIMIT)
    if unlocked.code != 0:
        return Result("Snakemake", failed(unlocked, [""]) or Outcome.VAGUE, what, last_words(unlocked))
    done = started(case.folder, experiment.target).done(LIMIT)
    return _judged("Snakemake", case, what, done, [output for job in experiment.jobs for output in job.outputs])


def _kill_one(process: stages.Process, chance: float) -> None:
    """Kill a process that Snakemake started, if there is one."""
    others = process.session()[1:]
    if others:
        with suppress(ProcessLookupError):
            os.kill(others[int(chance * len(others))], signal.SIGKILL)


def _judged(on: str, case: Case, what: str, done: stages.Done, outputs: list[str] | tuple[str, ...]) -> Result:
    """Compare what is there after the last run with what there is where nothing was killed."""
    ended = failed(done, outputs)
    if ended is not None:  # even a clear error is none of the user's making
        worse = Outcome.VAGUE if ended is Outcome.CLEAR else ended
        return Result(on, worse, what, last_words(done))
    wrong = describe_faults(case.experiment.folder, case.folder, outputs)
    return Result(on, Outcome.WRONG if wrong else Outcome.RIGHT, what, wrong)
