"""The sign test against rescoring the whole corpus with sacrebleu after every replacement."""

import gzip
import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from pipeline_py.evaluation.metrics.bleu import Bleu
from pipeline_py.evaluation.metrics.comet import Comet
from pipeline_py.evaluation.metrics.ribes import Ribes
from pipeline_py.evaluation.metrics.ter import Ter
from pipeline_py.evaluation.significance.sign_test import (
    SignTestResult,
    TwoWaySignTestResult,
    compute_replacement_scores,
    run_sign_test,
)
from tests.evaluation.statistics_files import compute_statistics

WORDS = ["the", "cat", "sat", "on", "a", "mat", "in", "Garden", ",", "of", "my", "(", "old", ")", "friend", "."]
NEWSTEST = Path(__file__).parents[3] / "../shared/data/newstest_ende"


def sentences(random_state: random.Random, number: int, longest: int) -> list[str]:
    lengths = [random_state.randint(0, longest) for _ in range(number)]
    return [" ".join(random_state.choice(WORDS) for _ in range(length)) for length in lengths]


def disturbed(line: str, random_state: random.Random) -> str:
    return " ".join(random_state.choice([word, word, word, "xx"]) for word in line.split())


def rescored(
    system: list[str], baseline: list[str], references: list[list[str]], lowercase: bool
) -> tuple[float, list[float]]:
    """BLEU of the baseline and, for each i, of the baseline with the system's i-th sentence, by sacrebleu alone."""
    metric = BLEU(lowercase=lowercase)
    replaced = [
        metric.corpus_score([*baseline[:i], system[i], *baseline[i + 1 :]], references).score
        for i in range(len(system))
    ]
    return metric.corpus_score(baseline, references).score, replaced


def two_sided(better: int, worse: int) -> float:
    """The binomial test at 1/2 summed term by term."""
    n = better + worse
    tail = sum(math.comb(n, k) for k in range(max(better, worse), n + 1))
    return min(1.0, 2 * tail / 2**n)


@pytest.mark.parametrize("references", [1, 3])
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("longest", [3, 5, 25])
def test_agrees_with_rescoring_everything(references: int, lowercase: bool, longest: int) -> None:
    state = random.Random(f"{references} {lowercase} {longest}")
    texts = [[line or "mat" for line in sentences(state, 40, longest)] for _ in range(references)]
    system = [disturbed(line, state) for line in texts[-1]]
    baseline = [disturbed(line, state) for line in texts[0]]
    baseline[:8] = system[:8]
    baseline[3] = ""
    score, replaced = rescored(system, baseline, texts, lowercase)
    ours = tuple(compute_statistics(lines, texts, lowercase=lowercase) for lines in (system, baseline))
    assert Bleu.score_corpora(ours[1].sum(axis=1)).tolist() == pytest.approx([score], rel=1e-12)
    assert compute_replacement_scores(*ours, Bleu) == pytest.approx(replaced, abs=1e-9)

    better = sum(value > score + 1e-9 for value in replaced)
    worse = sum(value < score - 1e-9 for value in replaced)
    result = run_sign_test(*ours, Bleu)
    assert result.insertion_test.counts == (better, worse, 40 - better - worse)
    assert result.insertion_test.p_value == pytest.approx(two_sided(better, worse))
    score, replaced = rescored(baseline, system, texts, lowercase)
    lost, won = sum(value > score + 1e-9 for value in replaced), sum(value < score - 1e-9 for value in replaced)
    assert result.replacement_test.counts == (won, lost, 40 - lost - won)
    assert result.replacement_test.p_value == pytest.approx(two_sided(won, lost))
    agree = (better > worse) - (better < worse) == (won > lost) - (won < lost)
    assert result.p_value == (max(result.insertion_test.p_value, result.replacement_test.p_value) if agree else 1.0)
    assert run_sign_test(*reversed(ours), Bleu).p_value == result.p_value, "the order of the systems does not matter"
    assert better + worse > 0 or longest < 4


@settings(max_examples=200)
@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
    st.integers(0, 9),
)
def test_smoothing_is_sacrebleus(matches: list[int], misses: list[int], reference_length: int) -> None:
    ngrams = [a + b for a, b in zip(matches, misses, strict=True)]
    for order in range(1, 4):  # where one order has no n-grams, no higher one has any
        if ngrams[order - 1] == 0:
            ngrams[order] = matches[order] = 0
    row = np.array([[ngrams[0], reference_length, *matches, *ngrams]])
    theirs = BLEU.compute_bleu(list(matches), list(ngrams), ngrams[0], reference_length, smooth_method="exp").score
    assert Bleu.score_corpora(row)[0] == pytest.approx(theirs, rel=1e-12)


def test_equal_scores_from_unequal_counts_are_ties() -> None:
    # 4/8 · 3/8 = 6/8 · 2/8: rounding must not make a plus or a minus of it.
    baseline = np.array([[[8, 8, 4, 3, 1, 1, 8, 8, 8, 8], [0] * 10]])
    system = np.array([[[8, 8, 6, 2, 1, 1, 8, 8, 8, 8], [0] * 10]])
    result = run_sign_test(system, baseline, Bleu)
    assert (*result.insertion_test.counts, result.p_value) == (0, 0, 2, 1.0)


