"""What stands at the top of the page: the answer, what it rests on, and how far it can be trusted."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline_py.config.experiment import Experiment
from pipeline_py.evaluation.verdict import signed
from pipeline_py.report.answers import Answer, counted, first_of_twins, read_answers
from pipeline_py.report.manifest import Manifest
from pipeline_py.report.page_parts import Part
from pipeline_py.report.positive_control import positive_control
from pipeline_py.report.tables.sheet import Cell, Sheet, listed
from pipeline_py.report.tables.sheet import signed as exactly
from pipeline_py.syntax.measures import read_accuracies

ACCURACIES = ("UAS", "LAS", "F1")
"""What is told of a parser at the top."""


@dataclass(frozen=True)
class Overview:
    """The answer.

    Attributes:
        headline: in one sentence.
        reading: how to read the answers.
        answers: sentences about systems that read trees, each with what a paper says of it, where that is another.
        trust: sentences about what the numbers can bear.
    """

    headline: str
    reading: str
    answers: Sequence[tuple[str, str]]
    trust: Sequence[str]


def parts(manifest: Manifest) -> Iterator[Part]:
    """The answer and a forest plot; then, folded, every claim that could be held against the results."""
    answers = [answer for path in manifest.all("claims").values() for answer in read_answers(path)]
    twins = first_of_twins(answers)
    if twins:
        overview = Overview(headline(twins), reading(twins), [*_told(twins)], [*trust(manifest, twins)])
        yield Part(own=[overview], tables=[forest(twins)], template="overview.html")
    if answers:
        yield Part(
            f"All comparisons that papers claim or tables propose: {counted(answers)}",
            tables=[claims(answers)],
            folded=True,
        )


def _told(twins: Sequence[Answer]) -> Iterator[tuple[str, str]]:
    said = ""
    for answer in twins:
        says = f"{answer.paper}: {answer.says}" if answer.paper else ""
        yield answer.sentence, "" if says == said else says
        said = says


def headline(twins: Sequence[Answer]) -> str:
    """Say of how many systems what was found."""
    of_syntax = Counter(answer.of_syntax for answer in twins)
    found = Counter(answer.verdict for answer in twins)
    kinds = (
        (of_syntax["yes"], "translates better because of them", "translate better because of them"),
        (of_syntax["untested"], "translates better", "translate better"),
        (
            of_syntax["not shown"],
            "translates better, but not measurably better than with trees that mean nothing",
            "translate better, but not measurably better than with trees that mean nothing",
        ),
        (found["contradicted"], "translates worse", "translate worse"),
        (
            found["not distinguishable"],
            "shows no difference that can be seen",
            "show no difference that can be seen",
        ),
    )
    if len(twins) == 1:
        (said,) = (one for number, one, _ in kinds if number)
        return f"The one system that reads parse trees, compared with its twin that reads none, {said}."
    each = [f"{number} {one if number == 1 else several}" for number, one, several in kinds if number]
    said = "; ".join(each)
    return f"Of {len(twins)} systems that read parse trees, each compared with its twin that reads none, {said}."


def reading(twins: Sequence[Answer]) -> str:
    """Say what stands in the sentences of the answers."""
    metrics = _joined([*dict.fromkeys(answer.metric for answer in twins)])
    said = (
        "A system's twin is the system without trees that it is compared with. Differences are in points of "
        f"{metrics} (0 to 100), as means over the test sets unless stated otherwise. Square brackets contain the 95 % "
        "interval. “Visible from” gives the smallest difference that this experiment finds in four of five cases."
    )
    if kinds := [*dict.fromkeys(kind for answer in twins for kind in answer.controls)]:
        said += (
            f" Control trees ({', '.join(kinds)}) mean nothing, since they are made without looking at the words: a "
            "system that does as well with them does not gain from syntax."
        )
    return said


def forest(twins: Sequence[Answer]) -> Sheet:
    """Systems minus their twins with intervals to one scale, and below each the same system with other trees."""
    found = [interval for answer in twins for interval in (answer.found, *answer.controls.values())]
    least, most = min(0.0, *(one.low for one in found)), max(0.0, *(one.high for one in found))
    scale = 100 / ((most - least) or 1.0)

    is_one_metric = len({answer.metric for answer in twins}) == 1
    rows: dict[tuple[str, str], list[Cell | str]] = {}
    for answer in twins:
        twin = answer.other if is_one_metric else f"{answer.other} ({answer.metric})"
        for one in (answer.found, *answer.controls.values()):
            low, value, high = ((at - least) * scale for at in (one.low, one.value, one.high))
            bar = Cell("", str(one.value), interval=(low, value, high), zero=-least * scale, faint=one != answer.found)
            ends = f"{signed(one.value)} [{signed(one.low)}, {signed(one.high)}]"
            # With other trees that mean something, a system has the same controls.
            rows.setdefault(
                (one.system, answer.other),
                [one.system, bar, Cell(ends, str(one.value)), twin],
            )
    return listed(
        "Each system minus its twin, with 95 % intervals; in grey, the same system on control trees. The "
        f"vertical line is 0 (no difference); the scale goes from {signed(least)} to {signed(most)}.",
        ["System", "Minus its twin", "Difference", "Twin"],
        [*rows.values()],
        texts=["Twin"],
    )


def claims(answers: Sequence[Answer]) -> Sheet:
    """Every claim: what is printed of it, and what was found here."""
    heads = ["Claimed to be better", "than", "Verdict", "Score", "Other's score", "Difference", "95 % interval"]
    heads += ["Visible from", "Runs", "Metric", "Source", "Claim", "Published"]
    rows: list[list[Cell | str]] = [
        [
            answer.system,
            answer.other,
            answer.verdict + (", syntax not shown to be the reason" if answer.of_syntax == "not shown" else ""),
            *(f"{score:.2f}" for score in answer.scores),
            exactly(answer.found.value),
            Cell(f"{exactly(answer.found.low)} to {exactly(answer.found.high)}", str(answer.found.low)),
            f"{answer.visible:.2f}",
            str(answer.runs),
            answer.metric,
            answer.paper or "a table of this experiment",
            answer.says,
            answer.printed,
        ]
        for answer in answers
    ]
    return listed(
        "Each comparison that a paper claims or a table proposes, if this experiment has both systems: scores, their "
        "difference with its 95 % interval, the verdict, and the smallest difference that this experiment would find "
        "in four of five cases. Intervals and verdicts are not corrected for the number of comparisons; in the "
        "chapters of tables, the p-values of all pairs of systems are.",
        heads,
        rows,
        texts=["than", "Verdict", "Metric", "Source", "Claim", "Published"],
    )


def trust(manifest: Manifest, twins: Sequence[Answer]) -> Iterator[str]:
    """Say what the numbers can bear: runs, the sets, the search, the parser, what cannot be seen."""
    experiment = manifest.experiment
    runs = sorted({answer.runs for answer in twins})
    if runs == [1]:
        yield (
            "Training: each network was trained once. Another seed gives another score, "
            "which these intervals do not include; with `training: {seeds: [1, 2, 3]}` they do."
        )
    else:
        where = " where there are several runs" if runs[0] == 1 else ""
        yield (
            f"Training: each network was trained {' or '.join(map(str, runs))} times with different seeds, and "
            f"the intervals include the variation between seeds{where}."
        )
    least, most = (bound(answer.visible for answer in twins) for bound in (min, max))
    alike = f"{least:.1f}" == f"{most:.1f}"
    size = f"{least:.1f} points" if alike else f"{least:.1f} to {most:.1f} points, depending on the system"
    found = f"{size}{'' if alike else ','} is found in four of five cases"
    yield f"Size: a difference of {found}. Smaller differences may exist without being found."
    yield f"Search: {_search(experiment, twins)}"
    for parser, path in manifest.all("accuracy").items():
        known = [f"{one.metric} {one.value}" for one in read_accuracies(path) if one.metric in ACCURACIES]
        if known:
            yield f"Trees: on held-out gold trees, the parser {parser} reaches {', '.join(known)} of 100."
    yield from positive_control(manifest)
    if without := [answer.system for answer in twins if not answer.controls]:
        were = "was" if len(without) == 1 else "were"
        yield (
            f"Control: {_joined(without)} {were} not scored with control trees, so a gain need not come from syntax."
        )


def _search(experiment: Experiment, twins: Sequence[Answer]) -> str:
    """How translations were looked for."""
    systems = {name: experiment.systems.get(name) for answer in twins for name in (answer.system, answer.other)}
    searches = {system.decoding for system in systems.values() if system is not None and hasattr(system, "decoding")}
    beams = sorted({search.beam for search in searches})
    alike = "all systems use the same search" if len(searches) <= 1 else "systems use different searches"
    return f"{alike}, with beam {_joined([*map(str, beams)])}." if beams else f"{alike}."


def _joined(items: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))
