"""Metadata of the machine and the code: processor, GPU, version of torch, commit."""

import hashlib
import subprocess
from pathlib import Path

from pipeline_py.run.cpu_usage import count_processors
from pipeline_py.run.processor_name import get_cpu_name

ROOT = Path(__file__).parent.parent
SOURCE_PATTERNS = ("pipeline_py/**/*.py", "pipeline_py/**/*.c", "benchmarks/*.py", "benchmarks/toolkits/*.py")


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
        "processor": get_cpu_name(),
        "cores": str(count_processors()),
        "card": get_gpu_name(device),
        "threads": str(thread_count),
        "torch": torch.__version__,
    }


def describe_code() -> dict[str, str]:
    """Identify the code of the working tree: the commit, if this is a clone, and a hash of the source files."""
    try:
        command = ["git", "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty"]
        commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    except OSError:
        commit = ""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in SOURCE_PATTERNS for path in ROOT.glob(pattern)):
        digest.update(f"{path.relative_to(ROOT).as_posix()}\n".encode() + path.read_bytes())
    return {"commit": commit, "code": digest.hexdigest()[:12]}
