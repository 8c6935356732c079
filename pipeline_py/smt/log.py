"""Lines on stderr about work that reports on itself instead of being iterated over."""

import sys
import time
from typing import TYPE_CHECKING

from pipeline_py.run.progress import SECONDS_BETWEEN_LOG_LINES
from pipeline_py.run.usage import Usage, facts_of, load, since

if TYPE_CHECKING:
    from machine.utils.progress_status import ProgressStatus


class Log:
    """Lines on stderr that say what is going on, not more often than is useful in a log file."""

    def __init__(self, what: str) -> None:
        """Start the clock.

        Args:
            what: how every line begins.
        """
        self.what = what
        self.started = self.written = time.monotonic()
        self._usage = Usage()
        self._before = self._usage.cpu(), self._usage.waited()
        self.phase: str | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.started

    def usage(self) -> dict[str, float | None]:
        """What the process took of processors since the beginning; the machine's load is that of the last minute."""
        cpu, waited = self._before
        return facts_of(
            since(cpu, self._usage.cpu()), since(waited, self._usage.waited()), load() * self.elapsed, self.elapsed
        )

    def line(self, text: str) -> None:
        """Write a line now."""
        self.written = time.monotonic()
        print(f"{self.what}: {text}, {self.elapsed:.0f} s elapsed", file=sys.stderr, flush=True)

    def now_and_then(self, text: str) -> None:
        """Write a line unless there was one a moment ago."""
        if time.monotonic() - self.written >= SECONDS_BETWEEN_LOG_LINES:
            self.line(text)

    def status(self, status: "ProgressStatus") -> None:
        """Write the phases of the library's training, and now and then how far a long one is."""
        phase = (status.message or "training").lower()
        if phase != self.phase:
            self.phase = phase
            self.line(phase)
        elif status.step_count:
            self.now_and_then(f"{phase}, step {getattr(status, 'phase_step', status.step)} of {status.step_count}")
