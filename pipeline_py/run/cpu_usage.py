"""Available processors and memory, and the CPU time and memory that processes use.

Wall-clock time depends on the other work of a machine. CPU time hardly does, except for shared caches, memory and
hyper-threads.
"""

import os
import resource
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

CPU_QUOTA_FILE = Path("/sys/fs/cgroup/cpu.max")
"""CPU quota of a container on Linux: microseconds per period, and the period."""


def count_processors() -> int:
    """Count the processors that the CPU affinity and the container quota allow this process to use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = CPU_QUOTA_FILE.read_text(encoding="ascii").split()
        return max(1, min(usable, -(-int(quota) // int(period))))
    except (OSError, ValueError):  # there is no quota
        return usable


BYTES_PER_MB = 10**6

MEMORY_LIMIT_FILE = Path("/sys/fs/cgroup/memory.max")
"""Memory limit of a container on Linux in bytes, or "max"."""


def get_memory_limit_mb() -> int:
    """Return the megabytes of memory that this machine has, or its container allows."""
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # there is no limit
        size = min(size, int(MEMORY_LIMIT_FILE.read_text(encoding="ascii")))
    return size // BYTES_PER_MB


def get_peak_memory_mb() -> int:
    """Return the largest megabytes of memory that this process, or one of its finished children, has used."""
    unit = 1 if sys.platform == "darwin" else 1024
    peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return max(peaks) * unit // BYTES_PER_MB


PROC_FOLDER = Path("/proc")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
"""Unit of the CPU times that Linux reports for other processes."""

SECONDS_PER_NANOSECOND = 1e-9

MIN_CORE_SHARE = 0.9
"""Smallest `core_share` at which wall-clock times are comparable."""


class CpuUsage:
    """CPU times of this process, its finished child processes and other processes of this machine.

    Args:
        other_process_ids: IDs of the other processes.
    """

    def __init__(self, other_process_ids: Sequence[int] = ()) -> None:
        self._other_process_ids = [str(number) for number in other_process_ids if number != os.getpid()]

    def measure_cpu_seconds(self) -> float | None:
        """Return the user and system CPU seconds; None if those of another process cannot be read."""
        usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        seconds = sum(times.ru_utime + times.ru_stime for times in usages)
        try:
            for number in self._other_process_ids:
                # The name in brackets may contain spaces; user and system time are fields 14 and 15.
                times = (PROC_FOLDER / number / "stat").read_text().rpartition(")")[2].split()
                seconds += (int(times[11]) + int(times[12])) / TICKS_PER_SECOND
        except (OSError, ValueError, IndexError):
            return None
        return seconds

    def measure_cpu_wait_seconds(self) -> float | None:
        """Return the seconds that runnable threads waited for a core; None if the system does not count them."""
        seconds = 0.0
        try:
            for number in ("self", *self._other_process_ids):
                for thread in (PROC_FOLDER / number / "task").iterdir():
                    seconds += int((thread / "schedstat").read_text().split()[1]) * SECONDS_PER_NANOSECOND
        except (OSError, ValueError, IndexError):
            return None
        return seconds


def compute_difference(start: float | None, end: float | None) -> float | None:
    """Return the seconds between two readings; None if one of them is unknown.

    Finished threads are missing in the second reading, so the result is at least 0.
    """
    return None if start is None or end is None else max(0.0, end - start)


def get_machine_load() -> float:
    """Return the mean number of runnable tasks per core of this machine in the last minute."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def build_usage_metadata(
    cpu_seconds: float | None, cpu_wait_seconds: float | None, load_weighted_seconds: float, wall_seconds: float
) -> dict[str, float | None]:
    """Build the metadata about the CPU usage of a computation.

    Args:
        cpu_seconds: difference of two readings of `CpuUsage.measure_cpu_seconds`.
        cpu_wait_seconds: difference of two readings of `CpuUsage.measure_cpu_wait_seconds`.
        load_weighted_seconds: wall-clock seconds, each multiplied by the `get_machine_load` at that time.
        wall_seconds: wall-clock seconds.

    Returns:
        `cpu_seconds`; `core_share`, the share of the time that runnable threads had a core; `machine_load`, the mean of
        `get_machine_load`. Unknown values are None.
    """
    demanded_seconds = None if cpu_seconds is None or cpu_wait_seconds is None else cpu_seconds + cpu_wait_seconds
    return {
        "cpu_seconds": None if cpu_seconds is None else round(cpu_seconds, 1),
        "core_share": round(cpu_seconds / demanded_seconds, 3)
        if cpu_seconds is not None and demanded_seconds
        else None,
        "machine_load": round(load_weighted_seconds / wall_seconds, 2) if wall_seconds else None,
    }
