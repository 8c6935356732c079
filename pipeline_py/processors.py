"""The number of processors that this process may use."""

import os
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
