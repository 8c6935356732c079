"""Contrastive evaluation (Sennrich 2017): how often a system prefers the correct translation."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import NormalDist, fmean, stdev

import numpy as np

from pipeline_py.evaluation.column_files import write_tsv
from pipeline_py.evaluation.score_sentence_groups import SentenceGroup, split_into_groups
from pipeline_py.evaluation.significance import holm_correction
from pipeline_py.files.text_files import read_lines
from pipeline_py.run.errors import InputError

CONTRAST_ACCURACY_COLUMNS = ("by", "group", "pairs", "system", "accuracy", "sd", "low", "high", "ties")
CONTRAST_COMPARISON_COLUMNS = (
    "system",
    "other",
    "accuracy_system",
    "accuracy_other",
    "difference",
    "better",
    "worse",
    "ties",
    "p_mcnemar",
    "p_mcnemar_holm",
)
PAIR_GROUP_BOUNDS: Mapping[str, Sequence[float]] = {
    "distance": (0, 1, 2, 3, 4, 6, 8, 10, 15),
    "frequency": (0, 2, 5, 10, 20, 50, 100, 1000, 10000),
}
"""Of what is known of pairs in numbers the upper bounds of its groups; some of LingEval97's, which has more."""

ALL_PAIRS = "all"
"""By what the group of all pairs is made, and its name."""

NORMAL_QUANTILE = NormalDist().inv_cdf(0.975)
"""Of the standard normal distribution: 95 % lie between it and its negative."""


def measure_contrastive_accuracy(
    *,
    correct: dict[str, dict[str, Path]],
    contrastive: dict[str, dict[str, Path]],
    pairs: Path,
    accuracies_output: Path,
    comparisons_output: Path,
) -> None:
    """Count on a contrastive set how often systems give the correct translation the higher probability.

    A pair with equal probabilities counts as wrong. Accuracy is in percent; for several runs (seeds) it is the mean
    over them, with the sample standard deviation. `low` and `high` are the ends of Wilson's 95 % interval (1927), with
    one trial for each pair whatever the number of runs, as in `compare`. `ties` counts pairs with equal probabilities,
    as a mean over runs. Groups are all pairs (`all`), and pairs by `kind`, `distance` and `frequency`; a pair without
    such a value is in no group of it.

    The comparisons have each pair of systems once; `other` is the system that is given first. `better` and `worse`
    count the pairs that only the one or only the other system gets right. McNemar's test (1947) is the exact two-sided
    binomial test that both are equally probable. With several runs, a pair counts for the system that gets it right in
    a larger share of its runs. `p_mcnemar_holm` is corrected for all pairs of systems on the set (Holm 1979).

    Args:
        correct: Files of `nmt.force_decode` for the correct translations, by system and run.
        contrastive: The same for the contrastive translations.
        pairs: The properties of the pairs, from `corpus.split_contrastive_pairs`.
        accuracies_output: Accuracies as TSV, by group and system.
        comparisons_output: Comparisons of all pairs of systems as TSV.

    Raises:
        InputError: if files are none of scores, or do not belong together.
    """
    known = _read_pair_properties(pairs)
    systems = read_score_margins(correct, contrastive)
    for name, decisions in systems.items():
        if decisions.shape[1] != len(known["kind"]):
            raise InputError(
                f"{name!r} has scores of {decisions.shape[1]} pairs and {pairs} has {len(known['kind'])}; "
                "give the files of one set"
            )
    right = {name: decisions > 0 for name, decisions in systems.items()}
    tied = {name: decisions == 0 for name, decisions in systems.items()}
    rows = [
        (
            group.grouping,
            group.name,
            len(group.indices),
            name,
            *_summarize_accuracy(of[:, group.indices]),
            _count_ties(tied[name], group),
        )
        for group in _group_pairs(known)
        for name, of in right.items()
    ]
    write_tsv(accuracies_output, CONTRAST_ACCURACY_COLUMNS, rows)
    write_tsv(comparisons_output, CONTRAST_COMPARISON_COLUMNS, _compare_accuracies(right))


