"""Lines on stderr about work that reports on itself instead of being iterated over."""

import sys
import time
from typing import TYPE_CHECKING

from pipeline_py.run.cpu_usage import CpuUsage, build_usage_metadata, compute_difference, get_machine_load
from pipeline_py.run.progress_display import SECONDS_BETWEEN_LOG_LINES

if TYPE_CHECKING:
    from machine.utils.progress_status import ProgressStatus


class ProgressLog:
    """Lines on stderr that say what is going on, not more often than is useful in a log file."""

    def __init__(self, prefix: str) -> None:
        """Start the clock.

        Args:
            prefix: how every line begins.
        """
        self.prefix = prefix
        self.start_time = self.last_line_time = time.monotonic()
        self._usage = CpuUsage()
        self._initial_cpu_times = self._usage.measure_cpu_seconds(), self._usage.measure_cpu_wait_seconds()
        self.phase: str | None = None

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.start_time

    def measure_usage(self) -> dict[str, float | None]:
        """What the process took of processors since the beginning; the machine's load is that of the last minute."""
        cpu, waited = self._initial_cpu_times
        return build_usage_metadata(
            compute_difference(cpu, self._usage.measure_cpu_seconds()),
            compute_difference(waited, self._usage.measure_cpu_wait_seconds()),
            get_machine_load() * self.elapsed_seconds,
            self.elapsed_seconds,
        )

    def write_line(self, text: str) -> None:
        """Write a line now."""
        self.last_line_time = time.monotonic()
        print(f"{self.prefix}: {text}, {self.elapsed_seconds:.0f} s elapsed", file=sys.stderr, flush=True)

    def write_line_if_due(self, text: str) -> None:
        """Write a line unless there was one a moment ago."""
        if time.monotonic() - self.last_line_time >= SECONDS_BETWEEN_LOG_LINES:
            self.write_line(text)

    def report_status(self, status: "ProgressStatus") -> None:
        """Write the phases of the library's training, and now and then how far a long one is."""
        phase = (status.message or "training").lower()
        if phase != self.phase:
            self.phase = phase
            self.write_line(phase)
        elif status.step_count:
            self.write_line_if_due(f"{phase}, step {getattr(status, 'phase_step', status.step)} of {status.step_count}")
