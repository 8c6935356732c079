"""Pairs of systems against sacrebleu's own paired tests on plain text, and against corpora that are written out."""

import os
import random
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import PairedTest, Result
from scipy.stats import binomtest

from pipeline_py.evaluation.column_files import write_sentence_columns
from pipeline_py.evaluation.compare_systems import SYSTEM_COMPARISON_COLUMNS, compare_systems
from pipeline_py.evaluation.metrics.ribes import SacrebleuRibes
from pipeline_py.evaluation.significance.sign_test import run_sign_test
from pipeline_py.evaluation.system_statistics import read_statistics
from pipeline_py.run.errors import InputError
from tests.evaluation.statistics_files import write_output_statistics
from tests.nested_files import group_by_system
from tests.text_files import read_table

WORDS = ["the", "cat", "sat", "on", "a", "mat", "in", "Garden", ",", "of", "my", "(", "old", ")", "Käse", "."]
Rows = list[dict[str, str]]


def text(state: random.Random, number: int) -> list[str]:
    return [" ".join(state.choice(WORDS) for _ in range(state.randint(1, 15))) for _ in range(number)]


def disturbed(lines: list[str], state: random.Random, rate: float) -> list[str]:
    """Words replaced, and halves of sentences swapped, both with the probability `rate`."""
    result = []
    for line in lines:
        words = ["xx" if state.random() < rate else word for word in line.split()]
        half = len(words) // 2 if state.random() < rate else 0
        result.append(" ".join(words[half:] + words[:half]))
    return result


def run(
    folder: Path, outputs: dict[str, list[str]], references: list[list[str]], **options: object
) -> tuple[Rows, Rows]:
    """Comparisons and intervals."""
    metrics, lowercase = options.pop("metrics", ["bleu"]), options.pop("lowercase", True)
    files = write_output_statistics(folder, outputs, references, metrics, lowercase=lowercase)  # type: ignore[arg-type]
    places = {"comparisons_output": folder / "pairs.tsv", "intervals_output": folder / "intervals.tsv"}
    compare_systems(statistics=group_by_system(files), metrics=metrics, **places, **options)  # type: ignore[arg-type]
    return read_table(folder / "pairs.tsv"), read_table(folder / "intervals.tsv")


def by_sacrebleu(
    kind: str,
    system: list[str],
    baseline: list[str],
    references: list[list[str]],
    lowercase: bool,
    draws: int,
    seed: int,
) -> dict[str, tuple[Result, Result]]:
    """Results of the baseline `other` and of `one` against it, by metric."""
    metrics = {"b": BLEU(lowercase=lowercase), "r": SacrebleuRibes("13a", lowercase)}
    with mock.patch.dict(os.environ, {"SACREBLEU_SEED": str(seed)}):
        _, results = PairedTest([("other", baseline), ("one", system)], metrics, references, kind, draws)()
    return {name.lower(): tuple(results[name]) for name in ("BLEU", "RIBES")}  # type: ignore[misc]


def score_of(metric: BLEU | SacrebleuRibes, runs: list[list[str]], reference: list[str], places: list[int]) -> float:
    """Mean over runs of the score of some of their sentences."""
    scores = [
        metric.corpus_score([lines[at] for at in places], [[reference[at] for at in places]]).score for lines in runs
    ]
    return sum(scores) / len(scores)


