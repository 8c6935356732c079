"""Times of a training run, summed over resumptions, and its learning curve for TensorBoard."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline_py.nmt.training.checkpoint import TrainingState
from pipeline_py.run.cpu_usage import CpuUsage, compute_difference, get_machine_load
from pipeline_py.run.errors import InputError

SECONDS_BETWEEN_LOAD_SAMPLES = 30.0
"""Seconds between two measurements of the machine's load."""


class TrainingClock:
    """A clock that adds wall-clock and CPU time to the training state; `last_tick` is on the monotonic clock."""

    def __init__(self, usage: CpuUsage) -> None:
        """Start the clock; `usage` measures CPU time."""
        self._usage = usage
        self.last_tick = self._last_load_sample = time.monotonic()
        self._cpu_seconds, self._cpu_wait_seconds = usage.measure_cpu_seconds(), usage.measure_cpu_wait_seconds()

    def tick(self, state: TrainingState, is_training: bool = False) -> None:
        """Add the time since the last tick to the total, and to the training time if `is_training`."""
        time_now, cpu_seconds = time.monotonic(), self._usage.measure_cpu_seconds()
        state.elapsed_seconds += time_now - self.last_tick
        state.cpu_seconds = _add_difference(state.cpu_seconds, self._cpu_seconds, cpu_seconds)
        if is_training:
            state.training_seconds += time_now - self.last_tick
            state.training_cpu_seconds = _add_difference(state.training_cpu_seconds, self._cpu_seconds, cpu_seconds)
        self.last_tick, self._cpu_seconds = time_now, cpu_seconds
        if not is_training or time_now - self._last_load_sample > SECONDS_BETWEEN_LOAD_SAMPLES:
            wait_seconds = self._usage.measure_cpu_wait_seconds()
            state.cpu_wait_seconds = _add_difference(state.cpu_wait_seconds, self._cpu_wait_seconds, wait_seconds)
            state.load_weighted_seconds += get_machine_load() * (time_now - self._last_load_sample)
            self._last_load_sample, self._cpu_wait_seconds = time_now, wait_seconds


def _add_difference(total: float | None, start: float | None, end: float | None) -> float | None:
    """Add the difference to the total; None if any value is unknown."""
    increment = compute_difference(start, end)
    return None if total is None or increment is None else total + increment


TENSORBOARD_NAMES = {
    "train_loss": "loss/train",
    "dev_loss": "loss/dev",
    "dev_bleu": "BLEU/dev",
    "gradient_norm": "update/gradient norm",
    "learning_rate": "update/learning rate",
    "words_per_second": "speed/target words per second",
}
"""Columns of the learning curve → names in TensorBoard."""


def start_tensorboard_writer(
    folder: Path, curve_rows: Sequence[Mapping[str, Any]]
) -> Callable[[Mapping[str, Any]], None]:
    """Start writing for TensorBoard.

    Args:
        folder: folder of the run.
        curve_rows: rows before a resumption; later rows of an interrupted run are hidden.

    Returns:
        A function that writes a row.

    Raises:
        InputError: TensorBoard is not installed.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise InputError(
            "training.tensorboard is true and TensorBoard is not installed; pip install tensorboard, or set it to false"
        ) from None

    writer = SummaryWriter(str(folder), purge_step=curve_rows[-1]["update"] + 1 if curve_rows else 0)

    def write_row(row: Mapping[str, Any]) -> None:
        for column, name in TENSORBOARD_NAMES.items():
            if row[column] is not None:
                writer.add_scalar(name, row[column], row["update"])
        writer.flush()

    return write_row
