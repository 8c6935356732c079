"""A job that draws a figure in a process of its own, as the workflow runs it."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def run_in_process(stage: str, folder: Path, arguments: Mapping[str, Any], name: str) -> None:
    """Run a stage that draws a figure, with outputs NAME.svg and NAME.pdf in a folder."""
    job = {
        "stage": stage,
        "results": str(folder),
        "process": "0",
        "arguments": arguments,
        "calls": [{f"{kind}_output": f"{folder}/{name}.{kind}" for kind in ("svg", "pdf")}],
    }
    command = [sys.executable, "-m", "pipeline_py.run", json.dumps(job, default=str)]
    subprocess.run(command, check=True, capture_output=True)