@pytest.mark.parametrize(("lowercase", "seed", "references"), [(True, 12345, 1), (False, 7, 2)])
def test_agrees_with_sacrebleu(tmp_path: Path, lowercase: bool, seed: int, references: int) -> None:
    state = random.Random(seed)
    texts = [text(state, 60) for _ in range(references)]
    outputs = {name: disturbed(texts[0], state, rate) for name, rate in (("A (n=2)", 0.2), ("B", 0.25), ("C", 0.3))}
    options = {"lowercase": lowercase, "seed": seed, "samples": 300, "trials": 700, "metrics": ["bleu", "ribes"]}
    pairs, intervals = run(tmp_path, outputs, texts, **options)
    expected = [("B", "A (n=2)"), ("C", "A (n=2)"), ("C", "B")]
    assert [(row["metric"], row["system"], row["other"]) for row in pairs] == [
        (metric, *pair) for metric in ("bleu", "ribes") for pair in expected
    ]
    assert tuple(pairs[0]) == SYSTEM_COMPARISON_COLUMNS
    half = {(row["metric"], row["system"]): (float(row["high"]) - float(row["low"])) / 2 for row in intervals}
    for row in pairs:
        lines, metric = (outputs[row["system"]], outputs[row["other"]]), row["metric"]
        baseline, result = by_sacrebleu("bs", *lines, texts, lowercase, 300, seed)[metric]
        assert float(row["score_system"]) == pytest.approx(result.score)
        assert float(row["score_other"]) == pytest.approx(baseline.score)
        assert float(row["difference"]) == pytest.approx(result.score - baseline.score)
        assert float(row["p_bootstrap_sacrebleu"]) == result.p_value
        # sacrebleu adds up in single precision.
        assert half[metric, row["system"]] == pytest.approx(result.ci, rel=1e-4)
        assert half[metric, row["other"]] == pytest.approx(baseline.ci, rel=1e-4)
        _, exchanged = by_sacrebleu("ar", *lines, texts, lowercase, 700, seed)[metric]
        # sacrebleu does not count exchanges that give the very difference again.
        assert 0 <= float(row["p_randomization"]) - exchanged.p_value < 2.5 / 701
    assert all(len({row[f"p_{test}"] for row in pairs}) > 3 for test in ("bootstrap", "randomization"))


def test_sign_tests_are_those_of_the_outputs(tmp_path: Path) -> None:
    """The system takes the place of the one that is given before it; the p-value is scipy's, of the counts."""
    state = random.Random(3)
    reference = text(state, 30)
    outputs = {f"{name}:{number}": disturbed(reference, state, 0.2) for name in "AB" for number in (1, 2)}
    ((row,), _) = run(tmp_path, outputs, [reference], samples=9, trials=9)
    systems = {name: [tmp_path / f"{name}-{number}.arrow" for number in (1, 2)] for name in "AB"}
    statistics = read_statistics(systems, ["bleu"])["bleu"]
    sign_test = run_sign_test(statistics["B"].run_statistics, statistics["A"].run_statistics, statistics["A"].metric)
    expected = sign_test.insertion_test
    assert (row["system"], row["other"]) == ("B", "A")
    counts = [int(float(row[column])) for column in ("better", "worse", "ties")]
    assert counts == [expected.better, expected.worse, expected.ties] and sum(counts) == 30 and min(counts[:2]) > 3
    assert float(row["p_sign_inserted"]) == binomtest(counts[0], counts[0] + counts[1]).pvalue
    assert [int(float(row[f"{column}_replaced"])) for column in ("better", "worse", "ties")] == [
        *sign_test.replacement_test.counts
    ]
    assert (
        float(row["p_sign_replaced"]) == sign_test.replacement_test.p_value
        and float(row["p_sign"]) == sign_test.p_value
    )


