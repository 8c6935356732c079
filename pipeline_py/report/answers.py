"""The answers of `evaluation.claims` for people: one for each claim, by the first of its metrics that is computed."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_py.evaluation.claims import AVERAGE
from pipeline_py.evaluation.metric import named
from pipeline_py.report.stage_results import read_table

NUMBERS = ("score_system", "score_other", "difference", "low", "high", "p_value", "detectable", "run_deviation")
RUNS = ("runs_system", "runs_other")
SYNTAX = "syntax"

MOST_SHOWN = 10
"""Number of claims that end a run without answers about syntax."""

NO_VERDICT = (
    "Comparisons in this table (the verdict on syntax is in the report, which uses all runs and control trees of the "
    "experiment):"
)


@dataclass(frozen=True)
class Interval:
    """A difference of two systems with the ends of its 95 % interval."""

    system: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Answer:
    """The answer to one claim.

    Attributes:
        paper: the paper that makes the claim; empty if a table proposes it.
        system, other: the system and the one that it is compared with.
        sentences: which sentences it is about; empty for all.
        relation: the relation that is claimed.
        metric: the metric's name for people.
        runs: numbers of runs of both.
        run_deviation: the assumed standard deviation between runs of a system with a single run.
        run_deviation_from: its origin, as in `significance.system_difference`.
        scores: scores of both.
        difference: the difference; None if it is not tested.
        detectable: the smallest detectable difference.
        is_about_syntax: whether the system reads trees and the other reads none.
        verdict, syntax, excluded, sentence: as in the file.
        says, printed: what the paper concludes, and what it prints where.
        controls: by parser, the system with control trees minus the other.
    """

    paper: str
    system: str
    other: str
    relation: str
    sentences: str
    metric: str
    runs: tuple[int, int]
    run_deviation: float
    run_deviation_from: str
    scores: tuple[float, float]
    difference: Interval | None
    detectable: float
    is_about_syntax: bool
    verdict: str
    syntax: str
    excluded: str
    sentence: str
    says: str
    printed: str
    controls: Mapping[str, Interval]


def read_answers(path: Path) -> list[Answer]:
    """Read the answers of an experiment or table, an output of `evaluation.claims`."""
    rows = read_table(path, [*NUMBERS, *RUNS]).to_dict("records")
    rows = [row for row in rows if row["set"] == AVERAGE]
    answers: list[Answer] = []
    seen = set()
    for place, row in enumerate(rows):
        key = tuple(row[column] for column in ("paper", "claim", "relation", "sentences", "system", "other"))
        if row["role"] != "claim" or key in seen:
            continue
        seen.add(key)
        details = []
        for detail in rows[place + 1 :]:
            if detail["role"] == "claim":
                break
            details.append(detail)
        is_tested = row["difference"] == row["difference"]
        answers.append(
            Answer(
                metric=named(row["metric"]).label,
                runs=(int(row["runs_system"]), int(row["runs_other"])) if is_tested else (0, 0),
                scores=(row["score_system"], row["score_other"]),
                difference=_interval(row) if is_tested else None,
                is_about_syntax=row["about"] == SYNTAX,
                controls={each["trees"]: _interval(each) for each in details if each["role"] == "control"},
                **{
                    column: row[column]
                    for column in (
                        *(
                            "paper",
                            "system",
                            "other",
                            "relation",
                            "sentences",
                            "run_deviation",
                            "run_deviation_from",
                            "detectable",
                        ),
                        *("verdict", "syntax", "excluded", "sentence", "says", "printed"),
                    )
                },
            )
        )
    return answers


def find_syntax_answers(answers: Sequence[Answer]) -> list[Answer]:
    """Return, for each system that reads trees, the answer against its twin, the first that reads none."""
    twins: dict[str, Answer] = {}
    for answer in answers:
        if answer.is_about_syntax and answer.relation == "better" and not answer.sentences:
            twins.setdefault(answer.system, answer)
    return [*twins.values()]


def count_verdicts(answers: Sequence[Answer]) -> str:
    """Count the answers with each verdict, as text."""
    counts = Counter(answer.verdict for answer in answers)
    return ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))


def remove_repetitions(answers: Iterable[Answer]) -> list[Answer]:
    """Keep one of the answers with equal sentences, which several papers or tables ask for."""
    first: dict[str, Answer] = {}
    for answer in answers:
        first.setdefault(answer.sentence, answer)
    return [*first.values()]


def group_sentences(answers: Sequence[Answer]) -> dict[str, list[str]]:
    """Group the sentences by their heading below a table."""
    answers = remove_repetitions(answers)
    syntax = find_syntax_answers(answers)
    others = [answer for answer in answers if answer not in syntax]
    if not any(answer.verdict for answer in answers):
        groups = {NO_VERDICT: answers}
    else:
        groups = {"Does syntax help?": syntax, "Other claims": others}
    return {heading: [answer.sentence for answer in group] for heading, group in groups.items() if group}


def render_for_terminal(answers: Sequence[Answer], notes: Sequence[str]) -> list[str]:
    """Render the lines that end a run: what is excluded, answers about syntax, and the number of others.

    If no answer is about syntax, the first of the others are shown.

    Args:
        answers: of this run.
        notes: sentences about systems and sets without verdicts.
    """
    answers = remove_repetitions(answers)
    syntax = find_syntax_answers(answers)
    others = [answer for answer in answers if answer not in syntax]
    lines = [*notes]
    if any(answer.verdict for answer in answers):
        lines += ["Does syntax help?", *(f"  {answer.sentence}" for answer in syntax)] if syntax else []
        if others:
            shown = [] if syntax else [f"  {answer.sentence}" for answer in others[:MOST_SHOWN]]
            lines += [f"Other claims: {count_verdicts(others)}{':' if shown else '.'}", *shown]
    elif answers:
        lines += [NO_VERDICT, *(f"  {answer.sentence}" for answer in syntax or others)]
    return lines


def _interval(row: Mapping[Hashable, Any]) -> Interval:
    return Interval(row["system"], row["difference"], row["low"], row["high"])
