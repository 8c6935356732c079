"""Use of processors: how many there are, and the time that processes take of them.

Time on the wall grows with all else that a machine does. The time that processors work for a process hardly does: only
as far as others' work takes caches, memory and the other half of a core from it.
"""

import os
import resource
from collections.abc import Sequence
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""The processor time of a container on Linux: microseconds that it may use in a period, and the period."""


def count_processors() -> int:
    """Count the processors that this process may use, by its affinity and the quota of its container."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = QUOTA.read_text(encoding="ascii").split()
        return max(1, min(usable, -(-int(quota) // int(period))))
    except (OSError, ValueError):  # there is no quota
        return usable


PROCESSES = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")
"""Of a second, in which Linux counts the times of other processes."""

NANOSECONDS = 1e-9

ENOUGH = 0.9
"""Of the time that a process asks for a core; with a smaller share of it, its time on the wall says little."""


class Usage:
    """Times of some processes of this machine: this one, with those that it started and that ended, and others.

    Args:
        others: their numbers.
    """

    def __init__(self, others: Sequence[int] = ()) -> None:
        self._others = [str(number) for number in others if number != os.getpid()]

    def cpu(self) -> float | None:
        """Seconds that processors worked for them, user and system; None where that of others cannot be read."""
        own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        seconds = sum(times.ru_utime + times.ru_stime for times in own)
        try:
            for number in self._others:
                # The name, in brackets, may have spaces; user and system time are fields 14 and 15.
                times = (PROCESSES / number / "stat").read_text().rpartition(")")[2].split()
                seconds += (int(times[11]) + int(times[12])) / TICKS
        except (OSError, ValueError, IndexError):
            return None
        return seconds

    def waited(self) -> float | None:
        """Seconds that their threads could have run and had no core; None where the system does not count them."""
        seconds = 0.0
        try:
            for number in ("self", *self._others):
                for thread in (PROCESSES / number / "task").iterdir():
                    seconds += int((thread / "schedstat").read_text().split()[1]) * NANOSECONDS
        except (OSError, ValueError, IndexError):
            return None
        return seconds


def since(before: float | None, now: float | None) -> float | None:
    """Seconds counted between two readings; threads that ended take theirs along. None where one is not known."""
    return None if before is None or now is None else max(0.0, now - before)


def load() -> float:
    """The mean number of tasks that ran or could have run on this machine in the last minute, by its cores."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def facts_of(cpu: float | None, waited: float | None, load_seconds: float, seconds: float) -> dict[str, float | None]:
    """What facts say of some work.

    Args:
        cpu: what `Usage.cpu` counted while it went on.
        waited: what `Usage.waited` counted.
        load_seconds: its seconds, each times the `load` of then.
        seconds: its time on the wall.

    Returns:
        `cpu_seconds`; `core_share`, of the time that it asked for a core the share that it had one; `machine_load`, the
        mean of `load`. None where something is not known.
    """
    asked = None if cpu is None or waited is None else cpu + waited
    return {
        "cpu_seconds": None if cpu is None else round(cpu, 1),
        "core_share": round(cpu / asked, 3) if cpu is not None and asked else None,
        "machine_load": round(load_seconds / seconds, 2) if seconds else None,
    }
