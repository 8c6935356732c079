"""What is computed of a batch, recorded once for each shape of batches and then replayed."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from pipeline_py.config.systems.composition import System
from pipeline_py.config.systems.training import Training
from pipeline_py.kinds.kind import BinaryTrees, kind_of
from pipeline_py.nmt.data.batch import Batch

Run = Callable[[], Tensor]

FEW = 2
"""How often a shape is computed before it is worth recording."""

WARM_UP = 3
"""Times that something runs before it is recorded, for libraries to choose their ways and to set up memory."""


@dataclass(frozen=True)
class _Recording:
    """The batch that a recording reads, to be overwritten, and what replays it."""

    batch: Batch
    replay: Run


class Graphs:
    """Computes a function of batches, where it can by replaying what was recorded with a batch of the same shape.

    Batches with trees have no shape that would say what is computed, and are never recorded.
    """

    def __init__(self, compute: Callable[[Batch], Tensor], record: Callable[[Run], Run]) -> None:
        """Record nothing yet.

        Args:
            compute: the function; what it does follows from the shape of the batch alone, and waits for no device.
            record: makes of something what does it again, with the same memory.
        """
        self._compute = compute
        self._record = record
        self._seen: Counter[tuple[torch.Size, ...]] = Counter()
        self._recordings: dict[tuple[torch.Size, ...], _Recording] = {}

    def __call__(self, batch: Batch) -> Tensor:
        """Compute; the result may be overwritten by the next call."""
        if len(batch.tables) < len(batch.syntax):
            return self._compute(batch)
        shape = tuple(tensor.shape for tensor in batch.tensors)
        self._seen[shape] += 1
        if self._seen[shape] <= FEW:
            return self._compute(batch)
        if shape not in self._recordings:
            self._recordings[shape] = _Recording(batch, self._record(lambda: self._compute(batch)))
        recording = self._recordings[shape]
        if recording.batch is not batch:
            for old, new in zip(recording.batch.tensors, batch.tensors, strict=True):
                old.copy_(new, non_blocking=True)
        return recording.replay()


def recorded(training: Training, system: System) -> Training:
    """Leave `graphs` on only where the shape of a batch says what is computed of it.

    So it is where no binary trees are read, batches are not computed in parts, and losses are not divided by words.
    """
    trees = any(isinstance(kind_of(kind).values, BinaryTrees) for kind in system.trained_on)
    can = not trees and training.accumulate == 1 and training.loss_per == "sentence"
    return training.model_copy(update={"graphs": training.graphs and can})


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

        def replay() -> Tensor:
            graph.replay()
            return found

        return replay

    return record
