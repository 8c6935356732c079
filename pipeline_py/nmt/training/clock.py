"""Time and energy that a training run takes, over all its resumptions."""

import time

from pipeline_py.energy import Meter
from pipeline_py.nmt.training.train_state import TrainState
from pipeline_py.usage import Usage, load, since

SECONDS_BETWEEN_METERINGS = 30.0
"""Of updates: often enough for a processor whose counter of energy is full after some minutes."""


class Clock:
    """Adds up what is spent between its ticks; `ticked` is the time of the last one, in seconds since whenever."""

    def __init__(self, meter: Meter, usage: Usage) -> None:
        """Begin now; `meter` counts energy, `usage` the processors' time."""
        self._meter = meter
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
            state.joules = self._meter.added_to(state.joules)
            self._metered, self._waited = now, waited


def _plus(seconds: float | None, before: float | None, now: float | None) -> float | None:
    """Add what was counted since; None from where something is not known."""
    more = since(before, now)
    return None if seconds is None or more is None else seconds + more
