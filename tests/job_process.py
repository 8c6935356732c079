"""Jobs as the workflow runs them: with a cache, or in a process of their own."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def build_cached_job(
    stage: str, folder: Path, arguments: Mapping[str, Any], process_identity: str = "0"
) -> dict[str, Any]:
    """Return a job whose outputs are cached in their folder."""
    job = {"stage": stage, "results": folder, "is_cached": True, "process": process_identity, "arguments": arguments}
    described: dict[str, Any] = json.loads(json.dumps({**job, "calls": [{}]}, default=str))
    return described


def find_imported_modules(job: Mapping[str, Any], *module_names: str) -> tuple[set[str], str]:
    """Run a job in a process of its own.

    Returns:
        Those of the modules that it imports, and what it writes to stderr.
    """
    code = (
        "import json, sys; from pipeline_py.run.job_runner import run_job; job, *names = sys.argv[1:]; "
        "run_job(json.loads(job)); print(*(name for name in names if name in sys.modules))"
    )
    command = [sys.executable, "-c", code, json.dumps(job), *module_names]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {*done.stdout.split()}, done.stderr


def run_figure_job(stage: str, folder: Path, arguments: Mapping[str, Any], figure_name: str) -> None:
    """Run a stage that draws a figure, with outputs NAME.svg and NAME.pdf in a folder."""
    job = {
        "stage": stage,
        "results": str(folder),
        "process": "0",
        "arguments": arguments,
        "calls": [{f"{kind}_output": f"{folder}/{figure_name}.{kind}" for kind in ("svg", "pdf")}],
    }
    command = [sys.executable, "-m", "pipeline_py.run", json.dumps(job, default=str)]
    subprocess.run(command, check=True, capture_output=True)
