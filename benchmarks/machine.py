"""What numbers depend on: the processor, the card, and the version of torch."""

import platform
from pathlib import Path

from pipeline_py.processors import count_processors

PEAKS = {
    "H200": {"bfloat16": 989e12, "tf32": 494e12, "float32": 67e12},
    "H100 PCIe": {"bfloat16": 756e12, "tf32": 378e12, "float32": 51e12},
    "H100": {"bfloat16": 989e12, "tf32": 494e12, "float32": 67e12},
    "A100": {"bfloat16": 312e12, "tf32": 156e12, "float32": 19.5e12},
    "L40S": {"bfloat16": 362e12, "tf32": 183e12, "float32": 91.6e12},
    "L4": {"bfloat16": 121e12, "tf32": 60e12, "float32": 30.3e12},
    "V100": {"float32": 15.7e12},
    "T4": {"float32": 8.1e12},
}
"""Floating-point operations a second of dense products, as the data sheets of the cards give them.

A card is the first of these whose words all occur in its name.
"""


def processor() -> str:
    """The model of the CPU."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def card(device: str) -> str:
    """The name of the GPU, empty where none computes."""
    if device != "cuda":
        return ""
    import torch

    return torch.cuda.get_device_name()


def peak(card: str, precision: str) -> float | None:
    """Floating-point operations that a card can do in a second; None for one that is not known."""
    words = card.replace("-", " ").split()
    for name, peaks in PEAKS.items():
        if all(word in words for word in name.split()):
            return peaks.get(precision)
    return None


def described(device: str, threads: int) -> dict[str, str]:
    """Say what a table's numbers were measured on, column by column."""
    import torch

    return {
        "processor": processor(),
        "cores": str(count_processors()),
        "card": card(device),
        "threads": str(threads),
        "torch": torch.__version__,
    }
