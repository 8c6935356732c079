"""Approximate randomization against corpora written out with their sentences exchanged, and scored by sacrebleu."""

import random

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from pipeline_py.evaluation.metrics.bleu import Bleu
from pipeline_py.evaluation.metrics.comet import Comet
from pipeline_py.evaluation.significance.randomization import compute_randomization_p_value, draw_kept_sentences
from pipeline_py.evaluation.system_statistics import sum_over_samples
from tests.evaluation.statistics_files import compute_statistics

WORDS = ["the", "cat", "sat", "on", "a", "mat", "in", "my", "old", "garden"]


def text(state: random.Random, number: int) -> list[str]:
    return [" ".join(state.choice(WORDS) for _ in range(state.randint(1, 12))) for _ in range(number)]


def disturbed(lines: list[str], state: random.Random, rate: float) -> list[str]:
    return [" ".join("xx" if state.random() < rate else word for word in line.split()) for line in lines]


def ours(first_outputs: list[str], second_outputs: list[str], reference: list[str], trials: int, seed: int) -> float:
    statistics_pair = {
        "one": compute_statistics(first_outputs, [reference]),
        "other": compute_statistics(second_outputs, [reference]),
    }
    kept_mask = sum_over_samples(draw_kept_sentences(len(reference), trials, seed), statistics_pair)
    return compute_randomization_p_value(
        statistics_pair["one"].sum(axis=1),
        kept_mask["one"],
        statistics_pair["other"].sum(axis=1),
        kept_mask["other"],
        Bleu,
    )


def test_agrees_with_exchanged_corpora() -> None:
    state = random.Random(1)
    reference = text(state, 15)
    first_outputs, second_outputs = (disturbed(reference, state, rate) for rate in (0.2, 0.35))
    kept_mask = np.random.default_rng(3).integers(2, size=(60, 15), dtype=bool)

    def score(lines: list[str]) -> float:
        return BLEU().corpus_score(lines, [reference]).score

    difference = abs(score(first_outputs) - score(second_outputs))
    as_large = 0
    for keeps in kept_mask:
        pairs = [*zip(first_outputs, second_outputs, keeps, strict=True)]
        first = [mine if keep else theirs for mine, theirs, keep in pairs]
        second = [theirs if keep else mine for mine, theirs, keep in pairs]
        as_large += abs(score(first) - score(second)) >= difference - 1e-9
    assert 0 < as_large < 60
    assert ours(first_outputs, second_outputs, reference, 60, 3) == pytest.approx((1 + as_large) / 61)


def test_systems_with_at_most_one_different_sentence_do_not_differ_significantly() -> None:
    state = random.Random(2)
    reference = text(state, 20)
    second_outputs = disturbed(reference, state, 0.3)
    assert ours(second_outputs, second_outputs, reference, 200, 1) == 1.0
    assert ours([reference[0], *second_outputs[1:]], second_outputs, reference, 200, 1) == 1.0


def test_equal_systems_do_not_differ_where_scores_are_negative() -> None:
    statistics = np.array([[[-0.3, 1], [-0.1, 1], [0.2, 1], [-0.4, 1]]])
    kept_sums = sum_over_samples(draw_kept_sentences(4, 100, 1), {"one": statistics})["one"]
    sums = statistics.sum(axis=1)
    assert compute_randomization_p_value(sums, kept_sums, sums, kept_sums, Comet) == 1.0


def test_a_clear_difference_is_found() -> None:
    state = random.Random(3)
    reference = text(state, 60)
    assert ours(reference, disturbed(reference, state, 0.5), reference, 499, 1) == pytest.approx(1 / 500)
