"""The top of the page: the answer, what it rests on, and how far it can be trusted."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline_py.config.corpora import AMBIGUOUS_ATTACHMENTS
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.evaluation.verdict import format_difference, format_magnitude
from pipeline_py.report.answers import (
    ClaimAnswer,
    DifferenceInterval,
    find_syntax_answers,
    format_verdict_counts,
    read_answers,
)
from pipeline_py.report.page_parts import PageManifest, PageSection
from pipeline_py.report.sections.contrast import read_set_accuracies
from pipeline_py.report.tables.sheet import MISSING_VALUE, Cell, Sheet, build_sheet
from pipeline_py.report.tables.sheet import format_signed as exactly
from pipeline_py.syntax.parser_measures import RAW_TEXT_SUFFIX, read_accuracy_rows

CHANCE_ACCURACY = 50
"""Accuracy of guessing, in percent."""


def describe_positive_controls(manifest: PageManifest) -> Iterator[str]:
    """Say of each contrastive set of open attachments which systems use true trees for them, and which do not."""
    experiment = manifest.experiment
    true = {name for name, parser in experiment.parsers.items() if parser.type == "given"}
    for split, pairs in experiment.corpora.contrastive_sets.items():
        if pairs.generate is None or not {*pairs.generate.kinds} <= {*AMBIGUOUS_ATTACHMENTS}:
            continue
        files = [file for place, file in manifest.get_files("contrast").items() if place.rpartition(":")[2] == split]
        read = [read_set_accuracies({split: file})[0] for file in files]
        low = {system: bounds[0] for groups in read for (system, _), bounds in groups.intervals.items()}
        accuracy = {
            system: value
            for groups in read
            for (system, _), value in groups.values.items()
            if experiment.systems[system].parser in true
        }
        seen = [f"{system} {value:.0f} %" for system, value in accuracy.items() if low[system] > CHANCE_ACCURACY]
        unseen = [f"{system} {value:.0f} %" for system, value in accuracy.items() if low[system] <= CHANCE_ACCURACY]
        if accuracy:
            better = f"these choose the right one more often in these runs: {', '.join(seen)}" if seen else ""
            no_better = f"these do not do better than chance: {', '.join(unseen)}" if unseen else ""
            yield (
                f"Positive control: in the set {split} only the tree tells which of two translations is right, and "
                f"chance gives {CHANCE_ACCURACY} %. With true trees {'; '.join(filter(None, (better, no_better)))}."
            )


SHOWN_PARSER_METRICS = ("UAS", "LAS", f"UAS{RAW_TEXT_SUFFIX}", f"LAS{RAW_TEXT_SUFFIX}", "F1")
"""Measures of a parser that are shown at the top."""


@dataclass(frozen=True)
class Overview:
    """The answer.

    Attributes:
        warnings: sentences about sets with low ceilings, and about systems and sets without verdicts.
        headline: the answer in one sentence.
        reading_guide: how to read the answers.
        answer_sentences: sentences about systems that read trees, each with what a paper says about it, unless it is repeated.
        limitations: sentences about the limits of the numbers.
    """

    warnings: Sequence[str]
    headline: str
    reading_guide: str
    answer_sentences: Sequence[tuple[str, str]]
    limitations: Sequence[str]


def build_overview_sections(manifest: PageManifest) -> Iterator[PageSection]:
    """Give the answer and a forest plot; then, folded, every claim that was compared with the results."""
    answers = [answer for path in manifest.get_files("claims").values() for answer in read_answers(path)]
    syntax = find_syntax_answers(answers)
    if syntax:
        tested = [answer for answer in syntax if answer.difference is not None]
        overview = Overview(
            [
                *(ceiling.warning_message for ceiling in manifest.ceilings if ceiling.is_low),
                *manifest.exclusions.descriptions,
            ],
            format_headline(syntax),
            format_reading_guide(syntax),
            [*_pair_answers_with_claims(syntax)],
            [*describe_limitations(manifest, tested)],
        )
        yield PageSection(
            template_data=[overview],
            tables=[build_forest_plot(tested)] if tested else [],
            template_name="overview.html",
        )
    if answers:
        yield PageSection(
            f"All comparisons that papers claim or tables propose: {format_verdict_counts(answers)}",
            tables=[build_claim_table(answers)],
            is_folded=True,
        )


def _pair_answers_with_claims(answers: Sequence[ClaimAnswer]) -> Iterator[tuple[str, str]]:
    previous = ""
    for answer in answers:
        says = f"{answer.paper}: {answer.paper_conclusion}" if answer.paper else ""
        yield answer.verdict_sentence, "" if says == previous else says
        previous = says


def format_headline(answers: Sequence[ClaimAnswer]) -> str:
    """Count the systems with each answer, in one sentence."""
    syntax = Counter(answer.syntax_answer for answer in answers)
    verdicts = Counter(answer.verdict for answer in answers)
    kinds = (
        (syntax["yes"], "translates better because of them", "translate better because of them"),
        (
            syntax["open"],
            "translates better, for a reason that control trees still have to show",
            "translate better, for a reason that control trees still have to show",
        ),
        (
            syntax["not shown"],
            "translates better, but not measurably better than with control trees",
            "translate better, but not measurably better than with control trees",
        ),
        (verdicts["contradicted"], "translates worse", "translate worse"),
        (verdicts["not distinguishable"], "shows no detectable difference", "show no detectable difference"),
        (verdicts["not tested"], "is not tested", "are not tested"),
    )
    if len(answers) == 1:
        (text,) = (one for number, one, _ in kinds if number)
        return f"The one system that reads parse trees, compared with its twin that reads none, {text}."
    texts = "; ".join(f"{number} {one if number == 1 else several}" for number, one, several in kinds if number)
    return f"Of {len(answers)} systems that read parse trees, each compared with its twin that reads none, {texts}."


def format_reading_guide(answers: Sequence[ClaimAnswer]) -> str:
    """Explain the sentences of the answers."""
    metrics = _join_with_and([*dict.fromkeys(answer.metric_label for answer in answers)])
    text = (
        "A system's twin is the system without trees that it is compared with. Differences are in points of "
        f"{metrics} (0 to 100), as means over the test sets unless stated otherwise. Square brackets contain the 95 % "
        "confidence interval (CI) over other sentences and other training runs. The smallest detectable difference is "
        "found with a probability of 80 %. Intervals and answers are not corrected for the number of comparisons."
    )
    if kinds := [*dict.fromkeys(kind for answer in answers for kind in answer.control_differences)]:
        text += (
            f" Control trees ({', '.join(kinds)}) are made without looking at the words: a system that does as well "
            "with them does not gain from syntax."
        )
    return text


def build_forest_plot(answers: Sequence[ClaimAnswer]) -> Sheet:
    """Draw systems minus their twins with intervals to one scale, and below each the same system with control trees."""
    intervals = [interval for answer in answers for interval in _collect_intervals(answer)]
    least, most = min(0.0, *(one.low for one in intervals)), max(0.0, *(one.high for one in intervals))
    scale = 100 / ((most - least) or 1.0)

    is_one_metric = len({answer.metric_label for answer in answers}) == 1
    rows: dict[tuple[str, str], list[Cell | str]] = {}
    for answer in answers:
        twin = answer.other_system if is_one_metric else f"{answer.other_system} ({answer.metric_label})"
        for one in _collect_intervals(answer):
            low, value, high = ((at - least) * scale for at in (one.low, one.difference, one.high))
            is_control = one != answer.difference
            bar = Cell("", str(one.difference), interval=(low, value, high), zero=-least * scale, faint=is_control)
            ends = f"{format_difference(one.difference)} [{format_difference(one.low)}, {format_difference(one.high)}]"
            # A system and its variants with another parser's trees have the same control trees.
            rows.setdefault(
                (one.system, answer.other_system),
                [one.system, bar, Cell(ends, str(one.difference)), twin],
            )
    return build_sheet(
        "Each system minus its twin, with 95 % intervals; in grey, the same system on control trees. The vertical line "
        f"is 0 (no difference); the scale goes from {format_difference(least)} to {format_difference(most)}.",
        ["System", "Minus its twin", "Difference", "Twin"],
        [*rows.values()],
        text_heads=["Twin"],
    )


def _collect_intervals(answer: ClaimAnswer) -> list[DifferenceInterval]:
    return [*([] if answer.difference is None else [answer.difference]), *answer.control_differences.values()]


def build_claim_table(answers: Sequence[ClaimAnswer]) -> Sheet:
    """List every claim: what is printed of it, and what was found here."""
    heads = ["System", "Compared with", "Claim", "Verdict", "Score", "Other's score", "Difference", "95 % interval"]
    heads += ["Smallest detectable", "Runs", "Metric", "Source", "Conclusion of the paper", "Published", "Excluded"]
    reasons = {"not shown": ", syntax not shown to be the reason", "open": ", reason open"}
    rows: list[list[Cell | str]] = []
    for answer in answers:
        tested = answer.difference
        rows.append(
            [
                answer.system,
                answer.other_system,
                " on ".join(filter(None, (answer.relation, answer.sentence_group))),
                answer.verdict + reasons.get(answer.syntax_answer, ""),
                *(MISSING_VALUE if tested is None else f"{score:.2f}" for score in answer.scores),
                MISSING_VALUE if tested is None else exactly(tested.difference),
                MISSING_VALUE
                if tested is None
                else Cell(f"{exactly(tested.low)} to {exactly(tested.high)}", str(tested.low)),
                MISSING_VALUE if tested is None else format_magnitude(answer.smallest_detectable),
                MISSING_VALUE if tested is None else " / ".join(map(str, answer.run_counts)),
                answer.metric_label,
                answer.paper or "a table of this experiment",
                answer.paper_conclusion,
                answer.published_result,
                answer.published_exclusion,
            ]
        )
    return build_sheet(
        "Each comparison that a paper claims or a table proposes, if this experiment has both systems: scores, their "
        "difference with its 95 % interval over sentences and runs, the verdict, the smallest detectable difference "
        "(80 % power), and for each published difference whether the interval excludes it. Intervals and verdicts are "
        "not corrected for the number of comparisons; the p-values of all pairs of systems in the chapters of tables "
        "are.",
        heads,
        rows,
        text_heads=[*heads[1:4], *heads[9:]],
    )


def describe_limitations(manifest: PageManifest, answers: Sequence[ClaimAnswer]) -> Iterator[str]:
    """Describe the limits of the numbers: runs, detectable differences, search, parsers, controls.

    Args:
        manifest: of the page.
        answers: about syntax, with a difference.
    """
    experiment = manifest.experiment
    if answers:
        yield from _describe_runs(answers)
        least, most = (
            format_magnitude(bound(answer.smallest_detectable for answer in answers)) for bound in (min, max)
        )
        size = f"{least} points" if least == most else f"{least} to {most} points, depending on the system,"
        yield (
            f"Size: a difference of {size} is found with a probability of 80 %. Smaller differences may exist without "
            "being found."
        )
    yield f"Search: {_describe_search(experiment, answers)}"
    if manifest.ceilings:
        values = _join_with_and([f"{ceiling.bleu:.1f} on {ceiling.set}" for ceiling in manifest.ceilings])
        yield f"Ceiling: the references, tokenized and detokenized as outputs are, have BLEU {values}."
    for parser, path in manifest.get_files("accuracy").items():
        known = [f"{one.metric} {one.value}" for one in read_accuracy_rows(path) if one.metric in SHOWN_PARSER_METRICS]
        if known:
            yield f"Trees: on held-out gold trees, the parser {parser} reaches {', '.join(known)} of 100."
    yield from describe_positive_controls(manifest)
    if without := [answer.system for answer in answers if not answer.control_differences]:
        were = "was" if len(without) == 1 else "were"
        yield f"Control: {_join_with_and(without)} {were} not scored with control trees, so a gain need not come from syntax."


def _describe_runs(answers: Sequence[ClaimAnswer]) -> Iterator[str]:
    runs = sorted({number for answer in answers for number in answer.run_counts})
    times = _join_with_and(["once" if number == 1 else f"{number} times" for number in runs]).replace(" and ", " or ")
    yield f"Training: networks were trained {times}. Intervals include the variation between runs."
    assumed = {answer.run_deviation for answer in answers if answer.run_deviation_source in ("pooled", "default")}
    if assumed:
        sources = {answer.run_deviation_source for answer in answers}
        source = (
            "pooled over the systems with several runs"
            if "pooled" in sources
            else "the default of `evaluation.run_deviation`; `training: {seeds: [1, 2, 3]}` measures it"
        )
        values = _join_with_and([f"{value:.2g}" for value in sorted(assumed)])
        yield f"Single runs: their standard deviation between runs is assumed to be {values} points, {source}."


def _describe_search(experiment: ExperimentConfig, answers: Sequence[ClaimAnswer]) -> str:
    """How translations were looked for."""
    systems = {
        name: experiment.systems.get(name) for answer in answers for name in (answer.system, answer.other_system)
    }
    searches = {system.decoding for system in systems.values() if system is not None and hasattr(system, "decoding")}
    beams = sorted({search.beam for search in searches})
    alike = "all systems use the same search" if len(searches) <= 1 else "systems use different searches"
    return f"{alike}, with beam {_join_with_and([*map(str, beams)])}." if beams else f"{alike}."


def _join_with_and(items: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))
