"""Metadata of the machine: processor, GPU and version of torch."""

import platform
from pathlib import Path

from pipeline_py.run.cpu_usage import count_processors


def get_processor_name() -> str:
    """The model of the CPU."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def get_gpu_name(device: str) -> str:
    """The name of the GPU, empty where none computes."""
    if device != "cuda":
        return ""
    import torch

    return torch.cuda.get_device_name()


def describe_machine(device: str, thread_count: int) -> dict[str, str]:
    """Say what a table's numbers were measured on, column by column."""
    import torch

    return {
        "processor": get_processor_name(),
        "cores": str(count_processors()),
        "card": get_gpu_name(device),
        "threads": str(thread_count),
        "torch": torch.__version__,
    }
