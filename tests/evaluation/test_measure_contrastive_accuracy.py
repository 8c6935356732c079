"""Contrastive evaluation against direct counts, scipy's interval, and McNemar's test written out."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest
from scipy.stats import t as student

from pipeline_py.evaluation.measure_contrastive_accuracy import (
    compute_accuracy_interval,
    compute_effective_pair_count,
    compute_wilson_interval,
    measure_contrastive_accuracy,
)
from pipeline_py.run.errors import InputError
from tests.nested_files import group_by_system
from tests.text_files import read_table

KINDS = ["gender", "", "number", "gender", "number", "number", "gender", "gender"]
DISTANCES = ["1", "", "1", "12", "16", "200", "2", "0"]
FREQUENCIES = ["", "", "", "", "", "10001", "3", ""]
PAIRS = len(KINDS)
HEAD = "sentence\tkind\tdistance\tfrequency\n"
NAMES = ("GlobalAtt", "SDAtt", "Tree=2")


def write_pairs(path):
    rows = zip(map(str, range(PAIRS)), KINDS, DISTANCES, FREQUENCIES, strict=True)
    path.write_text(HEAD + "".join("\t".join(row) + "\n" for row in rows))


def write_scores(path, scores):
    path.write_text("log_probability\tpieces\n" + "".join(f"{score!r}\t5\n" for score in scores))


@pytest.fixture
def scores():
    """Log probabilities of correct and contrastive translations by system and run, with some ties."""
    random = np.random.default_rng(1)
    runs = {name: random.integers(-4, 0, size=(3, 2, PAIRS)).astype(float) for name in NAMES}
    runs["Tree=2"] = runs["Tree=2"][:1]
    return runs


@pytest.fixture
def folder(tmp_path, scores):
    write_pairs(tmp_path / "pairs.tsv")
    for name, runs in scores.items():
        for run, sides in enumerate(runs, start=1):
            for side, of_side in zip(("correct", "contrastive"), sides, strict=True):
                write_scores(tmp_path / f"{name}.{run}.{side}", of_side.tolist())
    return tmp_path


def arguments(folder, scores, **changes):
    runs = [(name, run) for name in scores for run in range(1, len(scores[name]) + 1)]
    return {
        **{
            side: group_by_system({f"{name}:seed{run}": folder / f"{name}.{run}.{side}" for name, run in runs})
            for side in ("correct", "contrastive")
        },
        "pairs": folder / "pairs.tsv",
        "accuracies_output": folder / "out.tsv",
        "comparisons_output": folder / "out.comparisons.tsv",
        **changes,
    }


GROUPS = {
    ("all", "all"): range(PAIRS),
    ("kind", "gender"): [0, 3, 6, 7],
    ("kind", "number"): [2, 4, 5],
    ("distance", "0"): [7],
    ("distance", "1"): [0, 2],
    ("distance", "2"): [6],
    ("distance", "15"): [3],
    ("distance", ">15"): [4, 5],
    ("frequency", "5"): [6],
    ("frequency", ">10000"): [5],
}


def test_accuracies_are_those_of_a_direct_count(folder, scores):
    measure_contrastive_accuracy(**arguments(folder, scores))
    rows = read_table(folder / "out.tsv")
    assert [(row["by"], row["group"], row["system"]) for row in rows] == [
        (*group, name) for group in GROUPS for name in NAMES
    ]
    for row in rows:
        places, runs = GROUPS[row["by"], row["group"]], scores[row["system"]]
        counts = [sum(of_run[0][place] > of_run[1][place] for place in places) for of_run in runs]
        percent = [100 * count / len(places) for count in counts]
        mean = sum(percent) / len(percent)
        assert int(row["pairs"]) == len(places)
        assert float(row["accuracy"]) == pytest.approx(mean)
        ties = sum(of_run[0][place] == of_run[1][place] for of_run in runs for place in places)
        assert float(row["ties"]) == pytest.approx(ties / len(runs))
        if len(runs) == 1:
            assert row["sd"] == ""
            interval = binomtest(counts[0], len(places)).proportion_ci(method="wilson")
            assert (float(row["low"]), float(row["high"])) == pytest.approx((100 * interval.low, 100 * interval.high))
        else:
            spread = math.sqrt(sum((value - mean) ** 2 for value in percent) / (len(percent) - 1))
            assert float(row["sd"]) == pytest.approx(spread)
            assert float(row["low"]) <= mean <= float(row["high"])
    assert any(float(row["ties"]) > 0 for row in rows)


@pytest.mark.parametrize("trials", [1, 7, 2000])
def test_ends_of_the_interval_are_as_many_deviations_away_as_wilson_says(trials):
    for share in (0.0, 0.3, 0.98, 1.0):
        for end in compute_wilson_interval(share, trials):
            deviation = math.sqrt(end * (1 - end) / trials)
            assert abs(share - end) == pytest.approx(1.959963985 * deviation, abs=1e-7) or end in (0, 1)


@pytest.mark.parametrize("runs", [1, 3])
def test_effective_number_of_pairs_is_that_of_the_formula(runs):
    """Korn and Graubard (1998), written out, with sentences of one to four pairs in any order."""
    random = np.random.default_rng(2)
    sentences = random.permutation(np.repeat(range(40), random.integers(1, 5, size=40)))
    shares = random.integers(0, runs + 1, size=len(sentences)) / runs
    mean = sum(shares) / len(shares)
    residuals = {number: 0.0 for number in sentences}
    for number, share in zip(sentences, shares, strict=True):
        residuals[number] += share - mean
    of_sentences = len(residuals) / (len(residuals) - 1) * sum(value**2 for value in residuals.values())
    of_pairs = len(shares) / (len(shares) - 1) * sum((share - mean) ** 2 for share in shares)
    correction = student.ppf(0.975, len(shares) - 1) / student.ppf(0.975, len(residuals) - 1)
    expected = len(shares) * of_pairs / of_sentences * correction**2
    assert compute_effective_pair_count(shares, sentences) == pytest.approx(expected)
    assert compute_effective_pair_count(shares, np.arange(len(shares))) == len(shares)


def test_intervals_cover_the_truth_when_pairs_share_sentences():
    """Four pairs a sentence, alike more often than by chance: as independent pairs, they would miss the truth often."""
    random = np.random.default_rng(3)
    sentences = np.repeat(range(50), 4)
    covered = {"by sentence": 0, "by pair": 0}
    for _ in range(400):
        margins = random.random(200) - np.repeat(random.beta(1.4, 0.6, size=50), 4)
        for name, numbers in (("by sentence", sentences), ("by pair", np.arange(200))):
            low, high = compute_accuracy_interval(-margins[None], numbers)
            covered[name] += low <= 70 <= high
    assert 0.92 <= covered["by sentence"] / 400 <= 0.98 and covered["by pair"] / 400 < 0.85


def test_a_sentence_with_both_readings_counts_once():
    """Without a tree, one of both readings is right; with its tree, both are."""
    sentences = np.repeat(range(30), 2)
    blind = np.tile([1.0, -1.0], 30)[None]
    assert compute_accuracy_interval(blind, sentences) == (50, 50)
    low, high = compute_accuracy_interval(np.ones((1, 60)), sentences)
    assert high == 100 and 100 - low > 1.9 * (100 - compute_accuracy_interval(np.ones((1, 60)), np.arange(60))[0])
    assert compute_effective_pair_count(np.ones(5), np.zeros(5)) == 0
    assert compute_accuracy_interval(np.ones((1, 5)), np.zeros(5)) == (0, 100)


def test_tests_count_sentences_once(tmp_path):
    """One system gets more pairs right of two sentences, the other of one."""
    (tmp_path / "pairs.tsv").write_text(HEAD + "".join(f"{number}\t\t\t\n" for number in (1, 2, 1, 2, 3)))
    right = {"A": [1, 0, 0, 0, 1], "B": [1, 1, 1, 1, 0]}
    scores = {name: np.array([[np.array(of) - 1.0, np.full(5, -0.5)]]) for name, of in right.items()}
    for name, ((correct, contrastive),) in scores.items():
        write_scores(tmp_path / f"{name}.1.correct", correct.tolist())
        write_scores(tmp_path / f"{name}.1.contrastive", contrastive.tolist())
    measure_contrastive_accuracy(**arguments(tmp_path, scores))
    (row,) = read_table(tmp_path / "out.comparisons.tsv")
    assert (row["better"], row["worse"], row["ties"]) == ("2", "1", "0") and float(row["difference"]) == 40
    assert float(row["p_mcnemar"]) == mcnemar(2, 1)


def mcnemar(better, worse):
    """Two-sided: twice the probability of at most the rarer of the two, of fair coins."""
    total, least = better + worse, min(better, worse)
    return min(1.0, 2 * sum(math.comb(total, number) for number in range(least + 1)) / 2**total)


def test_pairs_of_systems_are_compared_by_the_pairs_that_one_is_right_of(folder, scores):
    measure_contrastive_accuracy(**arguments(folder, scores))
    rows = read_table(folder / "out.comparisons.tsv")
    assert [(row["system"], row["other"]) for row in rows] == [
        (NAMES[1], NAMES[0]),
        (NAMES[2], NAMES[0]),
        (NAMES[2], NAMES[1]),
    ]
    shares = {
        name: [np.mean([run[0][k] > run[1][k] for run in runs]) for k in range(PAIRS)] for name, runs in scores.items()
    }
    expected = []
    for row in rows:
        comparison_row, two = shares[row["system"]], shares[row["other"]]
        better, worse = (sum(sign * (a - b) > 0 for a, b in zip(comparison_row, two, strict=True)) for sign in (1, -1))
        assert (int(row["better"]), int(row["worse"]), int(row["ties"])) == (better, worse, PAIRS - better - worse)
        assert float(row["accuracy_system"]) == pytest.approx(100 * np.mean(comparison_row))
        assert float(row["difference"]) == pytest.approx(100 * (np.mean(comparison_row) - np.mean(two)))
        assert float(row["p_mcnemar"]) == pytest.approx(mcnemar(better, worse))
        expected.append(mcnemar(better, worse))
    ranked = sorted(expected)
    for row, p_value in zip(rows, expected, strict=True):
        steps = [(3 - place) * value for place, value in enumerate(ranked) if value <= p_value]
        assert float(row["p_mcnemar_holm"]) == pytest.approx(min(1.0, max(steps)))


def test_a_clear_difference_of_single_runs_is_mcnemars(tmp_path):
    (tmp_path / "pairs.tsv").write_text(HEAD + "".join(f"{number}\t\t\t\n" for number in range(30)))
    right = {"A": [1] * 30, "B": [1] * 15 + [0] * 12 + [1] * 3}
    for name, of in right.items():
        write_scores(tmp_path / f"{name}.correct", [-1.0 if comparison_row else -3.0 for comparison_row in of])
        write_scores(tmp_path / f"{name}.contrastive", [-2.0] * 30)
    measure_contrastive_accuracy(
        correct={name: {"single": tmp_path / f"{name}.correct"} for name in right},
        contrastive={name: {"single": tmp_path / f"{name}.contrastive"} for name in right},
        pairs=tmp_path / "pairs.tsv",
        accuracies_output=tmp_path / "out.tsv",
        comparisons_output=tmp_path / "comparisons.tsv",
    )
    (row,) = read_table(tmp_path / "comparisons.tsv")
    assert (row["better"], row["worse"]) == ("0", "12") and float(row["p_mcnemar"]) == pytest.approx(2 / 2**12)
    assert [row["by"] for row in read_table(tmp_path / "out.tsv")] == ["all", "all"]


def one_score_less(folder, file_options):
    write_scores(folder / "SDAtt.2.contrastive", [-1.0] * (PAIRS - 1))


def other_set(folder, file_options):
    (folder / "pairs.tsv").write_text(HEAD + "1\t\t\t\n")


def other_columns(folder, file_options):
    (folder / "pairs.tsv").write_text("kind\tdistance\tfrequency\n" + "\t\t\n" * PAIRS)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (one_score_less, r"SDAtt\.2\.contrastive: 7 scores, but .*GlobalAtt\.1\.correct has 8; give files of one set"),
        (other_columns, r"pairs\.tsv: no column `sentence`; make the file again with the stage"),
        (other_set, r"'GlobalAtt' has scores of 8 pairs and .*pairs\.tsv has 1; give the files of one set"),
    ],
)
def test_files_at_fault(folder, scores, spoil, message):
    file_options = arguments(folder, scores)
    spoil(folder, file_options)
    with pytest.raises(InputError, match=message):
        measure_contrastive_accuracy(**file_options)
    assert not (folder / "out.tsv").exists()
