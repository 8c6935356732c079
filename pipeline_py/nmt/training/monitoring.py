"""Time of a training run over all its resumptions, and its learning curves for TensorBoard."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline_py.nmt.training.checkpoint import TrainState
from pipeline_py.run.errors import InputError
from pipeline_py.run.usage import Usage, load, since

SECONDS_BETWEEN_METERINGS = 30.0
"""Seconds of updates between two looks at the load of the machine."""


class Clock:
    """Adds up what is spent between its ticks; `ticked` is the time of the last one, in seconds since whenever."""

    def __init__(self, usage: Usage) -> None:
        """Begin now; `usage` counts the processors' time."""
        self._usage = usage
        self.ticked = self._metered = time.monotonic()
        self._cpu, self._waited = usage.cpu(), usage.waited()

    def tick(self, state: TrainState, training: bool = False) -> None:
        """Add the time since the last tick to the run's, and to that of training if it was spent there."""
        now, cpu = time.monotonic(), self._usage.cpu()
        state.seconds += now - self.ticked
        state.cpu_seconds = _plus(state.cpu_seconds, self._cpu, cpu)
        if training:
            state.training_seconds += now - self.ticked
            state.training_cpu_seconds = _plus(state.training_cpu_seconds, self._cpu, cpu)
        self.ticked, self._cpu = now, cpu
        if not training or now - self._metered > SECONDS_BETWEEN_METERINGS:
            waited = self._usage.waited()
            state.waited_seconds = _plus(state.waited_seconds, self._waited, waited)
            state.load_seconds += load() * (now - self._metered)
            self._metered, self._waited = now, waited


def _plus(seconds: float | None, before: float | None, now: float | None) -> float | None:
    """Add what was counted since; None from where something is not known."""
    more = since(before, now)
    return None if seconds is None or more is None else seconds + more


SHOWN = {
    "train_loss": "loss/train",
    "dev_loss": "loss/dev",
    "dev_bleu": "BLEU/dev",
    "gradient_norm": "update/gradient norm",
    "learning_rate": "update/learning rate",
    "words_per_second": "speed/target words per second",
}
"""Columns of the learning curve → names in TensorBoard."""


def board(folder: Path, curve: Sequence[Mapping[str, Any]]) -> Callable[[Mapping[str, Any]], None]:
    """Begin to write for TensorBoard.

    Args:
        folder: one run is one folder.
        curve: rows that are there already; what an interrupted run wrote after them is not shown.

    Returns:
        What is given each further row.

    Raises:
        InputError: TensorBoard is not installed.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise InputError(
            "training.tensorboard is true and TensorBoard is not installed; pip install tensorboard, or set it to false"
        ) from None

    writer = SummaryWriter(str(folder), purge_step=curve[-1]["update"] + 1 if curve else 0)

    def show(row: Mapping[str, Any]) -> None:
        for column, name in SHOWN.items():
            if row[column] is not None:
                writer.add_scalar(name, row[column], row["update"])
        writer.flush()

    return show
