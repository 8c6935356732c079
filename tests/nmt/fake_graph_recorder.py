"""A stand-in for what records graphs on a GPU."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from pipeline_py.nmt import torch_setup
from pipeline_py.nmt.fast.cuda_graphs import WARM_UP_RUNS, flatten_nested
from pipeline_py.nmt.search import ensemble
from tests.nmt.operation_counter import SYNCHRONIZING_OPERATIONS


class FakeGraphRecorder:
    """Stands in for a GPU's: records the operations of torch, and replays nothing else.

    Like a GPU's, it computes before it records, restores the random numbers, and writes results to the memory that was
    recorded. An operation that waits for a GPU cannot be recorded.
    """

    def __init__(self) -> None:
        self.record_count = self.replay_count = 0

    def __call__(self, function: Callable[[], Any]) -> Callable[[], Any]:
        self.record_count += 1
        with torch.random.fork_rng(devices=[]):
            for _ in range(WARM_UP_RUNS):
                function()
            with OperationRecorder() as recorder:
                outputs = function()

        def replay() -> Any:
            self.replay_count += 1
            recorder.replay()
            return outputs

        return replay


class OperationRecorder(TorchDispatchMode):
    """Records the operations within its context with their tensors."""

    def __init__(self) -> None:
        super().__init__()
        self._operations: list[tuple[Any, Any, Any, Any]] = []

    def __torch_dispatch__(
        self,
        operation: Any,
        types: Sequence[type],
        arguments: tuple[Any, ...] = (),
        options: dict[str, Any] | None = None,
    ) -> Any:
        name = operation.overloadpacket.__name__
        assert name not in SYNCHRONIZING_OPERATIONS - {"lift_fresh"}, f"{name} waits for the GPU"
        results = operation(*arguments, **(options or {}))
        if not operation.is_view:
            self._operations.append((operation, arguments, options or {}, results))
        return results

    @torch.no_grad()
    @torch.autocast("cpu", enabled=False)  # casts were recorded
    def replay(self) -> None:
        """Compute all operations again, and overwrite their results."""
        for operation, arguments, options, results in self._operations:
            new_results = operation(*arguments, **options)
            for old, new in zip(flatten_nested(results), flatten_nested(new_results), strict=True):
                if isinstance(old, Tensor) and old is not new:
                    old.copy_(new)


@contextmanager
def use_gpu_search() -> Iterator[FakeGraphRecorder]:
    """Search with the GPU code on a CPU, and with the recorder that this yields."""
    recorder = FakeGraphRecorder()
    with (
        patch.object(torch_setup, "CPU", "none"),
        patch.object(ensemble, "build_cuda_recorder", lambda: recorder),
    ):
        yield recorder
