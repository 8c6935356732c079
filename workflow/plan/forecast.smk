"""How long a run will take, told with Snakemake's list of jobs."""

import logging

from snakemake.logging import logger
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent

from pipeline_py.config.files import read_file
from pipeline_py.config.differences import warning
from pipeline_py.config.workload import workload
from pipeline_py.forecast import Machine, Planned, told
from pipeline_py.run_times import expected, job_of, recorded, typical

COUNTS_ONCE = {Quietness.RULES, Quietness.PROGRESS}
"""What a dry run is quiet about that lists no jobs, so that it counts them only once."""


def embedded_experiment():
    """The experiment that `config.yaml` alone describes."""
    return load(read_file(Path(workflow.basedir) / "config.yaml"), check_files=False)


def sentences_of_embedded(experiment, split: str) -> int:
    """How many sentences a split has; where `config.yaml` names files by now, it is the experiment that runs."""
    text = experiment.corpora.train[0] if split == "train" else experiment.corpora.held_out[split]
    return most_sentences(split) if text.source is not None else text.generate.sentences


def growth(embedded, stage: str, wildcards: dict[str, str]) -> float:
    """How many times more work a job is than its like in the embedded experiment."""
    known = {"split": embedded.corpora.splits, "system": embedded.systems, "parser": embedded.parsers}
    instead = {
        "split": embedded.corpora.tests[0].name,
        "system": next(filter(embedded.is_neural, embedded.systems)),
        "parser": next(iter(embedded.parsers)),
    }
    like = {name: value if value in known.get(name, [value]) else instead[name] for name, value in wildcards.items()}
    there = workload(embedded, stage, like, lambda split: sentences_of_embedded(embedded, split))
    return workload(EXPERIMENT, stage, wildcards, most_sentences) / there


def planned_jobs() -> tuple[list[Planned], int]:
    """The jobs of this run, and how many of them ran here before with the same settings."""
    folder, embedded = Path(EXPERIMENT.folder("benchmarks")), embedded_experiment()
    levels = workflow.dag.toposorted({*workflow.dag.needrun_jobs(exclude_finished=False)})
    jobs = [job for level in levels for job in sorted(level, key=str)]
    likes = {job: job_of(Path(job.benchmark), folder) for job in jobs if job.benchmark}
    others = {like for job, like in likes.items() if workflow.dag.reason(job).params_changed}
    here = {like: seconds for like, seconds in recorded(folder).items() if like not in others}
    elsewhere, places = typical(), {job: place for place, job in enumerate(jobs)}
    planned = []
    for job in jobs:
        stage, seconds = "", 0.0
        if job in likes:
            stage, wildcards = likes[job].stage, dict(job.wildcards.items())
            seconds = expected(likes[job], here, elsewhere, lambda: growth(embedded, stage, wildcards))
        after = {places[earlier] for earlier in workflow.dag.dependencies[job] if earlier in places}
        planned.append(Planned(stage, seconds, after, job.threads, job.resources.get("gpu", 0)))
    return planned, sum(like in here for like in likes.values())


def machine_of_jobs() -> Machine:
    """What Snakemake may use and this machine has; on a cluster there is no limit."""
    if workflow.nodes is not None:
        return Machine()
    cards = workflow.global_resources.get("gpu")
    return Machine(min(workflow.cores, os.cpu_count()), None if cards is None else cards.value)


def tables_of_run() -> list[str]:
    """Tables with scores that this run makes."""
    made = {job.wildcards.table for job in workflow.dag.jobs if job.rule.name in ("table", "measures")}
    return [table for table in EXPERIMENT.tables if table in made]


class Forecast(logging.Handler):
    """Tells warnings and the forecast once Snakemake has counted its jobs; in a dry run behind its list of them."""

    counted = 0

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "event", None) != LogEvent.RUN_INFO:
            return
        self.counted += 1
        if workflow.dryrun and self.counted == 1 and not COUNTS_ONCE <= {*(workflow.output_settings.quiet or [])}:
            return
        for sentence in filter(None, (warning(EXPERIMENT, table) for table in tables_of_run())):
            logger.warning(sentence)
        try:
            planned, seen = planned_jobs()
            logger.info(told(planned, machine_of_jobs(), seen))
        except Exception as error:  # no run shall end for want of a forecast
            logger.warning(f"No forecast of time ({type(error).__name__}: {error}).")


if workflow.is_main_process:
    logger.addHandler(Forecast())
