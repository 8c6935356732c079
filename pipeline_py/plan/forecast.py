"""Forecasts of the duration of a run, and messages about its progress."""

import csv
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from statistics import mean, median
from typing import NamedTuple

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.parser_defaults import DEFAULT_EPOCHS
from pipeline_py.config.parsers import StanzaParserConfig, TrainedParserConfig
from pipeline_py.plan.corpus import BYTES_PER_GENERATED_SENTENCE, BYTES_PER_WORD
from pipeline_py.plan.subword import estimate_vocabulary_size

STAGE_RATES = {
    "syntax/train_parser": (0.5, 5.5),  # per thousand trees and epoch
    "syntax/parse": (2.0, 3.0),
    "smt/train": (1.0, 6.0),
    "smt": (1.0, 33.0),
    "nmt/train": (1.5, 0.46),  # per thousand sentences, epoch and million multiply-adds
    "nmt/translate": (1.4, 0.3),  # per thousand sentences, hypothesis and million multiply-adds
    "nmt/choose_beam": (1.4, 0.3),
    "nmt": (1.5, 3.0),
    "evaluation/compare_systems": (0.5, 21.0),
    "evaluation": (0.3, 0.5),
    "report": (2.0, 0.0),
    "": (0.6, 0.3),
}
"""Start-up seconds of a job and seconds per thousand sentences, by stage, package or "" for all others.

Measured on an AMD EPYC with sentences of the embedded corpus.
"""

LENGTH_INDEPENDENT_STAGES = ("evaluation/", "report/", "syntax/train_parser")
"""Stages whose time does not depend on the length of sentences, or that read other texts."""

SEARCH_STAGES = ("nmt/translate", "nmt/choose_beam")
"""Stages that search for translations."""

MULTI_SET_STAGES = (*SEARCH_STAGES, "nmt/force_decode", "evaluation/postprocess")
"""Stages whose jobs process dev alone, all contrastive sets, or all other held-out sets."""


class StageForecast(NamedTuple):
    """Forecast for all jobs of a stage.

    Attributes:
        stage_name: PACKAGE/STAGE.
        job_count: number of jobs.
        total_seconds: expected seconds of all jobs.
        measured_job_count: number of jobs whose time comes from earlier runs.
    """

    stage_name: str
    job_count: int
    total_seconds: float
    measured_job_count: int = 0


def forecast_stages(
    job_counts: Mapping[str, int],
    experiment: ExperimentConfig,
    sentence_counts: Mapping[str, int],
    relative_lengths: Mapping[str, float],
) -> list[StageForecast]:
    """Forecast the stages of a run.

    Args:
        job_counts: number of jobs by pattern of their benchmark file, BENCHMARKS/PACKAGE/STAGE/NAME.tsv.
        experiment: the configuration.
        sentence_counts: number of sentences of each split.
        relative_lengths: mean length of these sentences, relative to the embedded corpus.
    """
    benchmarks, stages = Path(experiment.times_folder), []
    for pattern, jobs in job_counts.items():
        stage = "/".join(Path(pattern).relative_to(benchmarks).parts[:2])
        if times := read_job_seconds(benchmarks / stage):
            # A few additional jobs, e.g. for another test set, are like most others.
            seconds = mean(times) if jobs >= len(times) else median(times)
        else:
            start, seconds_per_thousand = (
                STAGE_RATES.get(stage.removesuffix("_shard")) or STAGE_RATES.get(stage.split("/")[0]) or STAGE_RATES[""]
            )
            splits = _get_stage_splits(stage, pattern, experiment, sentence_counts)
            length = (
                1.0
                if stage.startswith(LENGTH_INDEPENDENT_STAGES)
                else _compute_mean_length(splits, sentence_counts, relative_lengths)
            )
            seconds = (
                start
                + seconds_per_thousand
                * length
                * _estimate_workload(stage, pattern, experiment, sentence_counts, length)
                / 1000
            )
        stages.append(StageForecast(stage, jobs, jobs * seconds, min(jobs, len(times))))
    return stages


def read_job_seconds(benchmark_folder: Path) -> list[float]:
    """Read the seconds of finished jobs from the valid benchmark files in a folder."""
    job_seconds = []
    for file in sorted(benchmark_folder.glob("**/*.tsv")):
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            row = [{}, *csv.DictReader(lines, delimiter="\t")][-1]
        except (OSError, csv.Error):
            continue
        seconds = row.get("s") or ""
        if re.fullmatch(r"\d+(\.\d+)?", seconds) and float(seconds):
            job_seconds.append(float(seconds))
    return job_seconds