@pytest.mark.parametrize("metric", [BLEU(lowercase=True), SacrebleuRibes("13a", True)], ids=["bleu", "ribes"])
def test_a_difference_of_several_runs_is_that_of_their_means(tmp_path: Path, metric: BLEU | SacrebleuRibes) -> None:
    """Two runs against one: resampled and exchanged corpora are written out, each run is scored, and the mean taken."""
    state = random.Random(3)
    reference = text(state, 12)
    outputs = {"B": disturbed(reference, state, 0.3)} | {f"A:{n}": disturbed(reference, state, 0.2) for n in (1, 2)}
    name = type(metric).__name__.lower().removeprefix("sacrebleu")
    ((row,), intervals) = run(tmp_path, outputs, [reference], samples=40, trials=50, seed=5, metrics=[name])
    ours, theirs = [outputs["A:1"], outputs["A:2"]], [outputs["B"]]
    all_indices = list(range(12))
    difference = score_of(metric, ours, reference, all_indices) - score_of(metric, theirs, reference, all_indices)
    assert float(row["difference"]) == pytest.approx(difference)
    assert float(row["score_system"]) == pytest.approx(score_of(metric, ours, reference, all_indices))
    assert [float(interval["score"]) for interval in intervals] == [
        float(row["score_other"]),
        float(row["score_system"]),
    ]

    samples = np.random.default_rng(5).choice(12, size=(40, 12), replace=True)
    differences = [
        score_of(metric, ours, reference, list(places)) - score_of(metric, theirs, reference, list(places))
        for places in samples
    ]
    fewer = min(sum(score <= 0 for score in differences), sum(score >= 0 for score in differences))
    assert float(row["p_bootstrap"]) == pytest.approx(min(1, 2 * (1 + fewer) / 41))
    mean = sum(map(abs, differences)) / 40
    larger = sum(abs(score) - mean > abs(difference) for score in differences)
    assert float(row["p_bootstrap_sacrebleu"]) == pytest.approx((1 + larger) / 41)

    as_large = 0
    for kept_indices in np.random.default_rng(5).integers(2, size=(50, 12), dtype=bool):
        mixed = [
            [
                [a if keep == is_ours else b for a, b, keep in zip(run, theirs[0], kept_indices, strict=True)]
                for run in ours
            ]
            for is_ours in (True, False)
        ]  # fmt: skip
        score, other_score = (score_of(metric, runs, reference, all_indices) for runs in mixed)
        as_large += abs(score - other_score) >= abs(difference) - 1e-9
    assert float(row["p_randomization"]) == pytest.approx((1 + as_large) / 51)


def test_a_difference_that_is_the_same_in_every_sentence(tmp_path: Path) -> None:
    # RIBES 1 and 5/6 in each: no resampled difference is larger than the mean.
    outputs = {"B": ["b a c d"] * 9, "A": ["a b c d"] * 9}
    ((row,), _) = run(tmp_path, outputs, [["a b c d"] * 9], samples=99, metrics=["ribes"])
    values = [float(row[column]) for column in ("difference", "low_outputs", "high_outputs")]
    assert values == pytest.approx([100 / 6] * 3)
    assert float(row["p_bootstrap"]) == pytest.approx(2 / 100) and row["better"] == "9"
    assert float(row["p_bootstrap_sacrebleu"]) == pytest.approx(1 / 100)


def test_a_single_run_has_the_variance_that_is_assumed(tmp_path: Path) -> None:
    """Equal outputs of single runs: no variance of sentences, so two assumed variances between runs alone."""
    outputs = dict.fromkeys("AB", ["a b c d"] * 9)
    ((row,), _) = run(tmp_path, outputs, [["a b c e"] * 9], samples=99, run_deviation={"bleu": 0.5})
    width = 1.96 * 0.5 * 2**0.5
    assert [float(row[column]) for column in ("low", "high")] == pytest.approx([-width, width], rel=1e-3)
    assert (row["run_deviation"], row["run_deviation_from"], row["p_systems"]) == ("0.5", "default", "1.0")
    ((row,), _) = run(
        tmp_path, outputs, [["a b c e"] * 9], samples=99, run_deviation={"bleu": 0.5}, networks={"A": "net", "B": "net"}
    )
    assert (row["low"], row["high"], row["run_deviation_from"]) == ("0.0", "0.0", "same networks")