def read_score_margins(
    correct_files: Mapping[str, Mapping[str, Path]], contrastive_files: Mapping[str, Mapping[str, Path]]
) -> dict[str, np.ndarray]:
    """Say how much likelier the correct translation of each pair is to a system than the contrastive one.

    Args:
        correct_files: files of scores of the correct translations, by system and run.
        contrastive_files: the same of the contrastive ones.

    Returns:
        Differences of log p by system, (runs, pairs); 0 where both are equally probable.

    Raises:
        InputError: if files differ in length.
    """
    decisions: dict[str, list[np.ndarray]] = {}
    first: tuple[Path, int] | None = None
    for system, runs in correct_files.items():
        for run, path in runs.items():
            other = contrastive_files[system][run]
            scores, less = _read_scores(path), _read_scores(other)
            first = first or (path, len(scores))
            for file, numbers in ((path, scores), (other, less)):
                if len(numbers) != first[1]:
                    raise InputError(
                        f"{len(numbers)} scores, but {first[0]} has {first[1]}; give files of one set", file
                    )
            decisions.setdefault(system, []).append(scores - less)
    return {system: np.stack(of_runs) for system, of_runs in decisions.items()}


def compute_accuracies(margins: np.ndarray) -> list[float]:
    """Percentage of pairs that each run is right of: (runs, pairs) → one number a run."""
    return [100 * float(of_run) for of_run in (margins > 0).mean(axis=1)]


def compute_accuracy_interval(margins: np.ndarray) -> tuple[float, float]:
    """The ends, in percent, of Wilson's interval of the mean accuracy of (runs, pairs)."""
    low, high = compute_wilson_interval(fmean(compute_accuracies(margins)) / 100, margins.shape[1])
    return 100 * low, 100 * high


def compute_wilson_interval(share: float, trial_count: int) -> tuple[float, float]:
    """Give the ends of Wilson's 95 % interval of a share, 0 to 1.

    They are the probabilities p at which the share found is 1.96 standard deviations √(p (1 − p) / n) from p.
    """
    z2 = NORMAL_QUANTILE**2 / trial_count
    centre = (share + z2 / 2) / (1 + z2)
    half = NORMAL_QUANTILE / (1 + z2) * np.sqrt(share * (1 - share) / trial_count + z2 / (4 * trial_count))
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def _summarize_accuracy(correct_mask: np.ndarray) -> tuple[float, float | None, float, float]:
    """Mean, deviation over runs, and interval in percent, of (runs, pairs)."""
    of_runs = compute_accuracies(correct_mask)
    return fmean(of_runs), stdev(of_runs) if len(of_runs) > 1 else None, *compute_accuracy_interval(correct_mask)


def _count_ties(tie_mask: np.ndarray, group: SentenceGroup) -> float:
    return float(tie_mask[:, group.indices].sum() / len(tie_mask))


def _group_pairs(pair_properties: Mapping[str, Sequence[str]]) -> Iterator[SentenceGroup]:
    """All pairs, those of each kind in the order of the set, and by distance and frequency."""
    yield SentenceGroup(ALL_PAIRS, ALL_PAIRS, None, None, np.arange(len(pair_properties["kind"])))
    kinds = np.array(pair_properties["kind"], dtype=object)
    for kind in dict.fromkeys(pair_properties["kind"]):
        if kind:
            yield SentenceGroup("kind", kind, None, None, np.flatnonzero(kinds == kind))
    numbers = {name: np.array([float(text or "nan") for text in pair_properties[name]]) for name in PAIR_GROUP_BOUNDS}
    yield from split_into_groups(numbers, PAIR_GROUP_BOUNDS)


def _compare_accuracies(correct_masks: Mapping[str, np.ndarray]) -> Iterator[tuple[str | float, ...]]:
    from scipy.stats import binomtest

    shares = {name: of.mean(axis=0) for name, of in correct_masks.items()}
    pairs = [(name, other) for other, name in combinations(shares, 2)]
    changes = [shares[name] - shares[other] for name, other in pairs]
    counts = [(int((change > 0).sum()), int((change < 0).sum()), int((change == 0).sum())) for change in changes]
    p_values = [
        float(binomtest(better, better + worse, 0.5).pvalue) if better + worse else 1.0 for better, worse, _ in counts
    ]
    for (name, other), count, p_value, corrected in zip(
        pairs, counts, p_values, holm_correction.adjust_p_values(p_values), strict=True
    ):
        one, two = fmean(compute_accuracies(correct_masks[name])), fmean(compute_accuracies(correct_masks[other]))
        yield (name, other, one, two, one - two, *count, p_value, corrected)


def _read_pair_properties(path: Path) -> dict[str, list[str]]:
    lines = [line.split("\t") for line in read_lines(path)]
    names = ["kind", *PAIR_GROUP_BOUNDS]
    return {name: [*column] for name, column in zip(names, zip(*lines[1:], strict=True), strict=True)}


def _read_scores(path: Path) -> np.ndarray:
    head, *lines = [line.split("\t") for line in read_lines(path)]
    return np.array([float(line[head.index("log_probability")]) for line in lines])
