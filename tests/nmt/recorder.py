"""A stand-in for what records graphs on a GPU."""

from collections.abc import Callable

from torch import Tensor


class Recorder:
    """Stands in for a GPU's: replays by computing again, with the batch whose memory was recorded."""

    def __init__(self) -> None:
        self.recorded = self.replayed = 0

    def __call__(self, run: Callable[[], Tensor]) -> Callable[[], Tensor]:
        self.recorded += 1

        def replay() -> Tensor:
            self.replayed += 1
            return run()

        return replay
