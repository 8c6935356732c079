"""Compare claims of papers, and what tables propose, with the results of this experiment."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt

from pipeline_py.config.claims import Claim, Printed, Sentences, read_claims
from pipeline_py.config.evaluation import TrainedThresholds
from pipeline_py.evaluation.columns import read_columns, write_rows
from pipeline_py.evaluation.metric import named
from pipeline_py.evaluation.metrics.bleu import Bleu
from pipeline_py.evaluation.output_properties import find_failures, join_output_sets, read_output_properties
from pipeline_py.evaluation.significance import resampling
from pipeline_py.evaluation.significance.system_difference import (
    Difference,
    SystemScores,
    average_sets,
    estimate_difference,
    resample_systems,
)
from pipeline_py.evaluation.system_statistics import read_statistics
from pipeline_py.evaluation.verdict import ControlResult, Verdict
from pipeline_py.run.errors import InputError

AVERAGE = "AVG"
DEV = "dev"
COLUMNS = (
    *("paper", "claim", "relation", "sentences", "metric", "set", "role", "trees", "system", "other"),
    *("runs_system", "runs_other", "score_system", "score_other", "difference", "low", "high", "p_value"),
    *("detectable", "run_deviation", "run_deviation_from"),
    *("about", "verdict", "syntax", "missing_controls", "excluded", "sentence", "says", "printed"),
)
EXCLUSION_COLUMNS = ("kind", "name", "reason")
Row = tuple[str | float | None, ...]


@dataclass(frozen=True)
class ControlSystem:
    """A system that differs from another only by reading control trees.

    Attributes:
        parser: the parser that makes the trees.
        shape: their shape.
        name: the name of the system.
    """

    parser: str
    shape: str
    name: str


@dataclass(frozen=True)
class Question:
    """A claim about two systems of this experiment.

    Attributes:
        paper: the paper that claims it; empty if a table proposes it.
        claim: the claim.
        system, other: the systems of the claim, or the same with trees of another parser.
        controls: the system with control trees.
        printed: the differences that all papers with this claim print.
    """

    paper: str
    claim: Claim
    system: str
    other: str
    controls: Sequence[ControlSystem]
    printed: Sequence[Printed]


@dataclass(frozen=True)
class Evidence:
    """Scores of all systems on all sets, and what must not be concluded from them.

    Attributes:
        scores: by metric, kind of sentences, set and system; only of sets that are large enough.
        small_sets: by kind of sentences and set, why nothing can be concluded from it.
        untrained: reasons by system that has not learned to translate.
        metrics: the metrics that are computed, the main one first.
        run_deviations: by metric, the default standard deviation between runs.
        networks: the trained network of systems that share one.
        is_final: whether all runs and control trees of the experiment are included.
    """

    scores: Mapping[str, Mapping[str, Mapping[str, Mapping[str, SystemScores]]]]
    small_sets: Mapping[str, Mapping[str, str]]
    untrained: Mapping[str, Sequence[str]]
    metrics: Sequence[str]
    run_deviations: Mapping[str, float]
    networks: Mapping[str, str]
    is_final: bool

    def estimate(self, metric: str, sentences: str, sets: Sequence[str], system: str, other: str) -> Difference:
        """Estimate the difference of two systems in the mean over sets."""
        on_sets = [self.scores[metric][sentences][on] for on in sets]
        names = [name for name in on_sets[0] if name not in self.untrained and all(name in each for each in on_sets)]
        means = {name: average_sets([each[name] for each in on_sets]) for name in {*names, system, other}}
        network = self.networks.get(system)
        return estimate_difference(
            means[system],
            means[other],
            [means[name] for name in names],
            self.run_deviations.get(metric, 0.0),
            has_same_networks=network is not None and network == self.networks.get(other),
        )

    def mean_score(self, metric: str, sentences: str, sets: Sequence[str], system: str) -> float:
        """Return the mean score of a system over runs and sets."""
        return float(np.mean([self.scores[metric][sentences][on][system].mean for on in sets]))


def claims(
    *,
    claims: list[Path],
    statistics: dict[str, dict[str, dict[str, Path]]],
    metrics: list[str],
    claims_output: Path,
    exclusions_output: Path,
    properties: dict[str, Path] | None = None,
    asked: list[tuple[str, str]] | None = None,
    reads_trees: list[str] | None = None,
    controls: list[tuple[str, str, str, str]] | None = None,
    variants: list[tuple[str, str, str]] | None = None,
    networks: dict[str, str] | None = None,
    run_deviation: dict[str, float] | None = None,
    fewest_sentences: PositiveInt = 1,
    phrase_based: list[str] | None = None,
    thresholds: TrainedThresholds | None = None,
    partial: bool = False,
    samples: Annotated[int, Field(ge=2)] = resampling.SAMPLES,
    seed: NonNegativeInt = resampling.SEED,
) -> None:
    """Decide for each claim whether it is confirmed, contradicted, or cannot be decided.

    For each claim whose systems both exist here, the TSV has the system's score minus that of the other, with its 95 %
    interval over other sentences and other runs (`significance.system_difference`): in each of the claim's metrics that
    is computed here, or else in BLEU; on each set with scores of both, and as the mean over the test sets (`AVG`), or
    over the development set if there is no test set. Intervals are not corrected for the number of claims. `detectable`
    is the smallest difference that is found with a probability of 80 % at the two-sided level of 0.05. If a system has
    a single run, `run_deviation` is the standard deviation between runs that is assumed for it, and
    `run_deviation_from` its origin: `pooled` over the systems with several runs, or the `default`.

    `verdict` is `confirmed` if the whole interval is on the claimed side of 0, `contradicted` if it is on the other
    side, and else `not distinguishable`; the relations `not worse` and `comparable` use one-sided tests against the
    claim's margin. `not tested` means that a system has not learned to translate, or that the sets are too small;
    `sentence` says which. `excluded` tells for each published difference whether the interval excludes it.

    For a system that reads trees and whose gain is confirmed, `syntax` is `yes` if it is also better than itself with
    every kind of control trees, and these include random and order-preserving ones (right-branching or chain); `not
    shown` if it is not better than with one of them; `open` if a kind is missing, which `missing_controls` names.
    Control trees are made without looking at the words. Rows with the role `control` have the system with such trees
    minus the other; rows with `against control` have the system minus itself with such trees.

    Args:
        claims: Files of claims: the paper, and which system is better than which. Claims about systems that do not
            exist here are left out.
        statistics: Files of `evaluation.statistics` by set, system and run, with the same runs of a system on each set.
        metrics: Modules of `evaluation/metrics` that are computed here, BLEU first.
        claims_output: The verdicts as TSV.
        exclusions_output: TSV of the systems and sets without verdicts, with the reason.
        properties: Files of `evaluation.source_properties` by set; needed by claims about sentences of some length.
        asked: Comparisons that tables propose, as (system, other); left out if a paper claims the same.
        reads_trees: Systems that read trees.
        controls: (system, shape, parser, name), where `name` is the system with control trees of a shape from a parser.
        variants: (system, parser, name), the same for other parsers whose trees are meaningful: claims about the system
            are also compared with `name`.
        networks: By system, the network that each of its runs searches with; systems with the same network differ in
            their search only.
        run_deviation: By metric, the standard deviation between runs that is assumed if no system has several runs; by
            default 0.
        fewest_sentences: Number of different references that a set needs for a verdict.
        phrase_based: Phrase-based systems, which networks must not be far below.
        thresholds: When a system counts as trained: `evaluation.trained` of the configuration.
        partial: The experiment has further runs or control trees of these systems: give differences and no verdicts.
        samples: Number of resampled sets.
        seed: Seed of the resampling.

    Raises:
        InputError: if files of one set differ in length or were counted differently, or properties are missing.
    """
    systems = list(dict.fromkeys(name for of_set in statistics.values() for name in of_set))
    control_systems: dict[str, list[ControlSystem]] = {}
    for system, shape, parser, name in controls or []:
        control_systems.setdefault(system, []).append(ControlSystem(parser, shape, name))
    variant_systems: dict[str, dict[str, str]] = {}
    for system, parser, name in variants or []:
        variant_systems.setdefault(system, {})[parser] = name
    reading = {*(reads_trees or [])}
    questions = [
        *find_questions(
            collect_claims(claims, asked or []),
            systems,
            reading,
            control_systems,
            variant_systems,
        )
    ]
    evidence = read_evidence(
        statistics,
        metrics,
        {str(each.claim.sentences or ""): each.claim.sentences for each in questions},
        properties or {},
        samples,
        seed,
        fewest_sentences,
        run_deviation or {},
        networks or {},
        find_untrained(statistics, phrase_based or [], thresholds or TrainedThresholds()),
        not partial,
    )
    twins: dict[str, str] = {}
    for each in questions:
        if each.system in reading and each.other not in reading and each.claim.relation == "better":
            twins.setdefault(each.system, each.other)
    rows = [row for each in questions for row in _rows(each, evidence, reading, twins)]
    write_rows(claims_output, COLUMNS, rows, quoted=False)
    excluded = [
        *(("system", name, "; ".join(reasons)) for name, reasons in sorted(evidence.untrained.items())),
        *(("set", name, reason) for name, reason in evidence.small_sets.get("", {}).items()),
    ]
    write_rows(exclusions_output, EXCLUSION_COLUMNS, excluded, quoted=False)


def read_evidence(
    sets: Mapping[str, Mapping[str, Mapping[str, Path]]],
    metrics: Sequence[str],
    kinds: Mapping[str, Sentences | None],
    properties: Mapping[str, Path],
    samples: int,
    seed: int,
    fewest_sentences: int,
    run_deviations: Mapping[str, float],
    networks: Mapping[str, str],
    untrained: Mapping[str, Sequence[str]],
    is_final: bool,
) -> Evidence:
    """Read and resample the statistics of all systems.

    Args:
        sets: files of `evaluation.statistics` by set, system and run.
        metrics: metrics that are computed, the main one first.
        kinds: kinds of sentences by their name; None for all sentences.
        properties: files of `evaluation.source_properties` by set.
        samples: number of resampled sets.
        seed: seed of the resampling.
        fewest_sentences: number of different sentences that a set needs.
        run_deviations: by metric, the default standard deviation between runs.
        networks: the trained network of systems that share one.
        untrained: reasons by system that has not learned to translate.
        is_final: whether all runs and control trees of the experiment are included.

    Raises:
        InputError: if files of one set differ in length or were counted differently, or properties are missing.
    """
    scores: dict[str, dict[str, dict[str, dict[str, SystemScores]]]] = {}
    small: dict[str, dict[str, str]] = {kind: {} for kind in kinds}
    for on, of_set in sets.items():
        files = {name: [*runs.values()] for name, runs in of_set.items()}
        for kind, sentences in kinds.items():
            places = None if sentences is None else _places(sentences, on, properties)
            first = read_output_properties(next(iter(files.values()))[0]).at(places)
            if (number := first.different_sentences if len(first.rows) else 0) < fewest_sentences:
                small[kind][on] = f"{number:,} different sentences, fewer than {fewest_sentences:,}"
                continue
            statistics = read_statistics(files, metrics, places)
            for name, systems in statistics.items():
                of_kind = scores.setdefault(name, {}).setdefault(kind, {})
                of_kind[on] = resample_systems(systems, on, samples, seed)
    return Evidence(scores, small, untrained, metrics, run_deviations, networks, is_final)


def find_untrained(
    sets: Mapping[str, Mapping[str, Mapping[str, Path]]], phrase_based: Collection[str], thresholds: TrainedThresholds
) -> dict[str, list[str]]:
    """Find the systems of which a run has not learned to translate, with the reasons.

    Args:
        sets: files of `evaluation.statistics` by set, system and run.
        phrase_based: phrase-based systems, with which networks are compared.
        thresholds: of the configuration.
    """
    files: dict[str, dict[str, list[tuple[str, Path]]]] = {}
    for on, systems in sets.items():
        for system, runs in systems.items():
            for run, path in runs.items():
                files.setdefault(system, {}).setdefault(run, []).append((on, path))
    baseline = {
        on: path for name in phrase_based if name in files for runs in files[name].values() for on, path in runs
    }
    untrained: dict[str, list[str]] = {}
    for system, of_runs in files.items():
        for run, paths in of_runs.items():
            properties = join_output_sets([read_output_properties(path) for _, path in paths])
            shared = [baseline[on] for on, _ in paths if on in baseline]
            is_comparable = system not in phrase_based and len(shared) == len(paths)
            failures = find_failures(
                properties,
                _join_bleu([path for _, path in paths]),
                _join_bleu(shared) if is_comparable else None,
                thresholds,
            )
            if failures:
                prefix = f"{run}: " if len(of_runs) > 1 else ""
                untrained.setdefault(system, []).append(prefix + ", ".join(failures))
    return untrained


def _join_bleu(paths: Sequence[Path]) -> float:
    """Return BLEU of one run over several sets together."""
    statistics = [read_statistics({"": [path]}, ["bleu"])["bleu"][""] for path in paths]
    return float(Bleu.scores(np.sum([each.sums for each in statistics], axis=0))[0])


def collect_claims(files: Iterable[Path], asked: Iterable[tuple[str, str]]) -> list[tuple[str, Claim]]:
    """Read claims with their papers, and append the comparisons that only tables propose."""
    claims = [(file.paper, claim) for file in map(read_claims, files) for claim in file.claims]
    claimed = {(claim.system, claim.above) for _, claim in claims if claim.relation == "better" and not claim.sentences}
    for system, other in dict.fromkeys(asked):
        if (system, other) not in claimed:
            claims.append(("", Claim(system=system, above=other, says="A table proposes it.")))
    return claims


def find_questions(
    claims: Iterable[tuple[str, Claim]],
    systems: Sequence[str],
    reads_trees: Collection[str],
    controls: Mapping[str, Sequence[ControlSystem]],
    variants: Mapping[str, Mapping[str, str]],
) -> Iterator[Question]:
    """Find the claims about systems that exist here, and repeat them for other parsers.

    Args:
        claims: claims with their papers.
        systems: names of the systems.
        reads_trees: the systems that read trees.
        controls: by system, the same with control trees.
        variants: by system and parser, the same with the trees of another parser.
    """
    claims = [*claims]
    printed: dict[tuple[str, ...], list[Printed]] = {}
    for _, claim in claims:
        printed.setdefault(_claim_key(claim), []).extend(claim.printed)
    papers_by_question: dict[tuple[str, ...], set[str]] = {}
    for paper, claim in claims:
        of_claim = [control for control in controls.get(claim.system, []) if control.name in systems]
        pairs = [(claim.system, claim.above)]
        for parser, name in variants.get(claim.system, {}).items() if paper else ():
            # A system that reads trees is compared with one that reads trees of the same parser.
            other = variants.get(claim.above, {}).get(parser, "") if claim.above in reads_trees else claim.above
            pairs.append((name, other))
        for pair in pairs:
            papers = papers_by_question.setdefault((*pair, claim.relation, str(claim.sentences or "")), set())
            if {*pair} <= {*systems} and paper not in papers and (paper or not papers):
                papers.add(paper)
                yield Question(paper, claim, *pair, of_claim, printed[_claim_key(claim)])


def _claim_key(claim: Claim) -> tuple[str, ...]:
    return claim.system, claim.above, claim.relation, str(claim.sentences or "")


def _places(sentences: Sentences, on: str, properties: Mapping[str, Path]) -> np.ndarray:
    """Return the places of some sentences of a set, from 0."""
    if on not in properties:
        raise InputError(f"a claim is about {sentences}, which needs the properties of {on}")
    lengths = read_columns(properties[on])[0]["length"]
    low = -np.inf if sentences.longer_than is None else sentences.longer_than
    high = np.inf if sentences.up_to is None else sentences.up_to
    return np.flatnonzero((lengths > low) & (lengths <= high))


def _metrics(claim: Claim, computed: Sequence[str]) -> list[str]:
    """Return the claim's metrics that are computed, or else the main metric."""
    return [name for name in claim.metrics if name in computed] or [*computed[:1]]