def _get_stage_splits(
    stage: str, benchmark_pattern: str, experiment: ExperimentConfig, sentence_counts: Mapping[str, int]
) -> list[str]:
    """Return the splits that the jobs of a stage read."""
    if stage not in MULTI_SET_STAGES:
        return [*sentence_counts] if "{split" in benchmark_pattern else ["train"]
    corpora = experiment.corpora
    sets = {"nmt/force_decode": corpora.contrastive_sets, "nmt/choose_beam": ["dev"]}.get(stage, corpora.held_out_sets)
    return [split for split in sets if split in sentence_counts]


def _compute_mean_length(
    splits: Sequence[str], sentence_counts: Mapping[str, int], relative_lengths: Mapping[str, float]
) -> float:
    words = sum(sentence_counts[split] * relative_lengths[split] for split in splits)
    return words / (sum(sentence_counts[split] for split in splits) or 1)


def _estimate_workload(
    stage: str,
    benchmark_pattern: str,
    experiment: ExperimentConfig,
    sentence_counts: Mapping[str, int],
    relative_length: float,
) -> float:
    """Estimate the workload of a stage's mean job, in the units of `STAGE_RATES`."""
    train = sentence_counts.get("train", 0)
    held_out = [size for split, size in sentence_counts.items() if split != "train"]
    size = mean(sentence_counts.values()) if "{split" in benchmark_pattern else train
    if stage in MULTI_SET_STAGES:
        size = sum(
            sentence_counts[split] for split in _get_stage_splits(stage, benchmark_pattern, experiment, sentence_counts)
        )
    elif stage.startswith("evaluation/") or ("{system" in benchmark_pattern and "{split" in benchmark_pattern):
        size = mean(held_out)
    if stage == "syntax/train_parser":
        parsers = [parser for parser in experiment.parsers.values() if isinstance(parser, TrainedParserConfig)]
        return mean(
            (parser.treebank.generate or 10_000) * (parser.depparse.epochs or DEFAULT_EPOCHS["depparse"])
            for parser in parsers
        )
    if stage in ("syntax/parse", "syntax/parse_shard"):  # downloaded models are larger than those trained here
        packaged = isinstance(experiment.parsers.get(experiment.parser or ""), StanzaParserConfig)
        sentences_per_shard = (
            experiment.parsing.shard_size * BYTES_PER_WORD / (relative_length * BYTES_PER_GENERATED_SENTENCE)
        )
        return min(size, sentences_per_shard) * (3 if packaged else 1)
    if stage == "nmt/train":
        training = experiment.training
        batch_size: float = training.batch_size
        if training.batch_unit == "tokens":
            batch_size *= BYTES_PER_WORD / (relative_length * BYTES_PER_GENERATED_SENTENCE)
        size = min((training.epochs or math.inf) * train, (training.updates or math.inf) * batch_size)
    if stage == "nmt/train" or stage in SEARCH_STAGES:  # two recurrences, attention and softmax, plus a constant
        embedding, hidden = experiment.model.embedding, experiment.model.hidden
        vocabulary = estimate_vocabulary_size(experiment.subword, train)
        size *= 2 + (12 * hidden**2 + 8 * embedding * hidden + embedding * vocabulary) / 1e6
    if stage in SEARCH_STAGES:
        widths = experiment.decoding.beam_widths
        size *= max(widths) if stage == "nmt/translate" else sum(widths)
    return size


def format_forecast(stages: list[StageForecast], core_count: int | None, gpu_count: int | None) -> str:
    """Format a forecast for the terminal.

    The total is at least the sum of the longest job of each package. On a cluster, `core_count` is None.
    """
    total, networks = (
        sum(stage.total_seconds for stage in stages if stage.stage_name.startswith(prefix)) for prefix in ("", "nmt/")
    )
    packages = {stage.stage_name.split("/")[0] for stage in stages}
    longest = sum(
        max(stage.total_seconds / stage.job_count for stage in stages if stage.stage_name.startswith(f"{package}/"))
        for package in packages
    )
    total_time = _format_duration(max(longest, total / (core_count or math.inf), networks / (gpu_count or math.inf)))
    rows = [stage for stage in stages if stage.total_seconds >= max(1, 0.01 * total)]
    if short_stages := [stage for stage in stages if stage not in rows]:
        jobs = sum(stage.job_count for stage in short_stages)
        rows.append(StageForecast("others", jobs, sum(stage.total_seconds for stage in short_stages)))
    width = max((len(row.stage_name) for row in rows), default=0)
    lines = [
        f"  {row.stage_name:<{width}}  {row.job_count:>5} × {_format_duration(row.total_seconds / row.job_count):<7} = "
        f"{_format_duration(row.total_seconds)}"
        for row in rows
    ]
    measured_count = sum(stage.measured_job_count for stage in stages)
    job_count = sum(stage.job_count for stage in stages)
    source = f"{measured_count} of {job_count} jobs from earlier runs" * (measured_count > 0) + ", the others " * (
        0 < measured_count < job_count
    )
    source += "from the embedded experiment on CPUs and the size of this one" * (measured_count < job_count)
    machine = (
        "on the cluster, without the time in its queue"
        if core_count is None
        else f"on {core_count} core{'s' * (core_count != 1)}"
    )
    lines += [f"In total about {total_time} {machine} ({source})."]
    return "\n".join(["Jobs to run, with estimated times:", *lines]) if stages else ""


