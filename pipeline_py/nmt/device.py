"""Where a network computes, such that it computes the same twice."""

import os

import torch

from pipeline_py.device import device_named


def prepare(device: str, threads: int) -> torch.device:
    """Choose the device, set the number of CPU threads, and make torch repeat its sums.

    Args:
        device: "cpu", "cuda", or "auto" for CUDA where there is such a device.
        threads: CPU threads.

    Raises:
        InputError: CUDA is asked for and there is none.
    """
    chosen = torch.device(device_named(device))
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS does not repeat its sums
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.set_num_threads(threads)
    return chosen
