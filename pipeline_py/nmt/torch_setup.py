"""Set up torch: device, threads, determinism and memory."""

import ctypes
import gc
import os
import platform

import torch

from pipeline_py.run.device_selection import select_device
from pipeline_py.run.processor_name import get_cpu_name
from pipeline_py.run.torch_compile_hooks import disable_torch_compile_hooks

CPU = "cpu"
"""The device type for which the CPU code is used; tests change it to run the GPU code on a CPU."""

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LARGEST_MMAP_THRESHOLD = 2**25
"""Parameters of glibc's mallopt(3), and the maximum value of the second."""


def prepare_torch(device: str, threads: int) -> torch.device:
    """Select the device, set the number of CPU threads, and make torch deterministic.

    Args:
        device: "cpu", "cuda", or "auto" (CUDA if there is a CUDA device).
        threads: CPU threads.

    Raises:
        InputError: `device` is "cuda" and there is no CUDA device.
    """
    selected_device = torch.device(select_device(device))
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS is not deterministic
    torch.set_deterministic_debug_mode("error")  # like `use_deterministic_algorithms`, without importing a compiler
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.set_flush_denormal(True)  # CPUs multiply denormal numbers, which a sharp softmax produces, ten times slower
    torch.set_num_threads(threads)
    disable_torch_compile_hooks()
    _retain_freed_memory()
    gc.freeze()  # exclude objects of imported libraries from garbage collection
    return selected_device


def is_cpu(device: torch.device) -> bool:
    """Return whether to use the CPU code of networks; the GPU code never synchronizes with the device.

    All code that differs between CPU and GPU uses this function.
    """
    return device.type == CPU


def get_processor_name(device: torch.device) -> str:
    """Return the name of the GPU, or of the CPU if the device is one."""
    return get_cpu_name() if is_cpu(device) else torch.cuda.get_device_name(device)


def _retain_freed_memory() -> None:
    """Keep freed memory in the process, because every update needs it again and the kernel clears new memory."""
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        libc.mallopt(M_MMAP_THRESHOLD, LARGEST_MMAP_THRESHOLD)
        libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