def _format_duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 9.95 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


COSTLY_JOB_SECONDS = 20.0
"""Minimum seconds of a job whose start and end are reported."""

PROGRESS_STEP = 0.1
"""Share of all jobs after which progress is reported if no costly job has finished."""

SHOWN_LOG_LINES = 30
"""Number of log lines shown for a job that failed without an error message."""

LOG_WAIT_SECONDS, LOG_CHECK_COUNT = 1.0, 10
"""Seconds to wait for the error message in the log of a failed job, and number of checks in that time.

`tee` writes the log, and the shell of a rule does not wait for it.
"""


@dataclass
class JobProgress:
    """The running jobs of a run, and the progress reported so far.

    Attributes:
        expected_seconds: expected seconds of a job, by PACKAGE/STAGE.
        clock: function that returns the time in seconds.
    """

    expected_seconds: dict[str, float] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    _running_jobs: dict[int, tuple[str, float]] = field(default_factory=dict)
    _finished_messages: list[str] = field(default_factory=list)
    _reported_share: float = 0.0

    def start(self, job_id: int, benchmark_path: str) -> str:
        """Record the start of a job, and return a message if it is costly, else an empty string.

        Args:
            job_id: ID of the job.
            benchmark_path: its benchmark file, PACKAGE/STAGE/NAME.tsv.
        """
        package, stage, *rest = PurePath(benchmark_path).with_suffix("").parts
        name = " ".join([stage, "/".join(rest).replace(".", " ")])
        self._running_jobs[job_id] = name, self.clock()
        return f"{name}: started" if self.expected_seconds.get(f"{package}/{stage}", 0) >= COSTLY_JOB_SECONDS else ""

    def finish(self, job_id: int) -> None:
        """Record the end of a job."""
        name, began = self._running_jobs.pop(job_id, ("", self.clock()))
        if (seconds := self.clock() - began) >= COSTLY_JOB_SECONDS:
            self._finished_messages.append(f"{name}: done after {seconds:.0f} s")

    def fail(self, job_id: int, rule_name: str, log_paths: Sequence[str]) -> str:
        """Return a message about a failed job with its error messages, or else the end of its log.

        Args:
            job_id: ID of the job.
            rule_name: rule of the job, for a job without a benchmark file.
            log_paths: log files of the job.
        """
        name, _ = self._running_jobs.pop(job_id, (rule_name, 0.0))
        log_lines, error_lines = _read_log_messages(log_paths)
        for _ in range(LOG_CHECK_COUNT):
            if error_lines:
                break
            time.sleep(LOG_WAIT_SECONDS / LOG_CHECK_COUNT)
            log_lines, error_lines = _read_log_messages(log_paths)
        return "\n".join([f"{name}: failed ({', '.join(log_paths)})", *(error_lines or log_lines[-SHOWN_LOG_LINES:])])

    def report_progress(self, finished_count: int, job_count: int) -> str:
        """Return a message about jobs finished since the last message; empty if there is nothing new to report."""
        if (
            not self._finished_messages
            and finished_count < job_count
            and finished_count / job_count < self._reported_share + PROGRESS_STEP
        ):
            return ""
        ended, self._finished_messages, self._reported_share = self._finished_messages, [], finished_count / job_count
        return "\n".join([*ended, f"{finished_count} of {job_count} jobs done"])


def _read_log_messages(log_paths: Sequence[str]) -> tuple[list[str], list[str]]:
    lines = [line for log in log_paths if Path(log).is_file() for line in _read_log_lines(Path(log))]
    return lines, [line for line in lines if line.startswith("error: ")]


def _read_log_lines(log_path: Path) -> list[str]:
    return log_path.read_text(encoding="utf-8", errors="replace").replace("\r", "\n").splitlines()
