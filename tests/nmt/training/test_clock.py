"""Time on the wall, of processors and of waiting is added up where it is spent."""

import time
from dataclasses import asdict

import pytest

from pipeline_py.nmt.training import monitoring
from pipeline_py.nmt.training.checkpoint import TrainingState
from pipeline_py.nmt.training.monitoring import TrainingClock
from pipeline_py.run.cpu_usage import CpuUsage


class Counted(CpuUsage):
    """What is told to have been counted."""

    def __init__(self, cpu: float | None = 0.0, waited: float | None = 0.0) -> None:
        self.told = [cpu, waited]

    def cpu(self) -> float | None:
        return self.told[0]

    def waited(self) -> float | None:
        return self.told[1]


@pytest.fixture
def now(monkeypatch):
    """The time, which stands still until it is set."""
    held = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: held[0])
    monkeypatch.setattr(monitoring, "load", lambda: 1.5)
    return held


def spend(now: list[float], counted: Counted, wall: float, cpu: float, waited: float) -> None:
    now[0] += wall
    counted.told = [counted.told[0] + cpu, counted.told[1] + waited]


def test_updates_and_the_rest_are_told_apart(now):
    state, counted = TrainingState(), Counted(7.0, 3.0)
    ticking = TrainingClock(counted)
    spend(now, counted, 10, 4, 6)
    ticking.tick(state, is_training=True)
    assert (state.training_seconds, state.training_cpu_seconds, state.cpu_wait_seconds) == (10, 4, 0)
    spend(now, counted, 2, 1, 1)
    ticking.tick(state)
    assert (state.elapsed_seconds, state.cpu_seconds) == (12, 5)
    assert (state.training_seconds, state.training_cpu_seconds) == (10, 4)
    assert (state.cpu_wait_seconds, state.load_weighted_seconds) == (7, 18)
    state.target_words = 80
    assert state.words_per_second == 8 and state.words_per_cpu_second == 20


def test_a_resumed_run_adds_to_what_was_before(now):
    state, counted = TrainingState(), Counted()
    spend(now, counted, 5, 2, 3)
    TrainingClock(Counted(0.0, 0.0))  # of the run that was killed
    ticking = TrainingClock(counted)
    spend(now, counted, 5, 2, 3)
    ticking.tick(state)
    state, again = TrainingState(**asdict(state)), Counted()
    ticking = TrainingClock(again)
    spend(now, again, 5, 4, 1)
    ticking.tick(state)
    assert (state.elapsed_seconds, state.cpu_seconds, state.cpu_wait_seconds) == (10, 6, 4)


def test_long_stretches_of_updates_are_metered_on_the_way(now):
    state, counted = TrainingState(), Counted()
    ticking = TrainingClock(counted)
    for _ in range(4):
        spend(now, counted, 10, 9, 1)
        ticking.tick(state, is_training=True)
    assert state.cpu_wait_seconds == 4 and state.load_weighted_seconds == 60


def test_what_is_not_known_once_is_not_known_of_the_run(now):
    state, counted = TrainingState(), Counted(1.0, None)
    ticking = TrainingClock(counted)
    counted.told = [2.0, 5.0]
    ticking.tick(state)
    assert state.cpu_seconds == 1 and state.cpu_wait_seconds is None
    counted.told = [None, 5.0]
    ticking.tick(state)
    counted.told = [9.0, 5.0]
    ticking.tick(state, is_training=True)
    assert state.cpu_seconds is None and state.words_per_cpu_second is None
    assert (state.elapsed_seconds, state.words_per_second) == (0, 0)


def test_threads_that_ended_do_not_make_the_sum_smaller(now):
    state, counted = TrainingState(), Counted(0.0, 8.0)
    ticking = TrainingClock(counted)
    counted.told = [1.0, 2.0]
    ticking.tick(state)
    assert state.cpu_wait_seconds == 0
