"""CUDA graphs of functions, recorded once for each shape of the inputs."""

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor

Computation = Callable[[], Any]

LENGTH_MULTIPLE = 8
"""Multiple to which lengths are rounded up, which reduces the number of graphs."""

CALLS_BEFORE_RECORDING = 2
"""Number of calls with a shape before it is recorded."""

WARM_UP_RUNS = 3
"""Number of runs before recording, in which libraries select algorithms and allocate memory."""


@dataclass
class _Recording:
    """A recorded graph with its input buffers and the tensors last copied to them."""

    input_buffers: list[Tensor]
    last_inputs: list[Tensor]
    replay: Computation


class GraphedFunction:
    """A function whose calls are recorded as a graph for each input shape, and then replayed.

    Inputs and outputs are tensors in nested tuples, dictionaries and dataclasses. Inputs have the same shape if they
    differ only in the values of tensors. These tensors must not be changed in place.
    """

    def __init__(self, function: Callable[..., Any], recorder: Callable[[Computation], Computation]) -> None:
        """Wrap a function.

        Args:
            function: its operations depend only on the shape of its inputs, and it does not synchronize.
            recorder: turns a computation into one that replays it in the same memory.
        """
        self._function = function
        self._recorder = recorder
        self._call_counts: Counter[Hashable] = Counter()
        self._recordings: dict[Hashable, _Recording] = {}

    def __call__(self, *inputs: Any) -> Any:
        """Compute the function; the next call may overwrite the result."""
        parts = flatten_nested(inputs)
        shape = tuple(part.shape if isinstance(part, Tensor) else part for part in parts)
        self._call_counts[shape] += 1
        if self._call_counts[shape] <= CALLS_BEFORE_RECORDING:
            return self._function(*inputs)
        tensors = [part for part in parts if isinstance(part, Tensor)]
        if shape not in self._recordings:
            self._recordings[shape] = self._create_recording(inputs, tensors)
        recording = self._recordings[shape]
        for read, before, new in zip(recording.input_buffers, recording.last_inputs, tensors, strict=True):
            if new is not before:
                read.copy_(new, non_blocking=True)
        recording.last_inputs = tensors
        # New tensor objects, which are copied again when they are the next inputs.
        return _map_tensors(recording.replay(), Tensor.detach)

    def _create_recording(self, inputs: Any, tensors: list[Tensor]) -> _Recording:
        input_copies = _map_tensors(inputs, Tensor.clone)
        read = [part for part in flatten_nested(input_copies) if isinstance(part, Tensor)]
        return _Recording(read, tensors, self._recorder(lambda: self._function(*input_copies)))


class GraphedLoop:
    """The steps of loops, which change tensors in place and are recorded as a graph for each shape of these tensors.

    The tensors are in nested tuples, dictionaries and dataclasses, as in `GraphedFunction`.
    """

    def __init__(
        self, step: Callable[..., None], recorder: Callable[[Computation], Computation], max_recordings: int
    ) -> None:
        """Wrap a step.

        Args:
            step: its operations depend only on the shape of its inputs, and it does not synchronize.
            recorder: turns a computation into one that replays it in the same memory.
            max_recordings: maximum number of recordings, whose tensors take memory; at least 2, since a memory pool
                without a graph cannot be used again.
        """
        assert max_recordings >= 2
        self._step = step
        self._recorder = recorder
        self._max_recordings = max_recordings
        self._recordings: dict[Hashable, tuple[Any, Computation]] = {}

    def load(self, *inputs: Any) -> tuple[Any, Computation]:
        """Start a loop, which ends the previous one.

        Returns:
            The nested inputs with recorded tensors of the same values, and a function that computes one step on them.
        """
        parts = flatten_nested(inputs)
        shape = tuple(part.shape if isinstance(part, Tensor) else part for part in parts)
        recording = self._recordings.pop(shape, None)
        if recording is None:
            if len(self._recordings) == self._max_recordings:  # its memory is free before a new recording takes some
                del self._recordings[next(iter(self._recordings))]
            recording = self._record(inputs)
        buffers, replay = self._recordings[shape] = recording  # most recently used last
        copy_tensors(inputs, buffers)
        return buffers, replay

    def _record(self, inputs: Any) -> tuple[Any, Computation]:
        buffers = _map_tensors(inputs, Tensor.clone)
        return buffers, self._recorder(lambda: self._step(*buffers))


def build_cuda_recorder() -> Callable[[Computation], Computation]:
    """Build a recorder of CUDA graphs with a shared memory pool; graphs must not run concurrently."""
    pool = torch.cuda.graph_pool_handle()

    def record_graph(computation: Computation) -> Computation:
        random_state = torch.cuda.get_rng_state()
        warm_up_stream = torch.cuda.Stream()
        warm_up_stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(warm_up_stream):
            for _ in range(WARM_UP_RUNS):
                computation()
        torch.cuda.current_stream().wait_stream(warm_up_stream)
        torch.cuda.set_rng_state(random_state)  # recording does not change the random numbers
        graph = torch.cuda.CUDAGraph()
        # Other threads, such as the watchdog of NCCL, may call CUDA during the recording.
        with torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
            outputs = computation()

        def replay() -> Any:
            graph.replay()
            return outputs

        return replay

    return record_graph


def copy_tensors(source: Any, target: Any) -> None:
    """Copy all tensors of a nested value to those of a target of the same shape, except the same tensors."""
    for new, buffer in zip(flatten_nested(source), flatten_nested(target), strict=True):
        if isinstance(buffer, Tensor) and new is not buffer:
            buffer.copy_(new, non_blocking=True)


def write_entry(table: Tensor, index: Tensor, entry: Tensor, dim: int = 0) -> None:
    """Write an entry (…) in place at an index (1,) of the dimension `dim` of a table.

    In its deterministic mode torch first sorts the indices, since equal ones are written in any order. One index needs
    no sort, and a single kernel.
    """
    mode = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("default")
    try:
        table.index_copy_(dim, index, entry.unsqueeze(dim))
    finally:
        torch.set_deterministic_debug_mode(mode)


def _map_tensors(value: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """Apply a function to all tensors of a nested value."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, dict):
        return {key: _map_tensors(part, function) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return tuple(_map_tensors(part, function) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{field.name: _map_tensors(getattr(value, field.name), function) for field in fields(value)}
        )
    return value


def flatten_nested(value: Any) -> list[Any]:
    """List all leaves of a nested value: tensors, numbers, None."""
    if isinstance(value, dict):
        value = tuple(value.items())
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in flatten_nested(part)]
    if is_dataclass(value) and not isinstance(value, type):
        return [leaf for field in fields(value) for leaf in flatten_nested(getattr(value, field.name))]
    return [value]