def test_single_runs_have_the_variance_of_the_other_systems(tmp_path: Path) -> None:
    state = random.Random(6)
    reference = text(state, 20)
    outputs = {name: disturbed(reference, state, 0.2) for name in ("A", "B", "C:1", "C:2", "C:3")}
    pairs, _ = run(tmp_path, outputs, [reference], samples=50, trials=50, run_deviation={"bleu": 9.0})
    (row,) = [row for row in pairs if (row["system"], row["other"]) == ("B", "A")]
    scores = [BLEU(lowercase=True).corpus_score(outputs[f"C:{number}"], [reference]).score for number in (1, 2, 3)]
    assert row["run_deviation_from"] == "pooled"
    assert float(row["run_deviation"]) == pytest.approx(np.std(scores, ddof=1))


def test_a_set_with_too_few_different_sentences_allows_no_inference(tmp_path: Path) -> None:
    state = random.Random(5)
    reference = text(state, 30)
    outputs = {name: disturbed(reference, state, rate) for name, rate in (("A", 0.2), ("B", 0.4))}
    ((row,), (interval, _)) = run(tmp_path, outputs, [reference], samples=99, fewest_sentences=31)
    empty = [column for column in SYSTEM_COMPARISON_COLUMNS if row[column] == ""]
    assert {"low", "high", "detectable", "better", "p_systems", "p_sign_holm", "p_bootstrap_sacrebleu"} <= {*empty}
    assert float(row["difference"]) < 0 and (interval["low"], interval["high"]) == ("", "")
    again = {name: lines[:3] * 20 for name, lines in outputs.items()}
    ((row,), _) = run(tmp_path, again, [reference[:3] * 20], samples=99, fewest_sentences=4)
    assert row["p_systems"] == "", "three sentences that are repeated are three"


def test_different_numbers_of_runs_leave_tests_of_outputs_out(tmp_path: Path) -> None:
    state = random.Random(7)
    reference = text(state, 30)
    outputs = {f"A:{run}": disturbed(reference, state, 0.2) for run in (1, 2)}
    outputs |= {f"B:{run}": disturbed(reference, state, 0.4) for run in (1, 2, 3)}
    ((row,), _) = run(tmp_path, outputs, [reference], samples=99, trials=9)
    assert (row["runs_system"], row["runs_other"], row["run_deviation_from"]) == ("3", "2", "measured")
    assert row["p_sign"] == row["p_randomization_holm"] == row["better"] == "" and float(row["p_systems"]) < 1


def test_two_systems_have_the_same_numbers_in_every_table(tmp_path: Path) -> None:
    """Only corrections and the pooled variance between runs depend on the other systems of a table."""
    state = random.Random(12)
    reference = text(state, 40)
    outputs = {name: disturbed(reference, state, rate) for name, rate in (("A", 0.2), ("B", 0.3))}
    other_outputs = {f"{name}:{number}": disturbed(reference, state, 0.25) for name in "CD" for number in (1, 2, 3)}
    ((single_pair,), _) = run(tmp_path, outputs, [reference], samples=200, trials=200)
    pairs, _ = run(tmp_path, {**other_outputs, **outputs}, [reference], samples=200, trials=200)
    (among,) = (row for row in pairs if (row["system"], row["other"]) == ("B", "A"))
    about_systems = ("low", "high", "detectable", "run_deviation", "run_deviation_from", "p_systems")
    same = [
        column for column in SYSTEM_COMPARISON_COLUMNS if not column.endswith("_holm") and column not in about_systems
    ]
    assert [single_pair[column] for column in same] == [among[column] for column in same]
    assert len(pairs) == 6 and single_pair["p_sign_holm"] == single_pair["p_sign"] < among["p_sign_holm"]


