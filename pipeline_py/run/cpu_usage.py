"""Use of processors: how many there are, and the time that processes take of them.

Time on the wall grows with all else that a machine does. The time that processors work for a process hardly does: only
as far as others' work takes caches, memory and the other half of a core from it.
"""

import os
import resource
from collections.abc import Sequence
from pathlib import Path

CPU_QUOTA_FILE = Path("/sys/fs/cgroup/cpu.max")
"""The processor time of a container on Linux: microseconds that it may use in a period, and the period."""


def count_processors() -> int:
    """Count the processors that this process may use, by its affinity and the quota of its container."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = CPU_QUOTA_FILE.read_text(encoding="ascii").split()
        return max(1, min(usable, -(-int(quota) // int(period))))
    except (OSError, ValueError):  # there is no quota
        return usable


PROC_FOLDER = Path("/proc")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
"""Of a second, in which Linux counts the times of other processes."""

SECONDS_PER_NANOSECOND = 1e-9

MIN_CORE_SHARE = 0.9
"""Of the time that a process asks for a core; with a smaller share of it, its time on the wall says little."""


class CpuUsage:
    """Times of some processes of this machine: this one, with those that it started and that ended, and others.

    Args:
        others: their numbers.
    """

    def __init__(self, other_process_ids: Sequence[int] = ()) -> None:
        self._other_process_ids = [str(number) for number in other_process_ids if number != os.getpid()]

    def measure_cpu_seconds(self) -> float | None:
        """Seconds that processors worked for them, user and system; None where that of others cannot be read."""
        own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        seconds = sum(times.ru_utime + times.ru_stime for times in own)
        try:
            for number in self._other_process_ids:
                # The name, in brackets, may have spaces; user and system time are fields 14 and 15.
                times = (PROC_FOLDER / number / "stat").read_text().rpartition(")")[2].split()
                seconds += (int(times[11]) + int(times[12])) / TICKS_PER_SECOND
        except (OSError, ValueError, IndexError):
            return None
        return seconds

    def measure_cpu_wait_seconds(self) -> float | None:
        """Seconds that their threads could have run and had no core; None where the system does not count them."""
        seconds = 0.0
        try:
            for number in ("self", *self._other_process_ids):
                for thread in (PROC_FOLDER / number / "task").iterdir():
                    seconds += int((thread / "schedstat").read_text().split()[1]) * SECONDS_PER_NANOSECOND
        except (OSError, ValueError, IndexError):
            return None
        return seconds


def compute_difference(start: float | None, end: float | None) -> float | None:
    """Seconds counted between two readings; threads that ended take theirs along. None where one is not known."""
    return None if start is None or end is None else max(0.0, end - start)


def get_machine_load() -> float:
    """The mean number of tasks that ran or could have run on this machine in the last minute, by its cores."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def build_usage_metadata(
    cpu_seconds: float | None, cpu_wait_seconds: float | None, load_weighted_seconds: float, wall_seconds: float
) -> dict[str, float | None]:
    """What facts say of some work.

    Args:
        cpu_seconds: what `CpuUsage.cpu` counted while it went on.
        cpu_wait_seconds: what `CpuUsage.waited` counted.
        load_weighted_seconds: its seconds, each times the `get_machine_load` of then.
        wall_seconds: its time on the wall.

    Returns:
        `cpu_seconds`; `core_share`, of the time that it asked for a core the share that it had one; `machine_load`, the
        mean of `get_machine_load`. None where something is not known.
    """
    asked = None if cpu_seconds is None or cpu_wait_seconds is None else cpu_seconds + cpu_wait_seconds
    return {
        "cpu_seconds": None if cpu_seconds is None else round(cpu_seconds, 1),
        "core_share": round(cpu_seconds / asked, 3) if cpu_seconds is not None and asked else None,
        "machine_load": round(load_weighted_seconds / wall_seconds, 2) if wall_seconds else None,
    }
