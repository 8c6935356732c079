"""The model of the CPU, as far as the system states it."""

import platform
from pathlib import Path

PROCESSOR_FILE = Path("/proc/cpuinfo")

IDENTIFYING_KEYS = ("cpu family", "model", "stepping")
"""Numbers in `PROCESSOR_FILE` that distinguish generations where virtual machines have the same name."""


def get_cpu_name(file: Path = PROCESSOR_FILE) -> str:
    """Return the name of the CPU, on Linux with its family, model and stepping, e.g. `AMD EPYC (25, 17, 1)`.

    Args:
        file: Linux's description of processors; without it, the name is that of Python's `platform`.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    entries: dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition(":")
        entries.setdefault(key.strip(), value.strip())
    name = entries.get("model name") or platform.processor() or platform.machine()
    numbers = [entries[key] for key in IDENTIFYING_KEYS if key in entries]
    return f"{name} ({', '.join(numbers)})" if numbers else name
