"""Number of kernels of some work, and the time in which they run."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch.profiler import ProfilerActivity, profile


@contextmanager
def profile_kernels(device: torch.device) -> Iterator[dict[str, float]]:
    """Profile the kernels and copies on a GPU, or the operators on a CPU, of the work in this context.

    The work ends with a synchronization of the device.

    Yields:
        A dictionary that has "kernels" and "kernel_seconds" after the work: their number, and the time in which at
        least one of them runs.
    """
    measurements: dict[str, float] = {}
    is_gpu = device.type == "cuda"
    with profile(activities=[ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if is_gpu else [])]) as profiler:
        yield measurements
    device_type = torch.autograd.DeviceType.CUDA if is_gpu else torch.autograd.DeviceType.CPU
    intervals = [
        (event.time_range.start, event.time_range.end)
        for event in profiler.events() or ()
        # An annotation, such as the step of an optimizer, spans the kernels that it starts.
        if event.device_type == device_type and not event.is_user_annotation
    ]
    measurements |= {"kernels": len(intervals), "kernel_seconds": measure_union(intervals) / 1e6}


def measure_union(intervals: Iterable[tuple[float, float]]) -> float:
    """Return the length of the union of intervals, which may overlap."""
    length, covered_until = 0.0, float("-inf")
    for start, end in sorted(intervals):
        length += max(0.0, end - max(start, covered_until))
        covered_until = max(covered_until, end)
    return length
