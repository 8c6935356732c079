"""Jobs of stages, as the plan describes them, for tests."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
from pydantic_core import to_json, to_jsonable_python

from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.nmt.saved_model import save_weights


def build_job(stage: str, folder: Path, arguments: Mapping[str, Any], **job_keys: Any) -> dict[str, Any]:
    """Describe a job that calls a stage once, with results in a folder; `job_keys` are those of `run_job`."""
    job = {"stage": stage, "arguments": to_jsonable_python(arguments), "calls": [{}], "results": str(folder)}
    return {**job, "process": "settings and code", "is_cached": True, **job_keys}


def get_job_command(job: Mapping[str, Any]) -> list[str]:
    """Return the command that runs a job."""
    return [sys.executable, "-m", "pipeline_py.run", to_json(job).decode()]


def assert_restored(
    run_without_torch: Callable[[Mapping[str, Any]], CompletedProcess], job: Mapping[str, Any], outputs: Sequence[Path]
) -> None:
    """Remove the outputs of a finished job, and compare those that its cache restores without PyTorch."""
    contents = [output.read_bytes() for output in outputs]
    for output in outputs:
        output.unlink()
    process = run_without_torch(job)
    assert process.returncode == 0, process.stderr
    assert "reused from the cache" in process.stderr
    assert [output.read_bytes() for output in outputs] == contents


def change_content(path: Path) -> None:
    """Write something else to an input, undamaged."""
    if path.suffix == ".arrow":
        write_ragged_rows(path, [np.array([7, 7, 7])], "int32")
    elif path.suffix == ".safetensors":
        save_weights(path, {})
    else:
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
