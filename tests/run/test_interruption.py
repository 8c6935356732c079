"""Ctrl-C: one sentence and exit code 130."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project_copy import ROOT

SENTENCE = "error: interrupted; run the same command again"

WORK = """
import time
from pipeline_py.run.command_line import run_and_exit

def work() -> None:
    print("started", flush=True)
    time.sleep(60)

run_and_exit(work)
"""

PACKAGE = """
import time
print("started", flush=True)
time.sleep(60)
"""
"""A library with a slow import."""


def interrupt(command: list[str], folder: Path, path: str = str(ROOT)) -> tuple[int, str]:
    """Send SIGINT to a process after its first line of output; return its exit code and stderr."""
    environment = {**os.environ, "PYTHONPATH": path}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, cwd=folder, env=environment, text=True, **pipes)
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors


def test_ctrl_c_in_a_stage_is_reported_in_one_sentence(tmp_path: Path) -> None:
    assert interrupt([sys.executable, "-c", WORK], tmp_path) == (130, f"{SENTENCE}\n")


@pytest.mark.parametrize("module", ["pipeline_py.download", "pipeline_py.run"])
def test_ctrl_c_during_imports_is_reported_in_one_sentence(tmp_path: Path, module: str) -> None:
    (tmp_path / "pydantic.py").write_text(PACKAGE)
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    arguments = ["{}"] if module == "pipeline_py.run" else ["--configfile", "mine.yaml"]
    assert interrupt([sys.executable, "-P", "-m", module, *arguments], tmp_path, path) == (130, f"{SENTENCE}\n")


def test_interrupting_torchrun_raises_keyboard_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch.distributed import run
    from torch.distributed.elastic.multiprocessing.api import SignalException

    from pipeline_py.nmt.training.launch import launch_processes

    def fail(arguments: list[str]) -> None:
        raise SignalException("interrupted", signal.SIGINT)

    monkeypatch.setattr(run, "main", fail)
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", sys.modules["pipeline_py"].__spec__)
    with pytest.raises(KeyboardInterrupt):
        launch_processes(2, "nmt.train", {})
