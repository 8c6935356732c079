"""Termination of a job at the end of its Snakemake process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline_py.run.interruption import SNAKEMAKE_PID_VARIABLE
from tests.project_copy import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="Linux tells when a process ends")

JOB = """
import subprocess, sys, time
from pathlib import Path
from pipeline_py.run.command_line import run_and_exit

def work() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path("child").write_text(str(child.pid))
    Path("started.part").write_text(str(__import__("os").getpid()))
    Path("started.part").rename("started")
    time.sleep(600)

run_and_exit(work)
"""

RUNNING = """
import os, subprocess, sys
if "--own" in sys.argv:
    os.environ["{variable}"] = str(os.getpid())
subprocess.run(["bash", "-c", "set -e; {python} job.py 2>job.log; true"])
"""


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition, seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


@contextmanager
def runner(folder: Path, *options: str, **variables: str) -> Iterator[tuple[subprocess.Popen, list[int]]]:
    """Run a job in a shell like Snakemake; yield the runner and the IDs of the job and its child."""
    (folder / "job.py").write_text(JOB)
    (folder / "runner.py").write_text(RUNNING.format(variable=SNAKEMAKE_PID_VARIABLE, python=sys.executable))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    process = subprocess.Popen([sys.executable, "runner.py", *options], cwd=folder, env=environment)
    jobs: list[int] = []
    try:
        assert wait_for((folder / "started").exists)
        jobs = [int((folder / name).read_text()) for name in ("started", "child")]
        yield process, jobs
    finally:
        for number in filter(is_running, [process.pid, *jobs]):
            os.kill(number, signal.SIGKILL)
        process.wait()


def test_a_job_and_its_processes_end_with_the_snakemake_that_runs_it(tmp_path):
    with runner(tmp_path, "--own") as (process, jobs):
        assert all(map(is_running, jobs))
        process.kill()
        process.wait()
        assert wait_for(lambda: not any(map(is_running, jobs)))
    assert f"Snakemake (process {process.pid}) has ended" in (tmp_path / "job.log").read_text()


def test_a_job_does_not_end_with_a_process_that_does_not_run_it(tmp_path):
    """The variable may hold the ID of an unrelated process."""
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        with runner(tmp_path, **{SNAKEMAKE_PID_VARIABLE: str(stranger.pid)}) as (_, jobs):
            stranger.kill()
            stranger.wait()
            assert not wait_for(lambda: not all(map(is_running, jobs)), seconds=1)
    finally:
        stranger.kill()
