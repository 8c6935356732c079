"""Tests of recorded loops and of writes at an index on the device."""

import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from pipeline_py.nmt.fast.cuda_graphs import GraphedLoop, copy_tensors, write_entry
from tests.nmt.fake_graph_recorder import FakeGraphRecorder


@dataclass(frozen=True)
class Counter:
    """Counts in place, by steps of `step_size`."""

    values: Tensor
    step_size: int = 1

    def advance(self, increments: tuple[Tensor, ...]) -> None:
        self.values.add_(self.step_size * sum(increments))


def test_loops_start_from_their_inputs_and_change_only_recorded_tensors() -> None:
    recorder = FakeGraphRecorder()
    loop = GraphedLoop(Counter.advance, recorder, max_recordings=8)
    for start in (0.0, 5.0, -1.0):
        counter, increments = Counter(torch.full((3,), start)), (torch.ones(3), torch.arange(3.0))
        (recorded, _), compute_step = loop.load(counter, increments)
        for step in range(1, 4):
            compute_step()
            assert torch.equal(recorded.values, start + step * torch.tensor([1.0, 2.0, 3.0]))
        assert torch.equal(counter.values, torch.full((3,), start))
    assert (recorder.record_count, recorder.replay_count) == (1, 9)


def test_loops_are_recorded_for_each_shape_and_the_last_used_are_kept() -> None:
    recorder = FakeGraphRecorder()
    loop = GraphedLoop(Counter.advance, recorder, max_recordings=2)
    first, second, third = Counter(torch.zeros(1)), Counter(torch.zeros(2)), Counter(torch.zeros(1), step_size=2)
    for counter, expected in ((first, 1), (second, 2), (first, 2), (third, 3), (first, 3), (second, 4), (third, 5)):
        (recorded, _), compute_step = loop.load(counter, (torch.ones(1),))
        compute_step()
        assert recorded.values.tolist() == [counter.step_size] * len(counter.values)
        assert recorder.record_count == expected


def test_the_oldest_recording_is_dropped_before_the_next_one_takes_memory() -> None:
    buffers: list[weakref.ref[Tensor]] = []
    live_counts = []

    def record(computation: Callable[[], None]) -> Callable[[], None]:
        live_counts.append(sum(buffer() is not None for buffer in buffers))
        return computation

    loop = GraphedLoop(Counter.advance, record, max_recordings=2)
    for size in range(1, 5):
        buffers.append(weakref.ref(loop.load(Counter(torch.zeros(size)), (torch.ones(1),))[0][0].values))
    assert live_counts == [0, 1, 1, 1]


def test_tensors_are_copied_unless_they_are_the_same() -> None:
    target = Counter(torch.zeros(2))
    values, version = target.values, target.values._version
    copy_tensors(replace(target, step_size=3), target)
    assert values._version == version
    copy_tensors([Counter(torch.ones(2))], [target])
    assert target.values is values and values.tolist() == [1, 1]


def test_entries_are_written_at_an_index_of_a_dimension() -> None:
    table, entry = torch.zeros(2, 4, 3), torch.arange(1.0, 7.0).view(2, 3)
    mode = torch.get_deterministic_debug_mode()
    try:
        torch.set_deterministic_debug_mode("error")
        write_entry(table, torch.tensor([2]), entry, dim=1)
        assert torch.are_deterministic_algorithms_enabled()
    finally:
        torch.set_deterministic_debug_mode(mode)
    assert torch.equal(table[:, 2], entry) and table.sum() == entry.sum()
