"""What `evaluation.claims` found, for people: one answer for each claim, by the first metric of it that is counted."""

from collections import Counter
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
    """A system minus another, and the ends of the 95 % interval."""

    system: str
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


def first_of_twins(answers: Sequence[Answer]) -> list[Answer]:
    """Of each system that reads trees the answer beside its first twin, which reads none."""
    found: dict[str, Answer] = {}
    for answer in answers:
        if answer.is_about_syntax:
            found.setdefault(answer.system, answer)
    return [*found.values()]


def counted(answers: Sequence[Answer]) -> str:
    """How many of them have which verdict."""
    counts = Counter(answer.verdict for answer in answers)
    return ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))


def of_pairs(answers: Sequence[Answer]) -> list[Answer]:
    """One answer for each pair of systems, where some table has it that with trees that mean nothing."""
    found: dict[tuple[str, str], Answer] = {}
    for answer in sorted(answers, key=lambda one: not one.controls):
        found.setdefault((answer.system, answer.other), answer)
    return [found[pair] for pair in dict.fromkeys((answer.system, answer.other) for answer in answers)]


def sentences(answers: Sequence[Answer]) -> dict[str, list[str]]:
    """The sentences by question, one for each pair of systems."""
    said = of_pairs(answers)
    twins = first_of_twins(said)
    asked = {"Does syntax help?": twins, "What else is claimed?": [answer for answer in said if answer not in twins]}
    return {question: [answer.sentence for answer in found] for question, found in asked.items() if found}


def told(answers: Sequence[Answer]) -> list[str]:
    """Lines that end a run: the sentences about systems that read trees, and how many others there are."""
    said = of_pairs(answers)
    twins = first_of_twins(said)
    others = [answer for answer in said if answer not in twins]
    return [
        *(["Does syntax help?", *(f"  {answer.sentence}" for answer in twins)] if twins else []),
        *([f"What else is claimed or asked: {counted(others)}."] if others else []),
    ]


def _interval(row: Mapping[Hashable, Any]) -> Interval:
    return Interval(row["system"], row["difference"], row["low"], row["high"])
