"""Where a network computes, such that it computes fast, and the same twice."""

import ctypes
import gc
import os
import platform

import torch

from pipeline_py.run.device_selection import select_device
from pipeline_py.run.torch_compile_hooks import disable_torch_compile_hooks

CPU = "cpu"
"""The type of device that computes in the ways of a processor; tests set it to another to take those of a GPU."""

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LARGEST_MMAP_THRESHOLD = 2**25
"""Numbers of glibc's mallopt(3), and the most that it takes."""


def prepare_torch(device: str, threads: int) -> torch.device:
    """Choose the device, set the number of CPU threads, and make torch repeat its sums.

    Args:
        device: "cpu", "cuda", or "auto" for CUDA where there is such a device.
        threads: CPU threads.

    Raises:
        InputError: CUDA is asked for and there is none.
    """
    chosen = torch.device(select_device(device))
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS does not repeat its sums
    torch.set_deterministic_debug_mode("error")  # what `use_deterministic_algorithms` does, less a compiler to import
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.set_flush_denormal(True)  # a sharp softmax has numbers that a processor multiplies ten times slower
    torch.set_num_threads(threads)
    disable_torch_compile_hooks()
    _retain_freed_memory()
    gc.freeze()  # what the libraries made on import stays, and need not be looked through every few updates
    return chosen


def is_cpu(device: torch.device) -> bool:
    """Say whether to compute in the ways of a processor; those of a GPU never wait for what is on the device.

    All that the network computes differently on the two asks here.
    """
    return device.type == CPU


def _retain_freed_memory() -> None:
    """Let freed memory stay with the process: every update needs it again, and the system clears what it hands out."""
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        libc.mallopt(M_MMAP_THRESHOLD, LARGEST_MMAP_THRESHOLD)
        libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
