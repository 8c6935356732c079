"""Forecasts of the time of a run, and lines about its progress."""

import csv
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from statistics import mean, median
from typing import NamedTuple

from pipeline_py.config.experiment import Experiment
from pipeline_py.config.parser_defaults import EPOCHS
from pipeline_py.config.parsers import StanzaParser, TrainedParser
from pipeline_py.plan.corpus import BYTES_OF_A_GENERATED_SENTENCE, BYTES_OF_A_WORD

RATES = {
    "syntax/train_parser": (0.5, 5.5),  # for a thousand trees, as often as there are epochs
    "syntax/parse": (2.0, 3.0),
    "smt/train": (1.0, 6.0),
    "smt": (1.0, 33.0),
    "nmt/train": (1.5, 0.46),  # for a thousand sentences, as often as there are epochs, and a million multiply-adds
    "nmt/translate": (1.4, 0.3),  # for a thousand sentences, as often as the beam is wide, and a million
    "nmt": (1.5, 3.0),
    "evaluation/compare": (0.5, 21.0),
    "evaluation": (0.3, 0.5),
    "report": (2.0, 0.0),
    "": (0.6, 0.3),
}
"""Seconds to start a job of a stage, else of its package, else of any, and for a thousand sentences; on an AMD EPYC.

The sentences are as long as those of the embedded corpus.
"""

BY_SENTENCE = ("evaluation/", "report/", "syntax/train_parser")
"""Stages that take as long for short sentences as for long ones, or read other texts."""

OF_ALL_SETS = ("nmt/translate", "nmt/force_decode", "evaluation/postprocess")
"""Stages whose jobs read several sets, one after the other: contrastive ones, or all others that are held out."""


class Stage(NamedTuple):
    """Jobs of a stage, and the seconds of all of them; of `seen` of them it is known by those that ran here."""

    name: str
    jobs: int
    work: float
    seen: int = 0


def planned(
    counts: Mapping[str, int], experiment: Experiment, sentences: Mapping[str, int], lengths: Mapping[str, float]
) -> list[Stage]:
    """Make the stages of a run.

    Args:
        counts: its jobs by benchmark file, BENCHMARKS/PACKAGE/STAGE/NAME.tsv.
        experiment: the whole configuration.
        sentences: of each split.
        lengths: mean length of these sentences, as a multiple of those of the embedded corpus.
    """
    benchmarks, stages = Path(experiment.times_folder), []
    for pattern, jobs in counts.items():
        stage = "/".join(Path(pattern).relative_to(benchmarks).parts[:2])
        if times := recorded(benchmarks / stage):  # a few jobs more, as of a further test set, are of the usual kind
            seconds = mean(times) if jobs >= len(times) else median(times)
        else:
            start, of_thousand = RATES.get(stage.removesuffix("_shard")) or RATES.get(stage.split("/")[0]) or RATES[""]
            splits = _splits(stage, pattern, experiment, sentences)
            length = 1.0 if stage.startswith(BY_SENTENCE) else _length(splits, sentences, lengths)
            seconds = start + of_thousand * length * _work(stage, pattern, experiment, sentences, length) / 1000
        stages.append(Stage(stage, jobs, jobs * seconds, min(jobs, len(times))))
    return stages


def recorded(folder: Path) -> list[float]:
    """Seconds that jobs took, by the benchmark files in a folder that tell a time."""
    found = []
    for file in sorted(folder.glob("**/*.tsv")):
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            row = [{}, *csv.DictReader(lines, delimiter="\t")][-1]
        except (OSError, csv.Error):
            continue
        seconds = row.get("s") or ""
        if re.fullmatch(r"\d+(\.\d+)?", seconds) and float(seconds):
            found.append(float(seconds))
    return found


def _splits(stage: str, pattern: str, experiment: Experiment, sentences: Mapping[str, int]) -> list[str]:
    """What a stage's jobs read, each or all of them."""
    if stage not in OF_ALL_SETS:
        return [*sentences] if "{split" in pattern else ["train"]
    corpora = experiment.corpora
    sets = corpora.contrastive if stage == "nmt/force_decode" else corpora.held_out
    return [split for split in sets if split in sentences]


def _length(splits: Sequence[str], sentences: Mapping[str, int], lengths: Mapping[str, float]) -> float:
    """How long their sentences are, on average of all."""
    words = sum(sentences[split] * lengths[split] for split in splits)
    return words / (sum(sentences[split] for split in splits) or 1)


def _work(stage: str, pattern: str, experiment: Experiment, sentences: Mapping[str, int], length: float) -> float:
    """What a stage's rate is multiplied with: on average, where its jobs read different texts, and for such lengths."""
    train, held_out = sentences.get("train", 0), [size for split, size in sentences.items() if split != "train"]
    size = mean(sentences.values()) if "{split" in pattern else train
    if stage in OF_ALL_SETS:
        size = sum(sentences[split] for split in _splits(stage, pattern, experiment, sentences))
    elif stage.startswith("evaluation/") or ("{system" in pattern and "{split" in pattern):
        size = mean(held_out)
    if stage == "syntax/train_parser":
        parsers = [parser for parser in experiment.parsers.values() if isinstance(parser, TrainedParser)]
        return mean(
            (parser.treebank.generate or 10_000) * (parser.depparse.epochs or EPOCHS["depparse"]) for parser in parsers
        )
    if stage in ("syntax/parse", "syntax/parse_shard"):  # models that others trained are larger than ours
        packaged = isinstance(experiment.parsers.get(experiment.parser or ""), StanzaParser)
        of_a_shard = experiment.parsing.shard_size * BYTES_OF_A_WORD / (length * BYTES_OF_A_GENERATED_SENTENCE)
        return min(size, of_a_shard) * (3 if packaged else 1)
    if stage == "nmt/train":
        training = experiment.training
        size = min((training.epochs or math.inf) * train, (training.updates or math.inf) * training.batch_size)
    if stage in ("nmt/train", "nmt/translate"):  # two recurrences, attention and the softmax beside what has no size
        embedding, hidden, units = experiment.model.embedding, experiment.model.hidden, experiment.subword
        vocabulary = units.merges if units.scheme == "bpe" else 60 * train**0.5  # Heaps' law
        size *= 2 + (12 * hidden**2 + 8 * embedding * hidden + embedding * vocabulary) / 1e6
    return size * experiment.decoding.beam if stage == "nmt/translate" else size


