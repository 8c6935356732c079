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

    def __init__(
        self,
        function: Callable[..., Any],
        recorder: Callable[[Computation], Computation],
        max_recordings: int | None = None,
    ) -> None:
        """Wrap a function.

        Args:
            function: its operations depend only on the shape of its inputs, and it does not synchronize.
            recorder: turns a computation into one that replays it in the same memory.
            max_recordings: maximum number of recordings, whose outputs take memory; None: unlimited.
        """
        self._max_recordings = max_recordings
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
        recording = self._recordings.pop(shape, None) or self._create_recording(inputs, tensors)
        self._recordings[shape] = recording  # most recently used last
        if self._max_recordings is not None and len(self._recordings) > self._max_recordings:
            del self._recordings[next(iter(self._recordings))]
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
        with torch.cuda.graph(graph, pool=pool):
            outputs = computation()

        def replay() -> Any:
            graph.replay()
            return outputs

        return replay

    return record_graph


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
