"""What was measured of systems: scores on sets, and facts of their trainings."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from pipeline_py.evaluation.named_files import named_files
from pipeline_py.report.json_object import read_object
from pipeline_py.stage import InputError

METRICS = ("bleu", "ribes")
NUMBERS = ("parameters", "hidden", "dev_perplexity", "seconds_per_epoch")
"""Facts of a training that are measures."""


@dataclass(frozen=True)
class Measured:
    """Everything that a table of measures may say.

    Attributes:
        scores: (system, set, metric) → sacrebleu's JSON of each run.
        facts: system → facts of each run's training.
        settings: (system, column) → what the configuration says.
    """

    scores: dict[tuple[str, str, str], list[dict[str, Any]]]
    facts: dict[str, list[dict[str, Any]]]
    settings: dict[tuple[str, str], str]

    def of_score(self, system: str, on: str, metric: str, field: str = "score") -> list[float]:
        """A field of a system's scores on a set, of each run.

        Raises:
            InputError: if there is none.
        """
        found = self.scores.get((system, on, metric))
        if found is None:
            raise InputError(f"no {metric} of {system!r} on {on!r}; give --score {system}:{on}:RUN:{metric}=FILE")
        return [float(run[field]) for run in found]

    def of_training(self, system: str, fact: str) -> list[float] | None:
        """A fact of a system's trainings, of each run; None of a system that is not trained itself.

        Nor has every training each fact: phrases have no hidden size, and a loss that is no number no perplexity.
        """
        runs = self.facts.get(system, [])
        told = [float(run[fact]) for run in runs if run.get(fact) is not None]
        return told if told and len(told) == len(runs) else None

    def signatures(self, metric: str) -> list[str]:
        """How a metric was counted, each way once."""
        return list(
            dict.fromkeys(
                run["signature"] for (_, _, name), runs in self.scores.items() if name == metric for run in runs
            )
        )


def read_measures(pairs: Sequence[str]) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """Read `SYSTEM:SET:RUN:METRIC=FILE`.

    Raises:
        InputError: if a name has other parts, or a file is no score.
    """
    scores: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for key, path in named_files(pairs, "--score").items():
        parts = key.rsplit(":", 3)
        if len(parts) != 4 or parts[3] not in METRICS:
            raise InputError(f"--score {key!r} is no SYSTEM:SET:RUN:METRIC; write it so, METRIC being bleu or ribes")
        system, on, _, metric = parts
        scores.setdefault((system, on, metric), []).append(_score(path, metric))
    return scores


def read_facts(pairs: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Read `SYSTEM:RUN=FILE`, facts of trainings.

    Raises:
        InputError: if a file is no JSON object.
    """
    facts: dict[str, list[dict[str, Any]]] = {}
    for key, path in named_files(pairs, "--facts").items():
        content = read_object(path, remedy := "train the system again")
        for fact in NUMBERS:
            if content.get(fact) is not None:
                _check_number(content, fact, remedy, path)
        facts.setdefault(key.rpartition(":")[0] or key, []).append(content)
    return facts


def read_settings(pairs: Sequence[str]) -> dict[tuple[str, str], str]:
    """Read `SYSTEM:COLUMN=TEXT`, what the configuration says of systems.

    Raises:
        InputError: if one is written otherwise.
    """
    settings = {}
    for pair in pairs:
        head, equals, text = pair.partition("=")
        system, colon, column = head.rpartition(":")
        if not equals or not colon:
            raise InputError(f"--setting {pair!r} is no SYSTEM:COLUMN=TEXT; write it so")
        settings[system, column] = text
    return settings


def _score(path: Path, metric: str) -> dict[str, Any]:
    content = read_object(path, "score again")
    needed = ["score", "signature", *(["bp", "sys_len", "ref_len", "sentences"] if metric == "bleu" else [])]
    for field in needed:
        if field not in content:
            raise InputError(f"the file has no {field!r}; score again", path)
        if field != "signature":
            _check_number(content, field, "score again", path)
    return content


def _check_number(content: dict[str, Any], field: str, remedy: str, path: Path) -> None:
    value = content[field]
    if not isinstance(value, int | float) or not isfinite(value):
        raise InputError(f"{field!r} is no number but {value!r}; {remedy}", path)
