"""Progress lines on stderr for work that reports its status instead of being iterated over."""

import sys
import time
from typing import TYPE_CHECKING

from pipeline_py.run.cpu_usage import CpuUsage, build_usage_metadata, compute_difference, get_machine_load
from pipeline_py.run.progress_display import SECONDS_BETWEEN_LOG_LINES

if TYPE_CHECKING:
    from machine.utils.progress_status import ProgressStatus


class ProgressLog:
    """A log of progress on stderr with a limited number of lines."""

    def __init__(self, prefix: str) -> None:
        """Start the clock; every line begins with `prefix`."""
        self.prefix = prefix
        self.start_time = self.last_line_time = time.monotonic()
        self._usage = CpuUsage()
        self._initial_cpu_times = self._usage.measure_cpu_seconds(), self._usage.measure_cpu_wait_seconds()
        self.phase: str | None = None

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start_time

    def measure_usage(self) -> dict[str, float | None]:
        """Return the CPU usage of the process since the start; the machine's load is that of the last minute."""
        cpu, waited = self._initial_cpu_times
        return build_usage_metadata(
            compute_difference(cpu, self._usage.measure_cpu_seconds()),
            compute_difference(waited, self._usage.measure_cpu_wait_seconds()),
            get_machine_load() * self.elapsed_seconds,
            self.elapsed_seconds,
        )

    def write_line(self, text: str) -> None:
        """Write a line immediately."""
        self.last_line_time = time.monotonic()
        print(f"{self.prefix}: {text}, {self.elapsed_seconds:.0f} s elapsed", file=sys.stderr, flush=True)

    def write_line_if_due(self, text: str) -> None:
        """Write a line unless the last one is recent."""
        if time.monotonic() - self.last_line_time >= SECONDS_BETWEEN_LOG_LINES:
            self.write_line(text)

    def report_status(self, status: "ProgressStatus") -> None:
        """Write each phase of the library's training, and from time to time the steps of a long one."""
        phase = (status.message or "training").lower()
        if phase != self.phase:
            self.phase = phase
            self.write_line(phase)
        elif status.step_count:
            self.write_line_if_due(f"{phase}, step {getattr(status, 'phase_step', status.step)} of {status.step_count}")
