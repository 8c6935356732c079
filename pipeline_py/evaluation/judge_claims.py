"""Compare the claims of papers and the comparisons of tables with the results of the experiment."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt

from pipeline_py.config.claims import ClaimConfig, PublishedResultConfig, SentenceLengthConfig, read_claim_file
from pipeline_py.config.evaluation import TrainedThresholdsConfig
from pipeline_py.evaluation.column_files import read_sentence_columns
from pipeline_py.evaluation.metric import get_metric_class
from pipeline_py.evaluation.metrics.bleu import Bleu
from pipeline_py.evaluation.output_properties import find_training_failures, join_set_properties, read_output_properties
from pipeline_py.evaluation.significance import resampling
from pipeline_py.evaluation.significance.system_difference import (
    SystemDifference,
    SystemScores,
    average_over_sets,
    estimate_difference,
    resample_system_scores,
)
from pipeline_py.evaluation.system_statistics import read_statistics
from pipeline_py.evaluation.verdict import ControlResult, Verdict
from pipeline_py.files.set_names import AVERAGE_SET_NAME
from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.run.errors import InputError

DEV_SET_NAME = "dev"
CLAIM_COLUMNS = (
    *("paper", "claim", "relation", "sentences", "metric", "set", "role", "trees", "system", "other"),
    *("runs_system", "runs_other", "score_system", "score_other", "difference", "low", "high", "p_value"),
    *("detectable", "run_deviation", "run_deviation_from"),
    *("about", "verdict", "syntax", "missing_controls", "excluded", "sentence", "says", "printed"),
)
EXCLUSION_COLUMNS = ("kind", "name", "reason")
ClaimRow = tuple[str | float | None, ...]


@dataclass(frozen=True)
class ControlSystem:
    """A system that differs from another one only in reading control trees."""

    control_parser: str
    tree_shape: str
    name: str


@dataclass(frozen=True)
class ResolvedClaim:
    """A claim about two systems of this experiment.

    Attributes:
        paper: the paper that claims it; empty if a table proposes it.
        claim: the claim.
        system, other_system: the systems of the claim, or the same with trees of another parser.
        control_systems: the system with control trees.
        published_differences: the differences that all papers with this claim print.
    """

    paper: str
    claim: ClaimConfig
    system: str
    other_system: str
    control_systems: Sequence[ControlSystem]
    published_differences: Sequence[PublishedResultConfig]


@dataclass(frozen=True)
class ClaimEvidence:
    """Scores of all systems on all sets, and reasons against conclusions from them.

    Attributes:
        scores: by metric, kind of sentences, set and system; only of sets that are large enough.
        small_set_reasons: by kind of sentences and set, why nothing can be concluded from it.
        untrained_reasons: reasons by system that has not learned to translate.
        metrics: the metrics that are computed, the main one first.
        run_deviations: by metric, the default standard deviation between runs.
        network_names: the trained network of systems that share one.
        is_complete: whether all runs and control trees of the experiment are included.
    """

    scores: Mapping[str, Mapping[str, Mapping[str, Mapping[str, SystemScores]]]]
    small_set_reasons: Mapping[str, Mapping[str, str]]
    untrained_reasons: Mapping[str, Sequence[str]]
    metrics: Sequence[str]
    run_deviations: Mapping[str, float]
    network_names: Mapping[str, str]
    is_complete: bool

    def estimate_mean_difference(
        self, metric: str, sentence_kind: str, set_names: Sequence[str], system: str, other_system: str
    ) -> SystemDifference:
        """Estimate the difference of two systems in the mean over sets."""
        set_scores = [self.scores[metric][sentence_kind][set_name] for set_name in set_names]
        names = [
            name
            for name in set_scores[0]
            if name not in self.untrained_reasons and all(name in scores for scores in set_scores)
        ]
        means = {
            name: average_over_sets([scores[name] for scores in set_scores]) for name in {*names, system, other_system}
        }
        network = self.network_names.get(system)
        return estimate_difference(
            means[system],
            means[other_system],
            [means[name] for name in names],
            self.run_deviations.get(metric, 0.0),
            has_same_networks=network is not None and network == self.network_names.get(other_system),
        )

    def compute_mean_score(self, metric: str, sentence_kind: str, set_names: Sequence[str], system: str) -> float:
        """Return the mean score of a system over runs and sets."""
        return float(
            np.mean([self.scores[metric][sentence_kind][set_name][system].mean_score for set_name in set_names])
        )


def judge_claims(
    *,
    claims: list[Path],
    statistics: dict[str, dict[str, dict[str, Path]]],
    metrics: list[str],
    claims_output: Path,
    exclusions_output: Path,
    properties: dict[str, Path] | None = None,
    table_comparisons: list[tuple[str, str]] | None = None,
    systems_with_trees: list[str] | None = None,
    controls: list[tuple[str, str, str, str]] | None = None,
    variants: list[tuple[str, str, str]] | None = None,
    networks: dict[str, str] | None = None,
    run_deviation: dict[str, float] | None = None,
    fewest_sentences: PositiveInt = 1,
    phrase_based: list[str] | None = None,
    thresholds: TrainedThresholdsConfig | None = None,
    partial: bool = False,
    samples: Annotated[int, Field(ge=2)] = resampling.DEFAULT_SAMPLE_COUNT,
    seed: NonNegativeInt = resampling.DEFAULT_SEED,
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
        statistics: Files of `evaluation.compute_metric_statistics` by set, system and run, with the same runs of a
            system on each set.
        metrics: Modules of `evaluation/metrics` that are computed here, BLEU first.
        claims_output: The verdicts as TSV.
        exclusions_output: TSV of the systems and sets without verdicts, with the reason.
        properties: Files of `evaluation.measure_source_properties` by set; needed by claims about sentences of some
            length.
        table_comparisons: Comparisons that tables propose, as (system, other); left out if a paper claims the same.
        systems_with_trees: Systems that read trees.
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
    systems = list(dict.fromkeys(name for set_statistics in statistics.values() for name in set_statistics))
    control_systems: dict[str, list[ControlSystem]] = {}
    for system, shape, parser, name in controls or []:
        control_systems.setdefault(system, []).append(ControlSystem(parser, shape, name))
    variant_systems: dict[str, dict[str, str]] = {}
    for system, parser, name in variants or []:
        variant_systems.setdefault(system, {})[parser] = name
    reading_systems = {*(systems_with_trees or [])}
    questions = [
        *resolve_claims(
            collect_claims(claims, table_comparisons or []),
            systems,
            reading_systems,
            control_systems,
            variant_systems,
        )
    ]
    evidence = read_evidence(
        statistics,
        metrics,
        {str(question.claim.sentences or ""): question.claim.sentences for question in questions},
        properties or {},
        samples,
        seed,
        fewest_sentences,
        run_deviation or {},
        networks or {},
        find_untrained_systems(statistics, phrase_based or [], thresholds or TrainedThresholdsConfig()),
        not partial,
    )
    treeless_baselines: dict[str, str] = {}
    for question in questions:
        if (
            question.system in reading_systems
            and question.other_system not in reading_systems
            and question.claim.relation == "better"
        ):
            treeless_baselines.setdefault(question.system, question.other_system)
    rows = [
        row
        for question in questions
        for row in _build_claim_rows(question, evidence, reading_systems, treeless_baselines)
    ]
    write_tsv(claims_output, CLAIM_COLUMNS, rows)
    excluded = [
        *(("system", name, "; ".join(reasons)) for name, reasons in sorted(evidence.untrained_reasons.items())),
        *(("set", name, reason) for name, reason in evidence.small_set_reasons.get("", {}).items()),
    ]
    write_tsv(exclusions_output, EXCLUSION_COLUMNS, excluded)


def read_evidence(
    statistics_files: Mapping[str, Mapping[str, Mapping[str, Path]]],
    metrics: Sequence[str],
    sentence_kinds: Mapping[str, SentenceLengthConfig | None],
    property_files: Mapping[str, Path],
    sample_count: int,
    seed: int,
    min_sentences: int,
    run_deviations: Mapping[str, float],
    network_names: Mapping[str, str],
    untrained_reasons: Mapping[str, Sequence[str]],
    is_complete: bool,
) -> ClaimEvidence:
    """Read and resample the statistics of all systems.

    Args:
        statistics_files: files of `evaluation.compute_metric_statistics` by set, system and run.
        metrics: metrics that are computed, the main one first.
        sentence_kinds: kinds of sentences by their name; None for all sentences.
        property_files: files of `evaluation.measure_source_properties` by set.
        sample_count: number of resampled sets.
        seed: seed of the resampling.
        min_sentences: number of different sentences that a set needs.
        run_deviations: by metric, the default standard deviation between runs.
        network_names: the trained network of systems that share one.
        untrained_reasons: reasons by system that has not learned to translate.
        is_complete: whether all runs and control trees of the experiment are included.

    Raises:
        InputError: if files of one set differ in length or were counted differently, or properties are missing.
    """
    scores: dict[str, dict[str, dict[str, dict[str, SystemScores]]]] = {}
    small: dict[str, dict[str, str]] = {kind: {} for kind in sentence_kinds}
    for set_name, set_files in statistics_files.items():
        files = {name: [*runs.values()] for name, runs in set_files.items()}
        for kind, sentences in sentence_kinds.items():
            sentence_indices = (
                None if sentences is None else _find_sentence_indices(sentences, set_name, property_files)
            )
            first = read_output_properties(next(iter(files.values()))[0]).select_sentences(sentence_indices)
            if (number := first.distinct_reference_count if len(first.rows) else 0) < min_sentences:
                small[kind][set_name] = f"{number:,} different sentences, fewer than {min_sentences:,}"
                continue
            statistics = read_statistics(files, metrics, sentence_indices)
            for name, systems in statistics.items():
                kind_scores = scores.setdefault(name, {}).setdefault(kind, {})
                kind_scores[set_name] = resample_system_scores(systems, set_name, sample_count, seed)
    return ClaimEvidence(scores, small, untrained_reasons, metrics, run_deviations, network_names, is_complete)


def find_untrained_systems(
    statistics_files: Mapping[str, Mapping[str, Mapping[str, Path]]],
    phrase_based_systems: Collection[str],
    thresholds: TrainedThresholdsConfig,
) -> dict[str, list[str]]:
    """Return the systems with a run that has not learned to translate, and the reasons.

    Args:
        statistics_files: files of `evaluation.compute_metric_statistics` by set, system and run.
        phrase_based_systems: phrase-based systems, with which networks are compared.
        thresholds: of the configuration.
    """
    files: dict[str, dict[str, list[tuple[str, Path]]]] = {}
    for set_name, systems in statistics_files.items():
        for system, runs in systems.items():
            for run, path in runs.items():
                files.setdefault(system, {}).setdefault(run, []).append((set_name, path))
    baseline = {
        set_name: path
        for name in phrase_based_systems
        if name in files
        for runs in files[name].values()
        for set_name, path in runs
    }
    untrained: dict[str, list[str]] = {}
    for system, run_files in files.items():
        for run, paths in run_files.items():
            properties = join_set_properties([read_output_properties(path) for _, path in paths])
            shared = [baseline[set_name] for set_name, _ in paths if set_name in baseline]
            is_comparable = system not in phrase_based_systems and len(shared) == len(paths)
            failures = find_training_failures(
                properties,
                _compute_joint_bleu([path for _, path in paths]),
                _compute_joint_bleu(shared) if is_comparable else None,
                thresholds,
            )
            if failures:
                prefix = f"{run}: " if len(run_files) > 1 else ""
                untrained.setdefault(system, []).append(prefix + ", ".join(failures))
    return untrained


def _compute_joint_bleu(paths: Sequence[Path]) -> float:
    """Return BLEU of one run over several sets together."""
    statistics = [read_statistics({"": [path]}, ["bleu"])["bleu"][""] for path in paths]
    return float(Bleu.score_corpora(np.sum([system.run_sums for system in statistics], axis=0))[0])


def collect_claims(
    claim_files: Iterable[Path], table_comparisons: Iterable[tuple[str, str]]
) -> list[tuple[str, ClaimConfig]]:
    """Read claims with their papers, and append the table comparisons that no paper claims."""
    claims = [(file.paper, claim) for file in map(read_claim_file, claim_files) for claim in file.claims]
    claimed = {(claim.system, claim.above) for _, claim in claims if claim.relation == "better" and not claim.sentences}
    for system, other_system in dict.fromkeys(table_comparisons):
        if (system, other_system) not in claimed:
            claims.append(("", ClaimConfig(system=system, above=other_system, says="A table proposes it.")))
    return claims


def resolve_claims(
    claims: Iterable[tuple[str, ClaimConfig]],
    system_names: Sequence[str],
    systems_with_trees: Collection[str],
    control_systems: Mapping[str, Sequence[ControlSystem]],
    variant_systems: Mapping[str, Mapping[str, str]],
) -> Iterator[ResolvedClaim]:
    """Yield the claims about existing systems, and repeat them for other parsers.

    Args:
        claims: claims with their papers.
        system_names: names of the systems.
        systems_with_trees: the systems that read trees.
        control_systems: by system, the same with control trees.
        variant_systems: by system and parser, the same with the trees of another parser.
    """
    claims = [*claims]
    published_differences: dict[tuple[str, ...], list[PublishedResultConfig]] = {}
    for _, claim in claims:
        published_differences.setdefault(_get_claim_key(claim), []).extend(claim.printed)
    papers_by_question: dict[tuple[str, ...], set[str]] = {}
    for paper, claim in claims:
        claim_controls = [control for control in control_systems.get(claim.system, []) if control.name in system_names]
        pairs = [(claim.system, claim.above)]
        for parser, name in variant_systems.get(claim.system, {}).items() if paper else ():
            # A system that reads trees is compared with one that reads trees of the same parser.
            other_system = (
                variant_systems.get(claim.above, {}).get(parser, "")
                if claim.above in systems_with_trees
                else claim.above
            )
            pairs.append((name, other_system))
        for pair in pairs:
            papers = papers_by_question.setdefault((*pair, claim.relation, str(claim.sentences or "")), set())
            if {*pair} <= {*system_names} and paper not in papers and (paper or not papers):
                papers.add(paper)
                yield ResolvedClaim(paper, claim, *pair, claim_controls, published_differences[_get_claim_key(claim)])


def _get_claim_key(claim: ClaimConfig) -> tuple[str, ...]:
    return claim.system, claim.above, claim.relation, str(claim.sentences or "")


def _find_sentence_indices(
    sentence_filter: SentenceLengthConfig, set_name: str, property_files: Mapping[str, Path]
) -> np.ndarray:
    """Return the indices of the sentences that a claim is about."""
    if set_name not in property_files:
        raise InputError(f"a claim is about {sentence_filter}, which needs the properties of {set_name}")
    lengths = read_sentence_columns(property_files[set_name])[0]["length"]
    low = -np.inf if sentence_filter.longer_than is None else sentence_filter.longer_than
    high = np.inf if sentence_filter.up_to is None else sentence_filter.up_to
    return np.flatnonzero((lengths > low) & (lengths <= high))


def _select_claim_or_main_metrics(claim: ClaimConfig, computed_metrics: Sequence[str]) -> list[str]:
    """Return the claim's metrics that are computed, or else the main metric."""
    return [name for name in claim.metrics if name in computed_metrics] or [*computed_metrics[:1]]


