"""Contrastive evaluation (Sennrich 2017): how often a system prefers the correct translation."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import NormalDist, fmean, stdev

import numpy as np

from pipeline_py.evaluation.score_sentence_groups import SentenceGroup, split_into_groups
from pipeline_py.evaluation.significance import holm_correction
from pipeline_py.files.contrastive_pair_files import SENTENCE_COLUMN
from pipeline_py.files.text_files import read_lines
from pipeline_py.files.tsv_files import write_tsv
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
"""Upper bounds of the groups of pairs by each numeric property; a subset of LingEval97's."""

ALL_PAIRS = "all"
"""Grouping and name of the group of all pairs."""

NORMAL_QUANTILE = NormalDist().inv_cdf(0.975)
"""The 97.5 % quantile of the standard normal distribution."""


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
    over them, with the sample standard deviation. `low` and `high` are the ends of Wilson's 95 % interval (1927). Its
    number of trials is the number of pairs, whatever the number of runs; if pairs share source sentences, it is the
    number of independent pairs that would be as precise (`compute_effective_pair_count`). `ties` counts pairs with
    equal probabilities, as a mean over runs. Groups are all pairs (`all`), and pairs by `kind`, `distance` and
    `frequency`; a pair without such a value is in no group of it.

    The comparisons have each pair of systems once; `other` is the system that is given first. `better` and `worse`
    count the source sentences of which the one or the other system gets more pairs right, on average over its runs.
    With one run and one pair for each sentence, these are the pairs that only one of them gets right. McNemar's test
    (1947) is the exact two-sided binomial test that both are equally probable. `p_mcnemar_holm` is corrected for all
    pairs of systems on the set (Holm 1979).

    Args:
        correct: Files of `nmt.force_decode` for the correct translations, by system and run.
        contrastive: The same for the contrastive translations.
        pairs: The properties of the pairs, from `corpus.split_contrastive_pairs`.
        accuracies_output: Accuracies as TSV, by group and system.
        comparisons_output: Comparisons of all pairs of systems as TSV.

    Raises:
        InputError: if files are none of scores, do not belong together, or `pairs` has no column `sentence`.
    """
    pair_properties = _read_pair_properties(pairs)
    sentence_numbers = np.array(pair_properties[SENTENCE_COLUMN], dtype=np.int64)
    systems = read_score_margins(correct, contrastive)
    for name, margins in systems.items():
        if margins.shape[1] != len(pair_properties["kind"]):
            raise InputError(
                f"{name!r} has scores of {margins.shape[1]} pairs and {pairs} has {len(pair_properties['kind'])}; "
                "give the files of one set"
            )
    correct_masks = {name: margins > 0 for name, margins in systems.items()}
    tie_masks = {name: margins == 0 for name, margins in systems.items()}
    rows = [
        (
            group.grouping,
            group.name,
            len(group.indices),
            name,
            *_summarize_accuracy(correct_mask[:, group.indices], sentence_numbers[group.indices]),
            _count_ties(tie_masks[name], group),
        )
        for group in _group_pairs(pair_properties)
        for name, correct_mask in correct_masks.items()
    ]
    write_tsv(accuracies_output, CONTRAST_ACCURACY_COLUMNS, rows)
    write_tsv(comparisons_output, CONTRAST_COMPARISON_COLUMNS, _run_sign_tests(correct_masks, sentence_numbers))


def read_score_margins(
    correct_files: Mapping[str, Mapping[str, Path]], contrastive_files: Mapping[str, Mapping[str, Path]]
) -> dict[str, np.ndarray]:
    """Return the log probability of each correct translation minus that of the contrastive one.

    Args:
        correct_files: scores of the correct translations, by system and run.
        contrastive_files: scores of the contrastive translations.

    Returns:
        Differences by system, (runs, pairs).

    Raises:
        InputError: if files differ in length.
    """
    margins: dict[str, list[np.ndarray]] = {}
    first: tuple[Path, int] | None = None
    for system, runs in correct_files.items():
        for run, path in runs.items():
            contrastive_path = contrastive_files[system][run]
            scores, contrastive_scores = _read_scores(path), _read_scores(contrastive_path)
            first = first or (path, len(scores))
            for file, numbers in ((path, scores), (contrastive_path, contrastive_scores)):
                if len(numbers) != first[1]:
                    raise InputError(
                        f"{len(numbers)} scores, but {first[0]} has {first[1]}; give files of one set", file
                    )
            margins.setdefault(system, []).append(scores - contrastive_scores)
    return {system: np.stack(run_margins) for system, run_margins in margins.items()}


def read_sentence_numbers(path: Path) -> np.ndarray:
    """Return the number of each pair's source sentence (pairs), from a file of `corpus.split_contrastive_pairs`.

    Raises:
        InputError: the file has no such numbers.
    """
    return np.array(_read_pair_properties(path)[SENTENCE_COLUMN], dtype=np.int64)


def compute_accuracies(margins: np.ndarray) -> list[float]:
    """Return the accuracy of each run in percent, from margins (runs, pairs)."""
    return [100 * float(share) for share in (margins > 0).mean(axis=1)]


def compute_accuracy_interval(margins: np.ndarray, sentence_numbers: np.ndarray) -> tuple[float, float]:
    """Return Wilson's 95 % interval of the mean accuracy in percent.

    Its number of trials is the effective number of pairs (`compute_effective_pair_count`). Franco et al. (2019),
    "Comparative Study of Confidence Intervals for Proportions in Complex Sample Surveys", compare such intervals; with
    few sentences they can cover less than 95 %.

    Args:
        margins: log probability of the correct translation minus that of the contrastive one (runs, pairs).
        sentence_numbers: source sentence of each pair (pairs).
    """
    shares = (margins > 0).mean(axis=0)
    low, high = compute_wilson_interval(float(shares.mean()), compute_effective_pair_count(shares, sentence_numbers))
    return 100 * low, 100 * high


def compute_effective_pair_count(shares: np.ndarray, sentence_numbers: np.ndarray) -> float:
    """Return how many pairs of different sentences would give a mean that is as precise.

    It is n / d · (t(n − 1) / t(c − 1))² for n pairs of c sentences, where t are 97.5 % quantiles of Student's
    distribution, and the design effect d is the variance of the mean over sentences, divided by that over independent
    pairs (Korn and Graubard 1998, "Confidence Intervals for Proportions with Small Expected Number of Positive Counts
    Estimated from Survey Data"). Without variance, as when all pairs are right, d is n / c. With several runs, both
    variances are of shares, which keeps one trial for each pair.

    The result is n if each sentence has one pair. It can be more than n, since of both readings of a sentence a system
    without trees gets one right; if all sentences have the same mean, but not all pairs, it is infinite. A single
    sentence with several pairs tells nothing: 0.

    Args:
        shares: share of the runs in which a system gets each pair right (pairs).
        sentence_numbers: source sentence of each pair (pairs).
    """
    from scipy.special import stdtrit

    pair_count = len(shares)
    _, sentence_indices = np.unique(sentence_numbers, return_inverse=True)
    sentence_count = int(sentence_indices.max()) + 1
    if sentence_count == pair_count:
        return pair_count
    if sentence_count == 1:
        return 0
    deviations = shares - shares.mean()
    pair_variance = float(deviations @ deviations) * pair_count / (pair_count - 1)
    sums = np.bincount(sentence_indices, weights=deviations)
    sentence_variance = float(sums @ sums) * sentence_count / (sentence_count - 1)
    design_effect = sentence_variance / pair_variance if pair_variance > 0 else pair_count / sentence_count
    if design_effect == 0:
        return math.inf
    quantiles = stdtrit([pair_count - 1, sentence_count - 1], 0.975)
    return pair_count / design_effect * float(quantiles[0] / quantiles[1]) ** 2


def compute_wilson_interval(share: float, trial_count: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval (1927) of a share between 0 and 1.

    Its ends are the probabilities p that are 1.96 standard deviations √(p (1 − p) / n) away from the share; without a
    trial, 0 and 1.
    """
    if trial_count == 0:
        return 0.0, 1.0
    z2 = NORMAL_QUANTILE**2 / trial_count
    centre = (share + z2 / 2) / (1 + z2)
    half = NORMAL_QUANTILE / (1 + z2) * np.sqrt(share * (1 - share) / trial_count + z2 / (4 * trial_count))
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def _summarize_accuracy(
    correct_mask: np.ndarray, sentence_numbers: np.ndarray
) -> tuple[float, float | None, float, float]:
    """Return the mean, the standard deviation over runs, and the ends of the interval in percent."""
    accuracies = compute_accuracies(correct_mask)
    return (
        fmean(accuracies),
        stdev(accuracies) if len(accuracies) > 1 else None,
        *compute_accuracy_interval(correct_mask, sentence_numbers),
    )


def _count_ties(tie_mask: np.ndarray, group: SentenceGroup) -> float:
    return float(tie_mask[:, group.indices].sum() / len(tie_mask))


def _group_pairs(pair_properties: Mapping[str, Sequence[str]]) -> Iterator[SentenceGroup]:
    """Yield the group of all pairs, and the groups by kind, distance and frequency."""
    yield SentenceGroup(ALL_PAIRS, ALL_PAIRS, None, None, np.arange(len(pair_properties["kind"])))
    kinds = np.array(pair_properties["kind"], dtype=object)
    for kind in dict.fromkeys(pair_properties["kind"]):
        if kind:
            yield SentenceGroup("kind", kind, None, None, np.flatnonzero(kinds == kind))
    numbers = {name: np.array([float(text or "nan") for text in pair_properties[name]]) for name in PAIR_GROUP_BOUNDS}
    yield from split_into_groups(numbers, PAIR_GROUP_BOUNDS)


def _run_sign_tests(
    correct_masks: Mapping[str, np.ndarray], sentence_numbers: np.ndarray
) -> Iterator[tuple[str | float, ...]]:
    """Yield a row for each pair of systems: accuracies, counts of better, worse and equal sentences, and p-values."""
    from scipy.stats import binomtest

    _, sentence_indices = np.unique(sentence_numbers, return_inverse=True)
    shares = {
        name: np.bincount(sentence_indices, weights=correct_mask.sum(axis=0)) / len(correct_mask)
        for name, correct_mask in correct_masks.items()
    }
    pairs = [(name, other_name) for other_name, name in combinations(shares, 2)]
    changes = [shares[name] - shares[other_name] for name, other_name in pairs]
    counts = [(int((change > 0).sum()), int((change < 0).sum()), int((change == 0).sum())) for change in changes]
    p_values = [
        float(binomtest(better, better + worse, 0.5).pvalue) if better + worse else 1.0 for better, worse, _ in counts
    ]
    for (name, other_name), count, p_value, corrected in zip(
        pairs, counts, p_values, holm_correction.adjust_p_values(p_values), strict=True
    ):
        accuracy, other_accuracy = (
            fmean(compute_accuracies(correct_masks[name])),
            fmean(compute_accuracies(correct_masks[other_name])),
        )
        yield (name, other_name, accuracy, other_accuracy, accuracy - other_accuracy, *count, p_value, corrected)


def _read_pair_properties(path: Path) -> dict[str, list[str]]:
    names, *rows = [line.split("\t") for line in read_lines(path)]
    if SENTENCE_COLUMN not in names:
        raise InputError(
            f"no column `{SENTENCE_COLUMN}`; make the file again with the stage `corpus.split_contrastive_pairs`", path
        )
    return {name: [*column] for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def _read_scores(path: Path) -> np.ndarray:
    head, *lines = [line.split("\t") for line in read_lines(path)]
    return np.array([float(line[head.index("log_probability")]) for line in lines])