def summary(stages: list[Stage], cores: int | None, cards: int | None) -> str:
    """The forecast in words; not less than the longest jobs of all packages in a row. On a cluster `cores` is null."""
    total, networks = (sum(stage.work for stage in stages if stage.name.startswith(of)) for of in ("", "nmt/"))
    packages = {stage.name.split("/")[0] for stage in stages}
    longest = sum(
        max(stage.work / stage.jobs for stage in stages if stage.name.startswith(f"{package}/")) for package in packages
    )
    together = _time(max(longest, total / (cores or math.inf), networks / (cards or math.inf)))
    rows = [stage for stage in stages if stage.work >= max(1, 0.01 * total)]
    if others := [stage for stage in stages if stage not in rows]:
        jobs = sum(stage.jobs for stage in others)
        rows.append(Stage("others", jobs, sum(stage.work for stage in others)))
    lines = [f"  {row.name:<30}  {row.jobs:>5} × {_time(row.work / row.jobs):<7} = {_time(row.work)}" for row in rows]
    seen, known = sum(stage.seen for stage in stages), sum(stage.jobs for stage in stages)
    source = f"{seen} of {known} jobs from earlier runs here" * (seen > 0) + ", the others " * (0 < seen < known)
    source += "from the embedded experiment on CPUs and the size of this one" * (seen < known)
    where = "on the cluster, without the time in its queue" if cores is None else f"on {cores} core{'s' * (cores != 1)}"
    lines += [f"In total about {together} {where} ({source})."]
    return "\n".join(["Jobs to run, with estimated times:", *lines]) if stages else ""


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 9.95 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


COSTLY = 20.0
"""Seconds from which on a job is told alone."""

STEP = 0.1
"""Of all jobs the share after which it is told how many are done, where no costly one says so."""

LAST_LINES = 30
"""Of the log of a job that failed without a sentence, how many are shown."""

PATIENCE, LOOKS = 1.0, 10
"""Seconds, and how often within them, that the log of a job that failed is looked at for its sentence.

`tee` writes it there, for which a rule's shell does not wait.
"""


@dataclass
class RunLines:
    """Jobs of a run that are at work, and what was told of it.

    Attributes:
        expected: seconds of a job of each stage, by PACKAGE/STAGE.
        clock: tells seconds.
    """

    expected: dict[str, float] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    _running: dict[int, tuple[str, float]] = field(default_factory=dict)
    _ended: list[str] = field(default_factory=list)
    _told: float = 0.0

    def begin(self, number: int, times: str) -> str:
        """Take note that a job begins; give a line if it will be costly.

        Args:
            number: of the job.
            times: the file for its times below that of all, PACKAGE/STAGE/NAME.tsv.
        """
        package, stage, *rest = PurePath(times).with_suffix("").parts
        name = " ".join([stage, "/".join(rest).replace(".", " ")])
        self._running[number] = name, self.clock()
        return f"{name}: started" if self.expected.get(f"{package}/{stage}", 0) >= COSTLY else ""

    def end(self, number: int) -> None:
        """Take note that a job is done."""
        name, began = self._running.pop(number, ("", self.clock()))
        if (seconds := self.clock() - began) >= COSTLY:
            self._ended.append(f"{name}: done after {seconds:.0f} s")

    def fail(self, number: int, rule: str, logs: Sequence[str]) -> str:
        """Say what a job that failed said: its own sentence, or else the end of its log.

        Args:
            number: of the job.
            rule: what makes such jobs, where it is not known by its times.
            logs: its log files.
        """
        name, _ = self._running.pop(number, (rule, 0.0))
        said, own = _said(logs)
        for _ in range(LOOKS):
            if own:
                break
            time.sleep(PATIENCE / LOOKS)
            said, own = _said(logs)
        return "\n".join([f"{name}: failed ({', '.join(logs)})", *(own or said[-LAST_LINES:])])

    def progress(self, done: int, jobs: int) -> str:
        """Say which costly jobs are done since it was last asked, and of how many all; nothing where nothing is new."""
        if not self._ended and done < jobs and done / jobs < self._told + STEP:
            return ""
        ended, self._ended, self._told = self._ended, [], done / jobs
        return "\n".join([*ended, f"{done} of {jobs} jobs done"])


def _said(logs: Sequence[str]) -> tuple[list[str], list[str]]:
    said = [line for log in logs if Path(log).is_file() for line in _lines(Path(log))]
    return said, [line for line in said if line.startswith("error: ")]


def _lines(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8", errors="replace").replace("\r", "\n").splitlines()