def _build_claim_rows(
    resolved_claim: ResolvedClaim,
    evidence: ClaimEvidence,
    systems_with_trees: Collection[str],
    treeless_baselines: Mapping[str, str],
) -> Iterator[ClaimRow]:
    """Yield the rows of a claim, by metric and set.

    `treeless_baselines` names for each system with trees the first system without trees in the claims.
    """
    claim, system, other_system = resolved_claim.claim, resolved_claim.system, resolved_claim.other_system
    kind = str(claim.sentences or "")
    untrained = [name for name in (system, other_system) if name in evidence.untrained_reasons]
    untested = [f"{' and '.join(untrained)} {'have' if len(untrained) > 1 else 'has'} not learned to translate"]
    for metric in _select_claim_or_main_metrics(claim, evidence.metrics):
        scores = evidence.scores.get(metric, {}).get(kind, {})
        common_sets = [set_name for set_name, systems in scores.items() if {system, other_system} <= {*systems}]
        averaged_sets = [set_name for set_name in common_sets if set_name != DEV_SET_NAME] or common_sets
        small = [f"{set_name} has {reason}" for set_name, reason in evidence.small_set_reasons.get(kind, {}).items()]
        base = Verdict(
            system,
            other_system,
            get_metric_class(metric).label,
            None,
            untested_reasons=(untested if untrained else small) or ["they have no set in common"],
            relation=claim.relation,
            margin=claim.margin,
            is_syntax_comparison=system in systems_with_trees and other_system not in systems_with_trees,
            should_answer_syntax=treeless_baselines.get(system) == other_system
            and claim.relation == "better"
            and not kind,
            untested_controls={
                control.control_parser: "not learned to translate"
                for control in resolved_claim.control_systems
                if control.name in evidence.untrained_reasons
            },
            published_differences=[
                (published.task, published.difference)
                for published in resolved_claim.published_differences
                if published.metric == metric
            ],
            missing_metrics=[] if metric in claim.metrics else [get_metric_class(name).label for name in claim.metrics],
            is_complete=evidence.is_complete,
            scope=kind,
        )
        claim_columns = (resolved_claim.paper, f"{claim.system} above {claim.above}", claim.relation, kind, metric)
        if untrained or not common_sets:
            yield (
                *claim_columns,
                AVERAGE_SET_NAME,
                "claim",
                "",
                system,
                other_system,
                *[None] * 11,
                *_build_conclusion_columns(base, claim),
            )
            continue
        test_sets = [
            set_name for set_name in (*scores, *evidence.small_set_reasons.get(kind, {})) if set_name != DEV_SET_NAME
        ]
        for set_name, set_names in [
            (AVERAGE_SET_NAME, averaged_sets),
            *((set_name, [set_name]) for set_name in common_sets),
        ]:
            scope = "" if set_name == AVERAGE_SET_NAME and averaged_sets == test_sets else _join_set_names(set_names)
            verdict = replace(
                base,
                difference=evidence.estimate_mean_difference(metric, kind, set_names, system, other_system),
                control_results=_estimate_control_results(resolved_claim, evidence, metric, kind, set_names),
                scope=" of ".join(filter(None, (kind, scope))),
            )
            assert verdict.difference is not None
            numbers = _build_number_columns(evidence, metric, kind, set_names, system, other_system, verdict.difference)
            yield (*claim_columns, set_name, "claim", "", *numbers, *_build_conclusion_columns(verdict, claim))
            for control in resolved_claim.control_systems:
                if (result := verdict.control_results.get(control.control_parser)) is None:
                    continue
                numbers = _build_number_columns(
                    evidence, metric, kind, set_names, control.name, other_system, result.control_gain
                )
                yield (*claim_columns, set_name, "control", control.control_parser, *numbers, *[""] * 8)
                numbers = _build_number_columns(
                    evidence, metric, kind, set_names, system, control.name, result.parser_advantage
                )
                yield (*claim_columns, set_name, "against control", control.control_parser, *numbers, *[""] * 8)