def test_order_of_systems_affects_only_the_sign(tmp_path: Path) -> None:
    state = random.Random(11)
    reference = text(state, 40)
    outputs = {name: disturbed(reference, state, rate) for name, rate in (("A", 0.2), ("B", 0.3))}
    ((row,), _) = run(tmp_path, outputs, [reference], samples=200, trials=200)
    ((turned,), _) = run(tmp_path, dict(reversed(outputs.items())), [reference], samples=200, trials=200)
    assert float(row["difference"]) == -float(turned["difference"]) < 0
    assert (float(row["low"]), float(row["high"])) == (-float(turned["high"]), -float(turned["low"]))
    for column in ("p_systems", "p_sign", "p_bootstrap", "p_randomization", "detectable"):
        assert row[column] == turned[column]
    assert row["p_sign_inserted"] == turned["p_sign_replaced"]


def test_interval_of_the_difference_by_resampled_corpora(tmp_path: Path) -> None:
    """Every resampled corpus is written out, of each run, and scored with sacrebleu; a twentieth lies outside."""
    state = random.Random(5)
    reference = text(state, 12)
    outputs = {"B": disturbed(reference, state, 0.4), "A:1": disturbed(reference, state, 0.2)}
    outputs["A:2"] = disturbed(reference, state, 0.2)
    ((row,), _) = run(tmp_path, outputs, [reference], samples=80, trials=10, seed=5)
    metric, ours = BLEU(lowercase=True), [outputs["A:1"], outputs["A:2"]]
    samples = np.random.default_rng(5).choice(12, size=(80, 12), replace=True)
    differences = sorted(
        score_of(metric, ours, reference, list(places)) - score_of(metric, [outputs["B"]], reference, list(places))
        for places in samples
    )
    assert float(row["low_outputs"]) == pytest.approx(differences[1])
    assert float(row["high_outputs"]) == pytest.approx(differences[-2])
    assert float(row["low_outputs"]) < float(row["difference"]) < float(row["high_outputs"])


def test_exchanged_sentences_bring_all_runs(tmp_path: Path) -> None:
    """A system of one run is as good as the same one run twice."""
    state = random.Random(6)
    reference = text(state, 25)
    outputs = {f"A:{run}": disturbed(reference, state, 0.3) for run in (1, 2)}
    single = disturbed(reference, state, 0.4)
    ((single_run,), _) = run(tmp_path, {**outputs, "B": single}, [reference], samples=9, trials=300)
    ((twice,), _) = run(tmp_path, {**outputs, "B:1": single, "B:2": single}, [reference], samples=9, trials=300)
    tests = ("p_sign", "p_bootstrap", "p_randomization", "better")
    assert [single_run[name] for name in tests] == [twice[name] for name in tests] and 0.01 < float(
        single_run["p_randomization"]
    ) < 1


@pytest.mark.parametrize("name", ["chrf", "ter"])
def test_any_metric_is_compared_in_its_own_direction(tmp_path: Path, name: str) -> None:
    """Fewer edits are better, in either direction of the comparison."""
    state = random.Random(8)
    reference = text(state, 40)
    outputs = {"bad": disturbed(reference, state, 0.6), "good": disturbed(reference, state, 0.1)}
    ((row,), intervals) = run(tmp_path, outputs, [reference], samples=200, trials=200, metrics=[name])
    difference = float(row["difference"])
    assert (difference < 0) == (name == "ter") and abs(difference) > 5
    assert float(row["better"]) > 3 * float(row["worse"])
    assert max(float(row[f"p_{test}"]) for test in ("sign", "bootstrap", "randomization")) < 0.05
    metric = CHRF(lowercase=True) if name == "chrf" else TER()
    for interval in intervals:
        assert float(interval["score"]) == pytest.approx(
            metric.corpus_score(outputs[interval["system"]], [reference]).score
        )


def test_is_corrected_for_all_pairs(tmp_path: Path) -> None:
    state = random.Random(7)
    reference = text(state, 40)
    outputs = {name: disturbed(reference, state, rate) for name, rate in zip("ABCD", (0.2, 0.2, 0.3, 0.5), strict=True)}
    pairs, _ = run(tmp_path, outputs, [reference], samples=200, trials=200)
    assert len(pairs) == 6
    for test in ("systems", "sign", "bootstrap", "randomization"):
        ordered = sorted((float(row[f"p_{test}"]), float(row[f"p_{test}_holm"])) for row in pairs)
        least = 0.0
        for tests, (p_value, corrected) in zip(range(6, 0, -1), ordered, strict=True):
            least = max(least, min(1.0, tests * p_value))
            assert corrected == pytest.approx(least)


