"""Networks are measured in turns, and medians, ranges and ratios agree with numbers computed by hand."""

from collections.abc import Callable
from itertools import count
from typing import Any

from benchmarks.rounds import RoundMeasurements, run_alternating_rounds, summarize_numbers, summarize_ratios


def test_every_side_has_a_turn_in_every_round_and_the_order_is_reversed() -> None:
    turn_order: list[str] = []
    clock = count()

    def build_side(name: str) -> Callable[[], dict[str, Any]]:
        def turn() -> dict[str, Any]:
            turn_order.append(name)
            return {"seconds": next(clock)}

        return turn

    measured = run_alternating_rounds(
        {name: build_side(name) for name in "abc"}, round_count=2, warm_up_rounds=1, progress_label="test"
    )
    assert "".join(turn_order) == "abc" + "cba" + "abc"
    assert {name: [turn["seconds"] for turn in rounds.measurements] for name, rounds in measured.items()} == {
        "a": [5, 6],
        "b": [4, 7],
        "c": [3, 8],
    }


def test_a_spread_is_median_lowest_and_highest() -> None:
    assert summarize_numbers([3.0, 10.0, 1.0]) == (3.0, 1.0, 10.0)
    assert summarize_numbers([4.0, 1.0, 2.0, 8.0]) == (3.0, 1.0, 8.0)


def test_ratios_are_taken_round_by_round() -> None:
    # 8/4, 3/1 and 5/5: their median is 2, while that of 3, 5, 8 to that of 1, 4, 5 would be 1.25.
    assert summarize_ratios([8.0, 3.0, 5.0], [4.0, 1.0, 5.0]) == (2.0, 1.0, 3.0)


def test_rates_are_of_each_round_and_memory_is_the_maximum() -> None:
    ours = RoundMeasurements(
        [{"seconds": 2.0, "words": 100, "peak_memory": 5e6}, {"seconds": 4.0, "words": 100, "peak_memory": 7e6}]
    )
    theirs = RoundMeasurements([{"seconds": 4.0, "words": 100}, {"seconds": 16.0, "words": 100}])
    assert ours.compute_rates("words") == [50.0, 25.0]
    assert ours.summarize_rates("words") == (37.5, 25.0, 50.0)
    assert ours.summarize_speedup(theirs, "words") == (3.0, 2.0, 4.0)
    assert ours.peak_megabytes == 7.0
