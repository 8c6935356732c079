"""Measure the overhead of a run of the workflow: the time outside the stages, with and without the server of jobs.

    python -m benchmarks.overhead                       results/table1.tsv, made from nothing
    python -m benchmarks.overhead --target all --cores 8

Run it on an idle machine.
"""

import ctypes
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from pipeline_py.run.command_line import run_command
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_server import SERVER_VARIABLE

ROOT = Path(__file__).parents[1]
PROJECT_FILES = ("pipeline_py", "embedded_grammar", "workflow", "profiles", "envs", "Snakefile", "config.yaml")
"""Files and folders that a run needs."""

PR_SET_CHILD_SUBREAPER = 36
"""The option of `prctl` by which processes whose parent has ended, such as the job server, become our children."""


class WorkflowSeconds(NamedTuple):
    """Seconds of a run: wall-clock and CPU time of all processes, and wall-clock time within its stages."""

    wall_seconds: float
    cpu_seconds: float
    stage_seconds: float


def measure_overhead(*, target: str = "results/table1.tsv", cores: int = 0, configfile: Path | None = None) -> None:
    """Run the workflow twice in copies of the project, and print the overhead of both runs.

    Args:
        target: File or target that is made from scratch.
        cores: Jobs that Snakemake runs at once; 0: one for each core.
        configfile: An experiment other than the default one.

    Raises:
        InputError: a run fails; its messages are printed above.
    """
    options = ["--cores", str(cores or "all"), *(["--configfile", str(configfile.resolve())] if configfile else [])]
    variables = {name: value for name, value in os.environ.items() if name != SERVER_VARIABLE}
    print(f"{'jobs':<24}{'wall time':>12}{'CPU time':>12}{'in stages':>12}")
    for name, extra_variables in {"processes of their own": {SERVER_VARIABLE: ""}, "from the server": {}}.items():
        with tempfile.TemporaryDirectory(prefix="overhead.") as folder:
            _copy_project(Path(folder))
            run = time_workflow(Path(folder), [*options, "--", target], {**variables, **extra_variables})
        print(
            f"{name:<24}{run.wall_seconds:>10.1f} s{run.cpu_seconds:>10.1f} s{run.stage_seconds:>10.1f} s", flush=True
        )


def _copy_project(folder: Path) -> None:
    """Copy the project without results and compiled modules: as in a fresh clone."""
    for name in PROJECT_FILES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder)


def time_workflow(folder: Path, arguments: list[str], environment: dict[str, str]) -> WorkflowSeconds:
    """Run Snakemake to its end.

    Raises:
        InputError: it fails.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    snakemake = str(Path(sys.executable).with_name("snakemake"))
    command = [snakemake, "--quiet", "progress", "rules", "host", *arguments]
    before, start = _get_cpu_seconds(), time.perf_counter()
    process_result = subprocess.run(
        command, cwd=folder, env={**environment, "PYTHONPATH": str(folder)}, stdout=sys.stderr
    )
    wall = time.perf_counter() - start
    if process_result.returncode:
        raise InputError(f"Snakemake ended with exit code {process_result.returncode}; its message stands above")
    while _has_child_processes():
        os.wait()
    return WorkflowSeconds(wall, _get_cpu_seconds() - before, sum_stage_seconds(folder / "results"))


def _get_cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _has_child_processes() -> bool:
    return bool(Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").strip())


def sum_stage_seconds(results_folder: Path) -> float:
    """Return the seconds of all jobs by their records, of which each output of a job has a copy."""
    records = [json.loads(file.read_bytes()) for file in results_folder.rglob(".*.job.json")]
    return sum({json.dumps([of["stage"], of["arguments"]], sort_keys=True): of["seconds"] for of in records}.values())


if __name__ == "__main__":
    run_command(measure_overhead)