def _rows(
    question: Question, evidence: Evidence, reads_trees: Collection[str], twins: Mapping[str, str]
) -> Iterator[Row]:
    """Give the rows of a question, by metric and set; a system's twin is the first without trees in the claims."""
    claim, system, other = question.claim, question.system, question.other
    kind = str(claim.sentences or "")
    untrained = [name for name in (system, other) if name in evidence.untrained]
    untested = [f"{' and '.join(untrained)} {'have' if len(untrained) > 1 else 'has'} not learned to translate"]
    for metric in _metrics(claim, evidence.metrics):
        scores = evidence.scores.get(metric, {}).get(kind, {})
        both = [on for on, systems in scores.items() if {system, other} <= {*systems}]
        tests = [on for on in both if on != DEV] or both
        small = [f"{on} has {reason}" for on, reason in evidence.small_sets.get(kind, {}).items()]
        base = Verdict(
            system,
            other,
            named(metric).label,
            None,
            reasons=(untested if untrained else small) or ["they have no set in common"],
            relation=claim.relation,
            margin=claim.margin,
            is_twin=system in reads_trees and other not in reads_trees,
            is_answer=twins.get(system) == other and claim.relation == "better" and not kind,
            untested_controls={
                control.parser: "not learned to translate"
                for control in question.controls
                if control.name in evidence.untrained
            },
            published=[(each.task, each.difference) for each in question.printed if each.metric == metric],
            missing_metrics=[] if metric in claim.metrics else [named(name).label for name in claim.metrics],
            is_final=evidence.is_final,
            scope=kind,
        )
        about = (question.paper, f"{claim.system} above {claim.above}", claim.relation, kind, metric)
        if untrained or not both:
            yield (*about, AVERAGE, "claim", "", system, other, *[None] * 11, *_conclusion(base, claim))
            continue
        every_test = [on for on in (*scores, *evidence.small_sets.get(kind, {})) if on != DEV]
        for on, sets in [(AVERAGE, tests), *((on, [on]) for on in both)]:
            scope = "" if on == AVERAGE and tests == every_test else _join_sets(sets)
            verdict = replace(
                base,
                difference=evidence.estimate(metric, kind, sets, system, other),
                controls=_control_results(question, evidence, metric, kind, sets),
                scope=" of ".join(filter(None, (kind, scope))),
            )
            assert verdict.difference is not None
            numbers = _numbers(evidence, metric, kind, sets, system, other, verdict.difference)
            yield (*about, on, "claim", "", *numbers, *_conclusion(verdict, claim))
            for control in question.controls:
                if (result := verdict.controls.get(control.parser)) is None:
                    continue
                numbers = _numbers(evidence, metric, kind, sets, control.name, other, result.gain)
                yield (*about, on, "control", control.parser, *numbers, *[""] * 8)
                numbers = _numbers(evidence, metric, kind, sets, system, control.name, result.lead)
                yield (*about, on, "against control", control.parser, *numbers, *[""] * 8)


