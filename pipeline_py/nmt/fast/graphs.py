"""What a GPU computes, recorded once for each shape of what is given and then replayed."""

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor

Run = Callable[[], Any]

MULTIPLE = 8
"""Where graphs are recorded, lengths are rounded up to multiples of it: few shapes are few graphs."""

FEW = 2
"""How often a shape is computed before it is worth recording."""

WARM_UP = 3
"""Times that something runs before it is recorded, for libraries to choose their ways and to set up memory."""


@dataclass
class _Recording:
    """The tensors that a recording reads, to be overwritten, those that were copied there last, and what replays it."""

    read: list[Tensor]
    copied: list[Tensor]
    replay: Run


class Graphs:
    """Computes a function, where it can by replaying what was recorded when it was given something of the same shape.

    What is given and computed are tensors, in any nesting of tuples, dictionaries and dataclasses. Of the same shape is
    what differs in the numbers of its tensors alone. None of these tensors may be changed in place.
    """

    def __init__(self, compute: Callable[..., Any], record: Callable[[Run], Run], kept: int | None = None) -> None:
        """Record nothing yet.

        Args:
            compute: the function; what it does follows from the shape of what it is given, and it waits for no device.
            record: makes of something what does it again, with the same memory.
            kept: the most recordings, whose results take memory; None: as many as there are shapes.
        """
        self._kept = kept
        self._compute = compute
        self._record = record
        self._seen: Counter[Hashable] = Counter()
        self._recordings: dict[Hashable, _Recording] = {}

    def __call__(self, *given: Any) -> Any:
        """Compute; the next call may overwrite the result."""
        parts = leaves(given)
        shape = tuple(part.shape if isinstance(part, Tensor) else part for part in parts)
        self._seen[shape] += 1
        if self._seen[shape] <= FEW:
            return self._compute(*given)
        tensors = [part for part in parts if isinstance(part, Tensor)]
        recording = self._recordings.pop(shape, None) or self._recording(given, tensors)
        self._recordings[shape] = recording  # behind those that were used before
        if self._kept is not None and len(self._recordings) > self._kept:
            del self._recordings[next(iter(self._recordings))]
        for read, before, new in zip(recording.read, recording.copied, tensors, strict=True):
            if new is not before:
                read.copy_(new, non_blocking=True)
        recording.copied = tensors
        # Tensors of their own, so that they are copied when they are given next, with what is in them then.
        return _each(recording.replay(), Tensor.detach)

    def _recording(self, given: Any, tensors: list[Tensor]) -> _Recording:
        own = _each(given, Tensor.clone)
        read = [part for part in leaves(own) if isinstance(part, Tensor)]
        return _Recording(read, tensors, self._record(lambda: self._compute(*own)))


def on_cuda() -> Callable[[Run], Run]:
    """Make what records CUDA graphs, which share their memory, since only one of them is replayed at a time."""
    pool = torch.cuda.graph_pool_handle()

    def record(run: Run) -> Run:
        drawn = torch.cuda.get_rng_state()
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(WARM_UP):
                run()
        torch.cuda.current_stream().wait_stream(aside)
        torch.cuda.set_rng_state(drawn)  # the same numbers are drawn whether or not something was recorded
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            found = run()

        def replay() -> Any:
            graph.replay()
            return found

        return replay

    return record


def _each(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """Change all tensors of something."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: _each(part, change) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return tuple(_each(part, change) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _each(getattr(value, field.name), change) for field in fields(value)})
    return value


def leaves(value: Any) -> list[Any]:
    """List all that something is put together from: tensors, numbers, None."""
    if isinstance(value, dict):
        value = tuple(value.items())
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    if is_dataclass(value) and not isinstance(value, type):
        return [leaf for field in fields(value) for leaf in leaves(getattr(value, field.name))]
    return [value]