def test_equal_outputs_do_not_differ(tmp_path: Path) -> None:
    state = random.Random(4)
    reference = text(state, 30)
    lines = disturbed(reference, state, 0.3)
    ((row,), _) = run(tmp_path, {"A": lines, "B": lines}, [reference], samples=50, trials=50)
    assert {
        row[column] for column in SYSTEM_COMPARISON_COLUMNS if column.startswith("p_") and "sacrebleu" not in column
    } == {"1.0"}
    assert (row["difference"], row["low"], row["high"], row["ties"]) == ("0.0", "0.0", "0.0", "30")


def test_single_system_has_an_interval(tmp_path: Path) -> None:
    reference = text(random.Random(8), 20)
    pairs, intervals = run(tmp_path, {"A": disturbed(reference, random.Random(8), 0.3)}, [reference], samples=50)
    assert pairs == [] and [row["system"] for row in intervals] == ["A"]
    assert float(intervals[0]["low"]) < float(intervals[0]["score"]) < float(intervals[0]["high"])


def test_only_parsed_sentences_count(tmp_path: Path) -> None:
    state = random.Random(9)
    reference = text(state, 20)
    outputs = {name: disturbed(reference, state, 0.3) for name in "AB"}
    kept_indices = [place for place in range(20) if state.random() < 0.6]
    write_sentence_columns(tmp_path / "none.arrow", {"length": np.ones(20), "parse": np.zeros(20)})
    with pytest.raises(InputError, match=r"none\.arrow: no sentence was parsed"):
        run(tmp_path, outputs, [reference], sentence_properties=tmp_path / "none.arrow")
    write_sentence_columns(tmp_path / "some.arrow", {"parse": np.array([place in kept_indices for place in range(20)])})
    ours = run(tmp_path, outputs, [reference], samples=50, trials=50, sentence_properties=tmp_path / "some.arrow")
    fewer = {name: [lines[place] for place in kept_indices] for name, lines in outputs.items()}
    assert ours == run(tmp_path, fewer, [[reference[place] for place in kept_indices]], samples=50, trials=50)
    options = {"sentence_properties": tmp_path / "some.arrow", "fewest_sentences": len(kept_indices) + 1}
    ((row,), _) = run(tmp_path, outputs, [reference], samples=50, trials=50, **options)
    assert row["p_systems"] == "", "too few sentences were parsed"


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ({"a": "a", "b": "short"}, "short.arrow: 1 sentences, but .*a.arrow has 2; give files of one set"),
        ({"a": "a", "b": "cased"}, "bleu of 'a' was counted as nrefs.* and of 'b' as .*case:mixed.*; count both alike"),
    ],
)
def test_incomparable_files_are_reported(tmp_path: Path, systems: dict[str, str], message: str) -> None:
    write_output_statistics(tmp_path, {"a": ["a b", "c d"]}, [["a b", "c d"]])
    write_output_statistics(tmp_path, {"short": ["a b"]}, [["a b"]])
    write_output_statistics(tmp_path, {"cased": ["a b", "c d"]}, [["a b", "c d"]], lowercase=False)
    files = group_by_system({system: tmp_path / f"{name}.arrow" for system, name in systems.items()})
    outputs = {"comparisons_output": tmp_path / "out", "intervals_output": tmp_path / "intervals"}
    with pytest.raises(InputError, match=message):
        compare_systems(statistics=files, metrics=["bleu"], **outputs)
    assert not (tmp_path / "out").exists() and not (tmp_path / "intervals").exists()
