"""Time and energy that a training run takes, over all its resumptions."""

import time

from pipeline_py.energy import Meter
from pipeline_py.nmt.standing import Standing

SECONDS_BETWEEN_METERINGS = 30.0
"""Of updates: often enough for a processor whose counter of energy is full after some minutes."""


class Clock:
    """Adds up what is spent between its ticks; `ticked` is the time of the last one, in seconds since whenever."""

    def __init__(self, meter: Meter) -> None:
        """Begin now; `meter` counts energy."""
        self._meter = meter
        self.ticked = self._metered = time.monotonic()

    def tick(self, standing: Standing, training: bool = False) -> None:
        """Add the time since the last tick to the run's, and to that of training if it was spent there."""
        now = time.monotonic()
        standing.seconds += now - self.ticked
        if training:
            standing.training_seconds += now - self.ticked
        self.ticked = now
        if not training or now - self._metered > SECONDS_BETWEEN_METERINGS:
            standing.joules = self._meter.added_to(standing.joules)
            self._metered = now