def _control_results(
    question: Question, evidence: Evidence, metric: str, kind: str, sets: Sequence[str]
) -> dict[str, ControlResult]:
    """Estimate the gain and the lead for each kind of control trees with scores on all of these sets."""
    scores = evidence.scores[metric][kind]
    return {
        control.parser: ControlResult(
            control.shape,
            evidence.estimate(metric, kind, sets, control.name, question.other),
            evidence.estimate(metric, kind, sets, question.system, control.name),
        )
        for control in question.controls
        if control.name not in evidence.untrained and all(control.name in scores[on] for on in sets)
    }


def _conclusion(verdict: Verdict, claim: Claim) -> Row:
    """Give the columns from `about` on."""
    excluded = " | ".join(
        f"{value:+.2f} on {task}: {'excluded' if excluded else 'not excluded'}"
        for task, value, excluded in verdict.exclusions
    )
    return (
        "syntax" if verdict.is_twin else "other",
        verdict.word,
        verdict.syntax_answer,
        " | ".join(verdict.missing_controls) if verdict.is_twin else "",
        excluded,
        verdict.sentence,
        claim.says,
        " | ".join(map(_describe_printed, claim.printed)),
    )


def _join_sets(sets: Sequence[str]) -> str:
    return " and ".join("the development set" if on == DEV else on for on in sets)


def _numbers(
    evidence: Evidence, metric: str, kind: str, sets: Sequence[str], system: str, other: str, difference: Difference
) -> Row:
    """Give the columns from `system` to `run_deviation_from`."""
    return (
        system,
        other,
        *difference.runs,
        evidence.mean_score(metric, kind, sets, system),
        evidence.mean_score(metric, kind, sets, other),
        difference.value,
        difference.low,
        difference.high,
        difference.p_value,
        difference.detectable,
        difference.run_deviation,
        difference.origin,
    )


def _describe_printed(printed: Printed) -> str:
    """Describe a printed difference in words."""
    significance = "" if printed.significance is None else f" ({printed.significance})"
    label = named(printed.metric).label
    return f"{printed.difference:+.2f} {label}{significance} on {printed.task}, {printed.sets}: {printed.where}"
