"""The overview of the page: the answer, its evidence and its limitations."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline_py.config.corpora import AMBIGUOUS_ATTACHMENTS
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.evaluation.verdict import format_difference, format_magnitude
from pipeline_py.report.answers import (
    ClaimAnswer,
    DifferenceInterval,
    format_verdict_counts,
    read_answers,
    select_twin_answers,
)
from pipeline_py.report.page_parts import PageManifest, PageSection
from pipeline_py.report.sections.contrast import read_set_accuracies
from pipeline_py.report.tables.sheet import MISSING_VALUE, Cell, Sheet, build_sheet
from pipeline_py.report.tables.sheet import format_signed as exactly
from pipeline_py.syntax.parser_measures import RAW_TEXT_SUFFIX, read_accuracy_rows

CHANCE_ACCURACY = 50
"""Accuracy of guessing, in percent."""


def describe_positive_controls(manifest: PageManifest) -> Iterator[str]:
    """Describe, for each contrastive set of ambiguous attachments, which systems with gold trees are above chance."""
    experiment = manifest.experiment
    gold_parsers = {name for name, parser in experiment.parsers.items() if parser.type == "given"}
    for split, pairs in experiment.corpora.contrastive_sets.items():
        if pairs.generate is None or not {*pairs.generate.kinds} <= {*AMBIGUOUS_ATTACHMENTS}:
            continue
        files = [file for place, file in manifest.get_files("contrast").items() if place.rpartition(":")[2] == split]
        set_accuracies = [read_set_accuracies({split: file})[0] for file in files]
        lower_bounds = {
            system: bounds[0] for groups in set_accuracies for (system, _), bounds in groups.intervals.items()
        }
        accuracies = {
            system: value
            for groups in set_accuracies
            for (system, _), value in groups.values.items()
            if experiment.systems[system].parser in gold_parsers
        }
        above_chance = [
            f"{system} {value:.0f} %" for system, value in accuracies.items() if lower_bounds[system] > CHANCE_ACCURACY
        ]
        not_above_chance = [
            f"{system} {value:.0f} %" for system, value in accuracies.items() if lower_bounds[system] <= CHANCE_ACCURACY
        ]
        if accuracies:
            groups = {"above chance in these runs": above_chance, "not above chance": not_above_chance}
            texts = "; ".join(f"{title}: {', '.join(systems)}" for title, systems in groups.items() if systems)
            yield (
                f"Positive control: in the set {split}, only the tree shows which of two translations is correct; "
                f"guessing gives {CHANCE_ACCURACY} %. With gold trees, {texts}."
            )


SHOWN_PARSER_METRICS = ("UAS", "LAS", f"UAS{RAW_TEXT_SUFFIX}", f"LAS{RAW_TEXT_SUFFIX}", "F1")
"""Parser metrics that the overview shows."""


@dataclass(frozen=True)
class Overview:
    """Contents of the overview.

    Attributes:
        warnings: sentences about sets with low ceilings, and about systems and sets without verdicts.
        headline: the answer in one sentence.
        reading_guide: how to read the answers.
        answer_sentences: sentences about systems that read trees, each with the conclusion of a paper or "".
        limitations: sentences about the limits of the numbers.
    """

    warnings: Sequence[str]
    headline: str
    reading_guide: str
    answer_sentences: Sequence[tuple[str, str]]
    limitations: Sequence[str]


def build_overview_sections(manifest: PageManifest) -> Iterator[PageSection]:
    """Yield the answer with its forest plot, and the folded table of all claims."""
    answers = [answer for path in manifest.get_files("claims").values() for answer in read_answers(path)]
    twin_answers = select_twin_answers(answers)
    if twin_answers:
        tested = [answer for answer in twin_answers if answer.difference is not None]
        overview = Overview(
            [
                *(ceiling.warning_message for ceiling in manifest.ceilings if ceiling.is_low),
                *manifest.verdict_exclusions.descriptions,
            ],
            format_headline(twin_answers),
            format_reading_guide(twin_answers),
            [*_pair_verdicts_with_paper_conclusions(twin_answers)],
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


def _pair_verdicts_with_paper_conclusions(answers: Sequence[ClaimAnswer]) -> Iterator[tuple[str, str]]:
    """Yield each verdict with its paper's conclusion; the conclusion is "" if there is none or it repeats the last."""
    previous = ""
    for answer in answers:
        conclusion = f"{answer.paper}: {answer.paper_conclusion}" if answer.paper else ""
        yield answer.verdict_sentence, "" if conclusion == previous else conclusion
        previous = conclusion


