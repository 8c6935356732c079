"""What `evaluation.claims` found, for people: one answer for each claim, by the first metric of it that is counted."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_py.evaluation.claims import AVERAGE, COLUMNS
from pipeline_py.evaluation.metric import named
from pipeline_py.report.read_table import read_table

NUMBERS = ("score_system", "score_other", "difference", "low", "high", "visible")
SYNTAX = "syntax"


@dataclass(frozen=True)
class Interval:
    """A difference and the ends of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Answer:
    """What is said of one claim.

    Attributes:
        paper: empty where a table asks.
        system, other: which is said to be better than which.
        metric: what people call it.
        runs: of the system that has more.
        scores: of both.
        found: the difference.
        visible: the smallest difference that could have been seen.
        is_about_syntax: whether the system reads trees and the other none.
        verdict, of_syntax, sentence: as in the file.
        says, printed: what the paper concludes, and what it prints where.
        controls: by parser, the system with trees that mean nothing minus the other.
    """

    paper: str
    system: str
    other: str
    metric: str
    runs: int
    scores: tuple[float, float]
    found: Interval
    visible: float
    is_about_syntax: bool
    verdict: str
    of_syntax: str
    sentence: str
    says: str
    printed: str
    controls: Mapping[str, Interval]


def read_answers(path: Path) -> list[Answer]:
    """Read the claims of an experiment or table.

    Raises:
        InputError: if the file is none of `evaluation.claims`.
    """
    texts = [column for column in COLUMNS if column not in (*NUMBERS, "runs")]
    rows = [row for row in read_table(path, texts, NUMBERS, ["runs"]).to_dict("records") if row["set"] == AVERAGE]
    found: list[Answer] = []
    seen = set()
    for place, row in enumerate(rows):
        key = (row["paper"], row["system"], row["other"])
        if row["role"] != "claim" or key in seen:
            continue
        seen.add(key)
        beside = []
        for other in rows[place + 1 :]:
            if other["role"] == "claim":
                break
            beside.append(other)
        found.append(
            Answer(
                row["paper"],
                row["system"],
                row["other"],
                named(row["metric"]).label,
                row["runs"],
                (row["score_system"], row["score_other"]),
                _interval(row),
                row["visible"],
                row["about"] == SYNTAX,
                controls={one["trees"]: _interval(one) for one in beside if one["role"] == "control"},
                **{column: row[column] for column in ("verdict", "of_syntax", "sentence", "says", "printed")},
            )
        )
    return found


def sentences(answers: Sequence[Answer]) -> dict[str, list[str]]:
    """The sentences by question, each once; of a system that reads trees beside its first twin alone."""
    twins = {answer.system: answer for answer in reversed(answers) if answer.is_about_syntax}
    of_syntax = [answer.sentence for answer in answers if twins.get(answer.system) is answer]
    others = [answer.sentence for answer in answers if twins.get(answer.system) is not answer]
    asked = {"Does syntax help?": of_syntax, "What else is claimed?": others}
    return {question: list(dict.fromkeys(said)) for question, said in asked.items() if said}


def _interval(row: Mapping[Hashable, Any]) -> Interval:
    return Interval(row["difference"], row["low"], row["high"])
