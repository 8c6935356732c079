"""A stand-in for what records graphs on a GPU."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from pipeline_py.nmt.fast.graphs import leaves


class Recorder:
    """Stands in for a GPU's: replays by computing again with what was recorded, and overwrites the first result."""

    def __init__(self) -> None:
        self.recorded = self.replayed = 0

    def __call__(self, run: Callable[[], Any]) -> Callable[[], Any]:
        self.recorded += 1
        found: list[Any] = []

        def replay() -> Any:
            self.replayed += 1
            new = run()
            if not found:
                found.append(new)
            for old, of_now in zip(leaves(found[0]), leaves(new), strict=True):
                if isinstance(old, Tensor):
                    old.copy_(of_now)
            return found[0]

        return replay