def format_headline(answers: Sequence[ClaimAnswer]) -> str:
    """Count the systems with each answer, in one sentence."""
    syntax = Counter(answer.syntax_answer for answer in answers)
    verdicts = Counter(answer.verdict for answer in answers)
    kinds = (
        (syntax["yes"], "translates better because of them", "translate better because of them"),
        (
            syntax["open"],
            "translates better, but was not compared with all kinds of control trees",
            "translate better, but were not compared with all kinds of control trees",
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
        (text,) = (singular for number, singular, _ in kinds if number)
        return f"The one system that reads parse trees, compared with the same system without trees, {text}."
    texts = "; ".join(f"{number} {singular if number == 1 else plural}" for number, singular, plural in kinds if number)
    return (
        f"Of {len(answers)} systems that read parse trees, each compared with the same system without trees, {texts}."
    )


def format_reading_guide(answers: Sequence[ClaimAnswer]) -> str:
    """Explain the terms in the sentences of the answers."""
    metrics = _join_with_and([*dict.fromkeys(answer.metric_label for answer in answers)])
    text = (
        "A system's twin is the system without trees that it is compared with. Differences are in points of "
        f"{metrics} (0 to 100), as means over the test sets unless stated otherwise. Square brackets contain the 95 % "
        "confidence interval (CI) over sentences and training runs. The smallest detectable difference is found with "
        "80 % power. Intervals and answers are not corrected for the number of comparisons."
    )
    if kinds := [*dict.fromkeys(kind for answer in answers for kind in answer.control_differences)]:
        text += (
            f" Control trees ({', '.join(kinds)}) ignore the words of the sentence: a system that translates as well "
            "with control trees does not gain from syntax."
        )
    return text


def build_forest_plot(answers: Sequence[ClaimAnswer]) -> Sheet:
    """Plot the difference of each system to its twin with its interval, followed by the system with control trees."""
    intervals = [interval for answer in answers for interval in _collect_intervals(answer)]
    scale_low, scale_high = (
        min(0.0, *(interval.low for interval in intervals)),
        max(0.0, *(interval.high for interval in intervals)),
    )
    scale = 100 / ((scale_high - scale_low) or 1.0)

    is_one_metric = len({answer.metric_label for answer in answers}) == 1
    rows: dict[tuple[str, str], list[Cell | str]] = {}
    for answer in answers:
        twin = answer.other_system if is_one_metric else f"{answer.other_system} ({answer.metric_label})"
        for interval in _collect_intervals(answer):
            low, value, high = (
                (bound - scale_low) * scale for bound in (interval.low, interval.difference, interval.high)
            )
            is_control = interval != answer.difference
            bar = Cell(
                "", str(interval.difference), interval=(low, value, high), zero=-scale_low * scale, faint=is_control
            )
            value_text, *bound_texts = map(format_difference, (interval.difference, interval.low, interval.high))
            difference_text = f"{value_text} [{', '.join(bound_texts)}]"
            # A system and its variants with another parser's trees have the same control trees.
            rows.setdefault(
                (interval.system, answer.other_system),
                [interval.system, bar, Cell(difference_text, str(interval.difference)), twin],
            )
    return build_sheet(
        "Each system minus its twin, with 95 % intervals; in grey, the same system with control trees. The vertical "
        f"line is 0 (no difference); the scale goes from {format_difference(scale_low)} to "
        f"{format_difference(scale_high)}.",
        ["System", "Minus its twin", "Difference", "Twin"],
        [*rows.values()],
        text_heads=["Twin"],
    )


def _collect_intervals(answer: ClaimAnswer) -> list[DifferenceInterval]:
    return [*([] if answer.difference is None else [answer.difference]), *answer.control_differences.values()]


def build_claim_table(answers: Sequence[ClaimAnswer]) -> Sheet:
    """Build the table of all claims with the published result and the result of this experiment."""
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
    """Describe the limitations of the results: runs, detectable differences, search, parsers, control trees.

    Args:
        manifest: the manifest of the page.
        answers: answers about syntax that have a difference.
    """
    experiment = manifest.experiment
    if answers:
        yield from _describe_runs(answers)
        smallest, largest = (
            format_magnitude(bound(answer.smallest_detectable for answer in answers)) for bound in (min, max)
        )
        size = (
            f"{smallest} points" if smallest == largest else f"{smallest} to {largest} points, depending on the system"
        )
        yield f"Smallest detectable difference: {size} (80 % power). Smaller differences may exist undetected."
    yield f"Search: {_describe_search(experiment, answers)}"
    if manifest.ceilings:
        values = _join_with_and([f"{ceiling.bleu:.1f} on {ceiling.set}" for ceiling in manifest.ceilings])
        yield f"Ceiling: the references, tokenized and detokenized like outputs, have BLEU {values}."
    for parser, path in manifest.get_files("accuracy").items():
        accuracies = [
            f"{row.metric} {row.value}" for row in read_accuracy_rows(path) if row.metric in SHOWN_PARSER_METRICS
        ]
        if accuracies:
            yield f"Trees: on held-out gold trees, the parser {parser} reaches {', '.join(accuracies)} of 100."
    yield from describe_positive_controls(manifest)
    if uncontrolled := [answer.system for answer in answers if not answer.control_differences]:
        verb = "was" if len(uncontrolled) == 1 else "were"
        yield (
            f"Control: {_join_with_and(uncontrolled)} {verb} not scored with control trees; a gain may have a reason "
            "other than syntax."
        )


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
            else "the default of evaluation.run_deviation; several seeds (training: {seeds: [1, 2, 3]}) measure it"
        )
        values = _join_with_and([f"{value:.2g}" for value in sorted(assumed)])
        yield f"Single runs: their standard deviation between runs is assumed to be {values} points, {source}."


def _describe_search(experiment: ExperimentConfig, answers: Sequence[ClaimAnswer]) -> str:
    """Describe whether systems share the search, and its beam sizes."""
    systems = {
        name: experiment.systems.get(name) for answer in answers for name in (answer.system, answer.other_system)
    }
    searches = {system.decoding for system in systems.values() if system is not None and hasattr(system, "decoding")}
    beams = [
        f"{' or '.join(map(str, widths))}{' (best on dev)' if widths[1:] else ''}"
        for widths in sorted({search.beam_widths for search in searches})
    ]
    alike = "all systems use the same search" if len(searches) <= 1 else "systems use different searches"
    return f"{alike}, with beam {_join_with_and(beams)}." if beams else f"{alike}."


def _join_with_and(items: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))
