"""What a person at the terminal is told of a run's jobs: that a costly one begins and ends, and how far the run is."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

COSTLY = 20.0
"""Seconds from which on a job is told alone."""

STEP = 0.1
"""Of all jobs the share after which it is told how many are done, where no costly one says so."""

LAST_LINES = 30
"""Of the log of a job that failed without a sentence, how many are shown."""

PATIENCE, LOOKS = 1.0, 10
"""Seconds, and how often within them, that the log of a job that failed is looked at for its sentence.

`tee` writes it there, for which a rule's shell does not wait.
"""


@dataclass
class RunLines:
    """Jobs of a run that are at work, and what was told of it.

    Attributes:
        expected: seconds of a job of each stage, by PACKAGE/STAGE.
        clock: tells seconds.
    """

    expected: dict[str, float] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    _running: dict[int, tuple[str, float]] = field(default_factory=dict)
    _ended: list[str] = field(default_factory=list)
    _told: float = 0.0

    def begin(self, number: int, times: str) -> str:
        """Take note that a job begins; give a line if it will be costly.

        Args:
            number: of the job.
            times: the file for its times below that of all, PACKAGE/STAGE/NAME.tsv.
        """
        package, stage, *rest = PurePath(times).with_suffix("").parts
        name = " ".join([stage, "/".join(rest).replace(".", " ")])
        self._running[number] = name, self.clock()
        return f"{name}: started" if self.expected.get(f"{package}/{stage}", 0) >= COSTLY else ""

    def end(self, number: int) -> None:
        """Take note that a job is done."""
        name, began = self._running.pop(number, ("", self.clock()))
        if (seconds := self.clock() - began) >= COSTLY:
            self._ended.append(f"{name}: done after {seconds:.0f} s")

    def fail(self, number: int, rule: str, logs: Sequence[str]) -> str:
        """Say what a job that failed said: its own sentence, or else the end of its log.

        Args:
            number: of the job.
            rule: what makes such jobs, where it is not known by its times.
            logs: its log files.
        """
        name, _ = self._running.pop(number, (rule, 0.0))
        said, own = _said(logs)
        for _ in range(LOOKS):
            if own:
                break
            time.sleep(PATIENCE / LOOKS)
            said, own = _said(logs)
        return "\n".join([f"{name}: failed ({', '.join(logs)})", *(own or said[-LAST_LINES:])])

    def progress(self, done: int, jobs: int) -> str:
        """Say which costly jobs are done since it was last asked, and of how many all; nothing where nothing is new."""
        if not self._ended and done < jobs and done / jobs < self._told + STEP:
            return ""
        ended, self._ended, self._told = self._ended, [], done / jobs
        return "\n".join([*ended, f"{done} of {jobs} jobs done"])


def _said(logs: Sequence[str]) -> tuple[list[str], list[str]]:
    said = [line for log in logs if Path(log).is_file() for line in _lines(Path(log))]
    return said, [line for line in said if line.startswith("error: ")]


def _lines(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8", errors="replace").replace("\r", "\n").splitlines()
