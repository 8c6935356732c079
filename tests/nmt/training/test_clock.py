"""Time on the wall, of processors and of waiting is added up where it is spent."""

import time
from dataclasses import asdict

import pytest

from pipeline_py.nmt.training import monitoring
from pipeline_py.nmt.training.checkpoint import TrainingState
from pipeline_py.nmt.training.monitoring import TrainingClock
from pipeline_py.run.cpu_usage import CpuUsage


class Counted(CpuUsage):
    """A fake CPU usage with fixed counts."""

    def __init__(self, cpu: float | None = 0.0, waited: float | None = 0.0) -> None:
        self.counts = [cpu, waited]

    def measure_cpu_seconds(self) -> float | None:
        return self.counts[0]

    def measure_cpu_wait_seconds(self) -> float | None:
        return self.counts[1]


@pytest.fixture
def times(monkeypatch):
    """The time, which stands still until it is set."""
    held = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: held[0])
    monkeypatch.setattr(monitoring, "get_machine_load", lambda: 1.5)
    return held


def spend(times: list[float], counted: Counted, wall: float, cpu: float, waited: float) -> None:
    times[0] += wall
    counted.counts = [counted.counts[0] + cpu, counted.counts[1] + waited]


def test_updates_and_the_rest_are_told_apart(times):
    state, counted = TrainingState(), Counted(7.0, 3.0)
    ticking = TrainingClock(counted)
    spend(times, counted, 10, 4, 6)
    ticking.tick(state, is_training=True)
    assert (state.training_seconds, state.training_cpu_seconds, state.cpu_wait_seconds) == (10, 4, 0)
    spend(times, counted, 2, 1, 1)
    ticking.tick(state)
    assert (state.elapsed_seconds, state.cpu_seconds) == (12, 5)
    assert (state.training_seconds, state.training_cpu_seconds) == (10, 4)
    assert (state.cpu_wait_seconds, state.load_weighted_seconds) == (7, 18)
    state.target_words = 80
    assert state.words_per_second == 8 and state.words_per_cpu_second == 20


def test_a_resumed_run_adds_to_what_was_before(times):
    state, counted = TrainingState(), Counted()
    spend(times, counted, 5, 2, 3)
    TrainingClock(Counted(0.0, 0.0))  # of the run that was killed
    ticking = TrainingClock(counted)
    spend(times, counted, 5, 2, 3)
    ticking.tick(state)
    state, again = TrainingState(**asdict(state)), Counted()
    ticking = TrainingClock(again)
    spend(times, again, 5, 4, 1)
    ticking.tick(state)
    assert (state.elapsed_seconds, state.cpu_seconds, state.cpu_wait_seconds) == (10, 6, 4)


def test_long_stretches_of_updates_are_metered_on_the_way(times):
    state, counted = TrainingState(), Counted()
    ticking = TrainingClock(counted)
    for _ in range(4):
        spend(times, counted, 10, 9, 1)
        ticking.tick(state, is_training=True)
    assert state.cpu_wait_seconds == 4 and state.load_weighted_seconds == 60


def test_what_is_not_known_once_is_not_known_of_the_run(times):
    state, counted = TrainingState(), Counted(1.0, None)
    ticking = TrainingClock(counted)
    counted.counts = [2.0, 5.0]
    ticking.tick(state)
    assert state.cpu_seconds == 1 and state.cpu_wait_seconds is None
    counted.counts = [None, 5.0]
    ticking.tick(state)
    counted.counts = [9.0, 5.0]
    ticking.tick(state, is_training=True)
    assert state.cpu_seconds is None and state.words_per_cpu_second is None
    assert (state.elapsed_seconds, state.words_per_second) == (0, 0)


def test_threads_that_ended_do_not_make_the_sum_smaller(times):
    state, counted = TrainingState(), Counted(0.0, 8.0)
    ticking = TrainingClock(counted)
    counted.counts = [1.0, 2.0]
    ticking.tick(state)
    assert state.cpu_wait_seconds == 0
