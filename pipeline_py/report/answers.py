"""Answers of `evaluation.judge_claims`, one for each claim by its first metric."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_py.evaluation.metric import get_metric_class
from pipeline_py.files.set_names import AVERAGE_SET_NAME
from pipeline_py.report.stage_results import read_tsv

NUMBER_COLUMNS = ("score_system", "score_other", "difference", "low", "high", "p_value", "detectable", "run_deviation")
RUN_COUNT_COLUMNS = ("runs_system", "runs_other")
SYNTAX_SUBJECT = "syntax"

MAX_PRINTED_CLAIMS = 10
"""Number of claims that the terminal shows if no answer is about syntax."""

NO_VERDICT_HEADING = (
    "Comparisons in this table (the verdict on syntax is in the report, which uses all runs and control trees of the "
    "experiment):"
)


@dataclass(frozen=True)
class DifferenceInterval:
    """A difference of two systems with the ends of its 95 % interval."""

    system: str
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class ClaimAnswer:
    """The answer to one claim.

    Attributes:
        paper: the paper that makes the claim; empty if a table proposes it.
        system, other_system: the two compared systems.
        sentence_group: the group of sentences; empty for all sentences.
        relation: the claimed relation.
        metric_label: the metric's name for people.
        run_counts: numbers of runs of both systems.
        run_deviation: the assumed standard deviation between runs of a system with a single run.
        run_deviation_source: its origin, as in `significance.system_difference`.
        scores: scores of both systems.
        difference: the difference; None if it is not tested.
        smallest_detectable: the smallest detectable difference.
        is_about_syntax: whether only the first system reads trees.
        verdict, syntax_answer, published_exclusion, verdict_sentence: as in the file.
        paper_conclusion, published_result: the conclusion of the paper, and its result with its place.
        control_differences: by parser, the system with control trees minus the other system.
    """

    paper: str
    system: str
    other_system: str
    relation: str
    sentence_group: str
    metric_label: str
    run_counts: tuple[int, int]
    run_deviation: float
    run_deviation_source: str
    scores: tuple[float, float]
    difference: DifferenceInterval | None
    smallest_detectable: float
    is_about_syntax: bool
    verdict: str
    syntax_answer: str
    published_exclusion: str
    verdict_sentence: str
    paper_conclusion: str
    published_result: str
    control_differences: Mapping[str, DifferenceInterval]


def read_answers(path: Path) -> list[ClaimAnswer]:
    """Read the answers of an experiment or table, an output of `evaluation.judge_claims`."""
    rows = read_tsv(path, [*NUMBER_COLUMNS, *RUN_COUNT_COLUMNS]).to_dict("records")
    rows = [row for row in rows if row["set"] == AVERAGE_SET_NAME]
    answers: list[ClaimAnswer] = []
    answered_keys = set()
    for place, row in enumerate(rows):
        key = tuple(row[column] for column in ("paper", "claim", "relation", "sentences", "system", "other"))
        if row["role"] != "claim" or key in answered_keys:
            continue
        answered_keys.add(key)
        detail_rows = []
        for detail_row in rows[place + 1 :]:
            if detail_row["role"] == "claim":
                break
            detail_rows.append(detail_row)
        is_tested = row["difference"] == row["difference"]
        answers.append(
            ClaimAnswer(
                metric_label=get_metric_class(row["metric"]).label,
                run_counts=(int(row["runs_system"]), int(row["runs_other"])) if is_tested else (0, 0),
                scores=(row["score_system"], row["score_other"]),
                difference=_parse_interval(row) if is_tested else None,
                is_about_syntax=row["about"] == SYNTAX_SUBJECT,
                control_differences={
                    detail["trees"]: _parse_interval(detail) for detail in detail_rows if detail["role"] == "control"
                },
                paper=row["paper"],
                system=row["system"],
                other_system=row["other"],
                relation=row["relation"],
                sentence_group=row["sentences"],
                run_deviation=row["run_deviation"],
                run_deviation_source=row["run_deviation_from"],
                smallest_detectable=row["detectable"],
                verdict=row["verdict"],
                syntax_answer=row["syntax"],
                published_exclusion=row["excluded"],
                verdict_sentence=row["sentence"],
                paper_conclusion=row["says"],
                published_result=row["printed"],
            )
        )
    return answers


def select_twin_answers(answers: Sequence[ClaimAnswer]) -> list[ClaimAnswer]:
    """Return, for each system that reads trees, the answer against its twin, the first system without trees."""
    twins: dict[str, ClaimAnswer] = {}
    for answer in answers:
        if answer.is_about_syntax and answer.relation == "better" and not answer.sentence_group:
            twins.setdefault(answer.system, answer)
    return [*twins.values()]


def format_verdict_counts(answers: Sequence[ClaimAnswer]) -> str:
    """Count the answers with each verdict, as text."""
    counts = Counter(answer.verdict for answer in answers)
    return ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))


def remove_repeated_answers(answers: Iterable[ClaimAnswer]) -> list[ClaimAnswer]:
    """Keep the first of the answers with the same sentence, which several papers or tables may request."""
    first: dict[str, ClaimAnswer] = {}
    for answer in answers:
        first.setdefault(answer.verdict_sentence, answer)
    return [*first.values()]


def group_answer_sentences(answers: Sequence[ClaimAnswer]) -> dict[str, list[str]]:
    """Group the sentences by heading below a table."""
    answers = remove_repeated_answers(answers)
    twin_answers = select_twin_answers(answers)
    other_answers = [answer for answer in answers if answer not in twin_answers]
    if not any(answer.verdict for answer in answers):
        groups = {NO_VERDICT_HEADING: answers}
    else:
        groups = {"Does syntax help?": twin_answers, "Other claims": other_answers}
    return {heading: [answer.verdict_sentence for answer in group] for heading, group in groups.items() if group}


def render_terminal_summary(answers: Sequence[ClaimAnswer], notes: Sequence[str]) -> list[str]:
    """Render the last lines of a run: exclusions, answers about syntax, and counts of other verdicts.

    If no answer is about syntax, the first other answers are shown.

    Args:
        answers: answers of this run.
        notes: sentences about systems and sets without verdicts.
    """
    answers = remove_repeated_answers(answers)
    twin_answers = select_twin_answers(answers)
    other_answers = [answer for answer in answers if answer not in twin_answers]
    lines = [*notes]
    if any(answer.verdict for answer in answers):
        lines += (
            ["Does syntax help?", *(f"  {answer.verdict_sentence}" for answer in twin_answers)] if twin_answers else []
        )
        if other_answers:
            shown = (
                []
                if twin_answers
                else [f"  {answer.verdict_sentence}" for answer in other_answers[:MAX_PRINTED_CLAIMS]]
            )
            lines += [f"Other claims: {format_verdict_counts(other_answers)}{':' if shown else '.'}", *shown]
    elif answers:
        lines += [NO_VERDICT_HEADING, *(f"  {answer.verdict_sentence}" for answer in twin_answers or other_answers)]
    return lines


def _parse_interval(row: Mapping[Hashable, Any]) -> DifferenceInterval:
    return DifferenceInterval(row["system"], row["difference"], row["low"], row["high"])
