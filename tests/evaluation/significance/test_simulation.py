"""Simulated experiments: coverage of intervals, power at the detectable difference, and false positives of marks.

Scores of a system are its true score plus three errors: the sentences of the set, shared by its runs; the run; and the
sentences of that run alone. The bootstrap sees the first and the third, the variance between runs the second and the
third.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
import pytest

from pipeline_py.evaluation.compare_systems import SYSTEM_COMPARISON_COLUMNS, PairwiseComparison
from pipeline_py.evaluation.metrics.bleu import Bleu
from pipeline_py.evaluation.significance.system_difference import SystemDifference, SystemScores, estimate_difference
from pipeline_py.evaluation.system_statistics import SystemStatistics

pytestmark = pytest.mark.slow

TRIALS = 2500
CHANCE = 0.011
"""2.5 standard errors of a share of 95 % in that many trials."""


@dataclass(frozen=True)
class Setting:
    """Numbers of runs, standard deviations of both systems between runs, of sentences, and of sentences of one run."""

    runs: tuple[int, int]
    spreads: tuple[float, float]
    sentences: float
    noise: float = 0.0
    pool: int = 0

    def scores(self, generator: np.random.Generator, level: float) -> tuple[SystemScores, SystemScores]:
        """Draw two systems whose true scores differ by a level."""
        sentences = generator.normal(scale=self.sentences)
        moved = generator.normal(scale=self.sentences, size=150)
        return (
            self._draw(generator, self.runs[0], self.spreads[0], level + sentences, moved),
            self._draw(generator, self.runs[1], self.spreads[1], 0.0, np.zeros(150)),
        )

    def difference(self, generator: np.random.Generator, level: float) -> SystemDifference:
        """Draw an experiment and estimate the difference."""
        system_scores, other_scores = self.scores(generator, level)
        pool = [self._draw(generator, 3, self.spreads[0], 0.0, np.zeros(150)) for _ in range(self.pool)]
        return estimate_difference(system_scores, other_scores, [system_scores, other_scores, *pool], self.spreads[0])

    def _draw(
        self, generator: np.random.Generator, runs: int, spread: float, level: float, moved: np.ndarray
    ) -> SystemScores:
        scores = level + generator.normal(scale=sqrt(spread**2 + self.noise**2), size=runs)
        resampled = scores[:, None] + moved + generator.normal(scale=self.noise, size=(runs, 150))
        return SystemScores(scores, resampled, True)


SETTINGS = {
    "equal spreads": Setting((3, 3), (1, 1), 0.3),
    "equal spreads, many sentences": Setting((3, 3), (1, 1), 0.01),
    "sentences dominate": Setting((3, 3), (0.3, 0.3), 1.0),
    "noise of sentences dominates": Setting((3, 3), (0.3, 0.3), 0.1, noise=1.0),
    "noise and runs alike": Setting((3, 3), (0.7, 0.7), 0.3, noise=0.7),
    "one system dominates": Setting((3, 3), (1, 0.1), 0.3),
    "one system dominates, sentences alike": Setting((3, 3), (1, 0.1), 0.5),
    "one system varies twice as much": Setting((3, 3), (1, 0.5), 0.3),
    "unequal numbers of runs": Setting((3, 5), (1, 1), 0.3),
    "the system with fewer runs dominates": Setting((3, 10), (1, 0.3), 0.3),
    "the system with more runs dominates": Setting((3, 10), (0.3, 1), 0.3),
    "five runs, one dominates": Setting((5, 5), (1, 0.2), 0.3),
    "single runs, default": Setting((1, 1), (0.6, 0.6), 0.5, noise=0.0),
    "single runs, pooled": Setting((1, 1), (0.6, 0.6), 0.4, noise=0.4, pool=4),
    "one run against three, pooled": Setting((1, 3), (0.6, 0.6), 0.3, pool=4),
    "one run against three of the only system": Setting((1, 3), (0.6, 0.6), 0.3),
}


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_coverage_and_power(setting: Setting) -> None:
    generator = np.random.default_rng(1)
    null = [setting.difference(generator, 0.0) for _ in range(TRIALS)]
    covered = np.mean([result.low <= 0 <= result.high for result in null])
    assert 0.94 - CHANCE <= covered <= 0.97 + CHANCE
    assert np.mean([result.p_value < 0.05 for result in null]) == pytest.approx(1 - covered)
    assert np.mean([result.p_value < 0.01 for result in null]) <= 0.012 + CHANCE / 2
    level = float(np.mean([result.smallest_detectable for result in null]))
    power = np.mean([setting.difference(generator, level).is_gain for _ in range(TRIALS)])
    assert 0.77 - 2 * CHANCE <= power <= 0.83 + 2 * CHANCE


def draw_statistics(
    generator: np.random.Generator, difficulty: np.ndarray, runs: int, spread: float
) -> SystemStatistics:
    """Draw BLEU statistics of runs of a system whose sentences match as their difficulty and the run have it."""
    words = 12
    rows = []
    for _ in range(runs):
        accuracy = 1 / (1 + np.exp(-(difficulty + generator.normal(scale=spread))))
        matches = [generator.binomial(words - order, accuracy**order) for order in range(1, 5)]
        totals = [np.full(len(difficulty), words - order) for order in range(1, 5)]
        lengths = [np.full(len(difficulty), words)] * 2
        rows.append(np.stack([*lengths, *matches, *totals], axis=1))
    return SystemStatistics(np.stack(rows).astype(float), Bleu)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runs", "spread", "tests"),
    [
        ((3, 3), 0.1, ["p_systems"]),
        ((3, 5), 0.1, ["p_systems"]),
        # Outputs of equal systems that differ in no run have the same distribution, so every test keeps its level.
        ((1, 1), 0.0, ["p_systems", "p_sign", "p_bootstrap", "p_randomization"]),
        ((3, 3), 0.0, ["p_systems", "p_sign", "p_bootstrap", "p_randomization"]),
    ],
)
def test_false_positives_of_marks(runs: tuple[int, int], spread: float, tests: list[str]) -> None:
    """Equal systems get a mark in at most 6 % of experiments at the level of 5 %, and it may favour either side."""
    generator = np.random.default_rng(2)
    trials, significant = 1500, dict.fromkeys(tests, 0)
    for _ in range(trials):
        difficulty = generator.normal(0.7, 0.8, size=200)
        systems = {
            name: draw_statistics(generator, difficulty, number, spread)
            for name, number in zip("AB", runs, strict=True)
        }
        comparison = PairwiseComparison(systems, 0.0, {}, 400, 400, int(generator.integers(10**6)), can_infer=True)
        (row,) = comparison.build_comparison_rows()
        p_values = dict(zip(SYSTEM_COMPARISON_COLUMNS[1:], row, strict=True))
        for test in tests:
            significant[test] += p_values[test] is not None and float(p_values[test]) < 0.05
    # two standard errors above 6 %
    assert all(count / trials <= 0.06 + 0.012 for count in significant.values()), significant
