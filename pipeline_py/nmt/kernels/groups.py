"""Rows that are computed at once."""

from collections.abc import Iterator

import torch

from pipeline_py.nmt.device import on_cpu

CACHED = 2**18
"""Numbers that a group has on a CPU: in single precision they stay in its cache from one operation to the next."""


def groups(rows: int, width: int, device: torch.device) -> Iterator[slice]:
    """Divide rows of `width` numbers each into groups; a GPU, whose memory is fast, has them all in one."""
    size = max(1, CACHED // width) if on_cpu(device) else rows
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))