def _estimate_control_results(
    resolved_claim: ResolvedClaim, evidence: ClaimEvidence, metric: str, sentence_kind: str, set_names: Sequence[str]
) -> dict[str, ControlResult]:
    """Estimate the result of each control system that has scores on all of these sets."""
    scores = evidence.scores[metric][sentence_kind]
    return {
        control.control_parser: ControlResult(
            control.tree_shape,
            evidence.estimate_mean_difference(
                metric, sentence_kind, set_names, control.name, resolved_claim.other_system
            ),
            evidence.estimate_mean_difference(metric, sentence_kind, set_names, resolved_claim.system, control.name),
        )
        for control in resolved_claim.control_systems
        if control.name not in evidence.untrained_reasons
        and all(control.name in scores[set_name] for set_name in set_names)
    }


def _build_conclusion_columns(verdict: Verdict, claim: ClaimConfig) -> ClaimRow:
    """Return the columns from `about` on."""
    excluded = " | ".join(
        f"{value:+.2f} on {task}: {'excluded' if excluded else 'not excluded'}"
        for task, value, excluded in verdict.published_exclusions
    )
    return (
        "syntax" if verdict.is_syntax_comparison else "other",
        verdict.outcome,
        verdict.syntax_answer,
        " | ".join(verdict.missing_controls) if verdict.is_syntax_comparison else "",
        excluded,
        verdict.summary_sentence,
        claim.says,
        " | ".join(map(_describe_published_difference, claim.printed)),
    )


def _join_set_names(set_names: Sequence[str]) -> str:
    return " and ".join("the development set" if set_name == DEV_SET_NAME else set_name for set_name in set_names)


def _build_number_columns(
    evidence: ClaimEvidence,
    metric: str,
    sentence_kind: str,
    set_names: Sequence[str],
    system: str,
    other_system: str,
    difference: SystemDifference,
) -> ClaimRow:
    """Return the columns from `system` to `run_deviation_from`."""
    return (
        system,
        other_system,
        *difference.run_counts,
        evidence.compute_mean_score(metric, sentence_kind, set_names, system),
        evidence.compute_mean_score(metric, sentence_kind, set_names, other_system),
        difference.value,
        difference.low,
        difference.high,
        difference.p_value,
        difference.smallest_detectable,
        difference.run_deviation,
        difference.run_variance_origin,
    )


def _describe_published_difference(published: PublishedResultConfig) -> str:
    """Describe a published difference in words."""
    significance = "" if published.significance is None else f" ({published.significance})"
    label = get_metric_class(published.metric).label
    return f"{published.difference:+.2f} {label}{significance} on {published.task}, {published.sets}: {published.where}"
