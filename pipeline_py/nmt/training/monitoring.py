"""Time of a training run over all its resumptions, and its learning curves for TensorBoard."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline_py.nmt.training.checkpoint import TrainingState
from pipeline_py.run.cpu_usage import CpuUsage, compute_difference, get_machine_load
from pipeline_py.run.errors import InputError

SECONDS_BETWEEN_LOAD_SAMPLES = 30.0
"""Seconds of updates between two looks at the load of the machine."""


class TrainingClock:
    """Adds up what is spent between its ticks; `last_tick` is the time of the last one, in seconds since whenever."""

    def __init__(self, usage: CpuUsage) -> None:
        """Begin now; `usage` counts the processors' time."""
        self._usage = usage
        self.last_tick = self._last_load_sample = time.monotonic()
        self._cpu_seconds, self._cpu_wait_seconds = usage.measure_cpu_seconds(), usage.measure_cpu_wait_seconds()

    def tick(self, state: TrainingState, is_training: bool = False) -> None:
        """Add the time since the last tick to the run's, and to that of training if it was spent there."""
        now, cpu = time.monotonic(), self._usage.measure_cpu_seconds()
        state.elapsed_seconds += now - self.last_tick
        state.cpu_seconds = _add_difference(state.cpu_seconds, self._cpu_seconds, cpu)
        if is_training:
            state.training_seconds += now - self.last_tick
            state.training_cpu_seconds = _add_difference(state.training_cpu_seconds, self._cpu_seconds, cpu)
        self.last_tick, self._cpu_seconds = now, cpu
        if not is_training or now - self._last_load_sample > SECONDS_BETWEEN_LOAD_SAMPLES:
            waited = self._usage.measure_cpu_wait_seconds()
            state.cpu_wait_seconds = _add_difference(state.cpu_wait_seconds, self._cpu_wait_seconds, waited)
            state.load_weighted_seconds += get_machine_load() * (now - self._last_load_sample)
            self._last_load_sample, self._cpu_wait_seconds = now, waited


def _add_difference(total: float | None, start: float | None, end: float | None) -> float | None:
    """Add what was counted since; None from where something is not known."""
    more = compute_difference(start, end)
    return None if total is None or more is None else total + more


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
    """Begin to write for TensorBoard.

    Args:
        folder: one run is one folder.
        curve_rows: rows that are there already; what an interrupted run wrote after them is not shown.

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

    writer = SummaryWriter(str(folder), purge_step=curve_rows[-1]["update"] + 1 if curve_rows else 0)

    def write_row(row: Mapping[str, Any]) -> None:
        for column, name in TENSORBOARD_NAMES.items():
            if row[column] is not None:
                writer.add_scalar(name, row[column], row["update"])
        writer.flush()

    return write_row