def test_runs_are_replaced_together() -> None:
    """Two runs against two: the mean of their BLEU, rescored after the sentence of both has taken the others' place."""
    state = random.Random(3)
    reference = [line or "mat" for line in sentences(state, 30, 12)]
    system_rows, other_rows = ([[disturbed(line, state) for line in reference] for _ in range(2)] for _ in range(2))
    changes = np.zeros(30)
    for system_row, other_row in zip(system_rows, other_rows, strict=True):
        before, after = rescored(system_row, other_row, [reference], lowercase=True)
        changes += np.array(after) - before
    result = run_sign_test(
        *(np.concatenate([compute_statistics(run, [reference]) for run in runs]) for runs in (system_rows, other_rows)),
        Bleu,
    )
    better, worse = int((changes > 1e-9).sum()), int((changes < -1e-9).sum())
    assert result.insertion_test.counts[:2] == (better, worse) and better > 5 and worse > 5
    assert result.insertion_test.p_value == pytest.approx(two_sided(better, worse))


def test_any_score_of_a_corpus_may_be_tested() -> None:
    """RIBES is a mean over sentences, so each raises it by what it has more than the other's."""
    system_row, other_row = np.array([[[0.4, 1], [0.6, 1], [0.5, 1]]]), np.array([[[0.3, 1], [0.7, 1], [0.5, 1]]])
    result = run_sign_test(system_row, other_row, Ribes)
    assert result.insertion_test.counts == result.replacement_test.counts == (1, 1, 1)


def test_rounding_is_a_tie_where_scores_are_negative() -> None:
    system_row = np.array([[[-0.3, 1], [-0.1, 1], [0.2, 1]]])
    result = run_sign_test(system_row, system_row + np.array([1e-16, 0]), Comet)
    assert result.insertion_test.counts == result.replacement_test.counts == (0, 0, 3)


def test_fewer_edits_are_better() -> None:
    system_row, other_row = np.array([[[1.0, 9], [1, 9], [4, 9]]]), np.array([[[3.0, 9], [2, 9], [2, 9]]])
    result = run_sign_test(system_row, other_row, Ter)
    assert result.insertion_test.counts == result.replacement_test.counts == (2, 1, 0)


@pytest.mark.skipif(not NEWSTEST.is_dir(), reason="needs ../shared/data/newstest_ende, which is not in the repository")
def test_real_references_score_themselves(tmp_path: Path) -> None:
    with gzip.open(NEWSTEST / "newstest2015.de.gz", "rt", encoding="utf-8") as file:
        reference = [next(file).rstrip("\n") for _ in range(40)]
    state = random.Random(2)
    system = [disturbed(line, state) for line in reference]
    ours = compute_statistics(reference, [reference]), compute_statistics(system, [reference])
    assert Bleu.score_corpora(ours[0].sum(axis=1)).tolist() == pytest.approx([100])
    _, replaced = rescored(reference, system, [reference], lowercase=True)
    assert compute_replacement_scores(*ours, Bleu) == pytest.approx(replaced, abs=1e-9)
    assert run_sign_test(*ours, Bleu).insertion_test.worse == 0


def test_directions_that_favour_different_systems_find_nothing() -> None:
    """The reported p-value is the larger one, and 1 where each direction favours another system."""
    for better, worse, expected in ((60, 40, 0.05), (40, 60, 1.0)):
        result = TwoWaySignTestResult(SignTestResult(60, 40, 0, 0.01), SignTestResult(better, worse, 0, 0.05))
        assert result.p_value == expected


def test_short_and_long_outputs_each_improve_the_other() -> None:
    """The brevity penalty turns the sign: one direction alone would be significant for either system."""
    reference = [" ".join(f"w{sentence}.{word}" for word in range(10)) for sentence in range(30)]
    # Without a wrong word, but half as long; and longer than the references, with wrong words.
    short = [" ".join(line.split()[:5]) for line in reference]
    long = [" ".join([*line.split()[:8], *["xx"] * 4]) for line in reference]
    result = run_sign_test(compute_statistics(short, [reference]), compute_statistics(long, [reference]), Bleu)
    score, replaced = rescored(short, long, [reference], lowercase=True)
    assert min(replaced) > score
    score, replaced = rescored(long, short, [reference], lowercase=True)
    assert min(replaced) > score
    assert (result.insertion_test.counts, result.replacement_test.counts) == ((30, 0, 0), (0, 30, 0))
    assert result.insertion_test.p_value == result.replacement_test.p_value == pytest.approx(two_sided(30, 0))
    assert result.p_value == 1.0
    assert (
        run_sign_test(compute_statistics(long, [reference]), compute_statistics(short, [reference]), Bleu).p_value
        == 1.0
    )
