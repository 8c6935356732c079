"""What a GPU computes, recorded once for each shape of what is given and then replayed."""

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor

Computation = Callable[[], Any]

LENGTH_MULTIPLE = 8
"""Where graphs are recorded, lengths are rounded up to multiples of it: few shapes are few graphs."""

CALLS_BEFORE_RECORDING = 2
"""How often a shape is computed before it is worth recording."""

WARM_UP_RUNS = 3
"""Times that something runs before it is recorded, for libraries to choose their ways and to set up memory."""


@dataclass
class _Recording:
    """The tensors that a recording reads, to be overwritten, those that were copied there last, and what replays it."""

    input_buffers: list[Tensor]
    last_inputs: list[Tensor]
    replay: Computation


class GraphedFunction:
    """Computes a function, where it can by replaying what was recorded when it was given something of the same shape.

    What is given and computed are tensors, in any nesting of tuples, dictionaries and dataclasses. Of the same shape is
    what differs in the numbers of its tensors alone. None of these tensors may be changed in place.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        recorder: Callable[[Computation], Computation],
        max_recordings: int | None = None,
    ) -> None:
        """Record nothing yet.

        Args:
            function: the function; what it does follows from the shape of what it is given, and it waits for no device.
            recorder: makes of something what does it again, with the same memory.
            max_recordings: the most recordings, whose results take memory; None: as many as there are shapes.
        """
        self._max_recordings = max_recordings
        self._function = function
        self._recorder = recorder
        self._call_counts: Counter[Hashable] = Counter()
        self._recordings: dict[Hashable, _Recording] = {}

    def __call__(self, *inputs: Any) -> Any:
        """Compute; the next call may overwrite the result."""
        parts = flatten_nested(inputs)
        shape = tuple(part.shape if isinstance(part, Tensor) else part for part in parts)
        self._call_counts[shape] += 1
        if self._call_counts[shape] <= CALLS_BEFORE_RECORDING:
            return self._function(*inputs)
        tensors = [part for part in parts if isinstance(part, Tensor)]
        recording = self._recordings.pop(shape, None) or self._create_recording(inputs, tensors)
        self._recordings[shape] = recording  # behind those that were used before
        if self._max_recordings is not None and len(self._recordings) > self._max_recordings:
            del self._recordings[next(iter(self._recordings))]
        for read, before, new in zip(recording.input_buffers, recording.last_inputs, tensors, strict=True):
            if new is not before:
                read.copy_(new, non_blocking=True)
        recording.last_inputs = tensors
        # Tensors of their own, so that they are copied when they are given next, with what is in them then.
        return _map_tensors(recording.replay(), Tensor.detach)

    def _create_recording(self, inputs: Any, tensors: list[Tensor]) -> _Recording:
        own = _map_tensors(inputs, Tensor.clone)
        read = [part for part in flatten_nested(own) if isinstance(part, Tensor)]
        return _Recording(read, tensors, self._recorder(lambda: self._function(*own)))


def build_cuda_recorder() -> Callable[[Computation], Computation]:
    """Make what records CUDA graphs, which share their memory, since only one of them is replayed at a time."""
    pool = torch.cuda.graph_pool_handle()

    def record_graph(computation: Computation) -> Computation:
        drawn = torch.cuda.get_rng_state()
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(WARM_UP_RUNS):
                computation()
        torch.cuda.current_stream().wait_stream(aside)
        torch.cuda.set_rng_state(drawn)  # the same numbers are drawn whether or not something was recorded
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            found = computation()

        def replay() -> Any:
            graph.replay()
            return found

        return replay

    return record_graph


def _map_tensors(value: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """Change all tensors of something."""
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
    """List all that something is put together from: tensors, numbers, None."""
    if isinstance(value, dict):
        value = tuple(value.items())
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in flatten_nested(part)]
    if is_dataclass(value) and not isinstance(value, type):
        return [leaf for field in fields(value) for leaf in flatten_nested(getattr(value, field.name))]
    return [value]
