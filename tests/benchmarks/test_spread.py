"""Medians, spreads and ratios agree with numbers worked out by hand."""

from benchmarks.rounds import Measured
from benchmarks.spread import ratio, spread


def test_a_spread_is_median_lowest_and_highest() -> None:
    assert spread([3.0, 10.0, 1.0]) == (3.0, 1.0, 10.0)
    assert spread([4.0, 1.0, 2.0, 8.0]) == (3.0, 1.0, 8.0)


def test_ratios_are_taken_round_by_round() -> None:
    # 8/4, 3/1 and 5/5: their median is 2, while that of 3, 5, 8 to that of 1, 4, 5 would be 1.25.
    assert ratio([8.0, 3.0, 5.0], [4.0, 1.0, 5.0]) == (2.0, 1.0, 3.0)


def test_rates_are_of_each_round_and_memory_is_the_most_of_all() -> None:
    ours = Measured(
        [{"seconds": 2.0, "words": 100, "peak_memory": 5e6}, {"seconds": 4.0, "words": 100, "peak_memory": 7e6}]
    )
    other = Measured([{"seconds": 4.0, "words": 100}, {"seconds": 16.0, "words": 100}])
    assert ours.rates("words") == [50.0, 25.0]
    assert ours.rate("words") == (37.5, 25.0, 50.0)
    assert ours.times_as_fast_as(other, "words") == (3.0, 2.0, 4.0)
    assert ours.peak_memory == 7.0
