"""Forecasts of time, beside schedules worked out by hand and by a search through all orders."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_py.forecast import Machine, Planned, duration, told


def planned(
    seconds: float, after: tuple[int, ...] = (), threads: int = 1, stage: str = "room/stage", cards: int = 0
) -> Planned:
    return Planned(stage, seconds, after, threads, cards)


def shortest(jobs: list[Planned], lanes: int) -> float:
    """The best of all orders in which jobs of one thread may be handed out."""

    def end_of(order: tuple[int, ...]) -> float:
        free, ends = [0.0] * lanes, {}
        for place in order:
            if not {*jobs[place].after} <= ends.keys():
                return float("inf")
            lane = free.index(min(free))
            begin = max([free[lane], *(ends[earlier] for earlier in jobs[place].after)])
            free[lane] = ends[place] = begin + jobs[place].seconds
        return max(ends.values())

    return min(map(end_of, permutations(range(len(jobs)))))


def test_one_lane_takes_the_sum_and_many_the_longest_chain() -> None:
    jobs = [planned(3), planned(4, (0,)), planned(5), planned(1, (1, 2))]
    assert duration(jobs, Machine(1)) == 13
    assert duration(jobs, Machine()) == 8
    assert duration(jobs, Machine(2)) == 8


def test_the_longest_way_goes_first() -> None:
    """Three jobs and a chain of three, a second each: two lanes need three seconds only if the chain begins at once."""
    jobs = [planned(1), planned(1), planned(1), planned(1), planned(1, (3,)), planned(1, (4,))]
    assert duration(jobs, Machine(2)) == 3


def test_threads_fill_lanes_and_no_job_is_wider_than_all_of_them() -> None:
    assert duration([planned(2, threads=2), planned(2, threads=2)], Machine(2)) == 4
    assert duration([planned(2, threads=2), planned(2, threads=1), planned(2, threads=1)], Machine(3)) == 4
    assert duration([planned(2, threads=8), planned(3, threads=1)], Machine(4)) == 5


def test_cards_are_taken_one_by_one() -> None:
    jobs = [planned(5, cards=1), planned(5, cards=1), planned(4)]
    assert duration(jobs, Machine(8, 1)) == 10
    assert duration(jobs, Machine(8, 2)) == duration(jobs, Machine(8)) == 5


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.sets(st.integers(0, 4))), min_size=1, max_size=5), st.integers(1, 3))
def test_never_beside_the_truth(described: list[tuple[int, set[int]]], lanes: int) -> None:
    """A list schedule is never shorter than the best one, and at most twice as long (Graham 1966)."""
    jobs = [planned(seconds, tuple(x for x in after if x < place)) for place, (seconds, after) in enumerate(described)]
    best = shortest(jobs, lanes)
    assert best <= duration(jobs, Machine(lanes)) <= (2 - 1 / lanes) * best


def test_what_is_told() -> None:
    jobs = [
        planned(0.5, stage="corpus/clean"),
        planned(100, (0,), stage="nmt/train"),
        planned(140, (0,), stage="nmt/train"),
        planned(0, (1, 2), stage=""),
    ]
    assert told(jobs, Machine(2), seen=0).splitlines() == [
        "What will run, and about how long:",
        "  nmt/train      2 × 2 min   = 4 min",
        "  others         1 × 0.5 s   = 0.5 s",
        "Together about 2 min on 2 cores (by the embedded experiment and the size of this one; "
        "better known once some of it has run).",
    ]
    assert told(jobs, Machine(1), seen=2).splitlines()[-1] == (
        "Together about 4 min on 1 core (2 of 3 jobs as they took here before, the others by their like)."
    )
    assert told(jobs, Machine(), seen=3).splitlines()[-1] == (
        "Together about 2 min on the cluster, time in its queue left out (as these jobs took here before)."
    )
    on_card = [job._replace(cards=1) if job.stage == "nmt/train" else job for job in jobs]
    assert "networks as on a CPU" in told(on_card, Machine(2, 1), seen=0)


def test_nothing_is_told_of_targets_alone() -> None:
    assert told([planned(0, stage="")], Machine(2), seen=0) == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (9.94, "9.9 s"), (12, "12 s"), (300, "5 min"), (9000, "2.5 h"), (3e5, "3 days")],
)
def test_times_have_the_precision_of_a_forecast(seconds: float, text: str) -> None:
    assert told([planned(seconds)], Machine(1), seen=1).splitlines()[-1].startswith(f"Together about {text} on 1 core")
