"""Run jobs as the workflow does: with a cache, or in a separate process."""

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
    serializable_job: dict[str, Any] = json.loads(json.dumps({**job, "calls": [{}]}, default=str))
    return serializable_job


def find_imported_modules(job: Mapping[str, Any], *module_names: str) -> tuple[set[str], str]:
    """Run a job in a separate process.

    Returns:
        The names of those of the modules that it imports, and its stderr.
    """
    code = (
        "import json, sys; from pipeline_py.run.job_runner import run_job; job, *names = sys.argv[1:]; "
        "run_job(json.loads(job)); print(*(name for name in names if name in sys.modules))"
    )
    command = [sys.executable, "-c", code, json.dumps(job), *module_names]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return {*result.stdout.split()}, result.stderr


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
