"""A stand-in for what records graphs on a GPU."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from pipeline_py.nmt import torch_setup
from pipeline_py.nmt.fast.cuda_graphs import flatten_nested
from pipeline_py.nmt.search import ensemble


class FakeGraphRecorder:
    """Stands in for a GPU's: replays by computing again with what was recorded, and overwrites the first result.

    Like a GPU's, it computes before it records, and restores the random numbers.
    """

    def __init__(self) -> None:
        self.record_count = self.replay_count = 0

    def __call__(self, function: Callable[[], Any]) -> Callable[[], Any]:
        self.record_count += 1
        results: list[Any] = []
        with torch.random.fork_rng(devices=[]):
            function()

        def replay() -> Any:
            self.replay_count += 1
            new = function()
            if not results:
                results.append(new)
            for old, new_leaf in zip(flatten_nested(results[0]), flatten_nested(new), strict=True):
                if isinstance(old, Tensor):
                    old.copy_(new_leaf)
            return results[0]

        return replay


@contextmanager
def use_gpu_search() -> Iterator[FakeGraphRecorder]:
    """Search with the GPU code on a CPU, and with the recorder that this yields."""
    recorder = FakeGraphRecorder()
    with (
        patch.object(torch_setup, "CPU", "none"),
        patch.object(ensemble, "build_cuda_recorder", lambda: recorder),
    ):
        yield recorder
