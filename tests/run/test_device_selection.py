"""Selection of a GPU by several processes, with simulated GPUs."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from pipeline_py.run import device_selection

PROCESS = """
import sys, time, torch
from types import SimpleNamespace
torch.cuda.is_available = lambda: True
torch.cuda.device_count = lambda: 2
torch.cuda.get_device_properties = lambda card: SimpleNamespace(uuid=f"card{card}")
torch.cuda.set_device = lambda card: print(card, flush=True)
from pipeline_py.run.device_selection import select_device
print(select_device("auto"), flush=True)
time.sleep(60)
"""


@pytest.fixture
def start_process(tmp_path, monkeypatch):
    """Return a function that starts a process with a GPU; all processes end with the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    started = []

    def start(**environment: str) -> tuple[subprocess.Popen, str]:
        command = [sys.executable, "-c", PROCESS]
        process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_concurrent_processes_reserve_different_gpus(start_process):
    (first, card), (_, second_card), (_, third_card) = start_process(), start_process(), start_process()
    assert (card, second_card) == ("0", "1")
    assert third_card == "cuda", "no card is left, so the first one is shared"
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert start_process()[1] == "0", "a process that was killed leaves its card"


def test_gpu_locks_are_private_and_follow_no_link(start_process, tmp_path, capfd):
    assert start_process()[1] == "0"
    folder = tmp_path / "arbitree"
    assert folder.stat().st_mode & 0o777 == 0o700 and [file.name for file in folder.iterdir()] == ["card-card0.lock"]
    (tmp_path / "precious").write_text("kept")
    (folder / "card-card1.lock").symlink_to(tmp_path / "precious")
    assert start_process()[1] == "cuda"
    assert "warning: no GPU is reserved (" in capfd.readouterr().err
    assert (tmp_path / "precious").read_text() == "kept"


def test_torchrun_selects_the_gpu(start_process):
    assert start_process(LOCAL_RANK="1")[1] == "cuda"


def test_a_single_gpu_is_not_reserved(monkeypatch):
    device_selection._reserve_gpu.cache_clear()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda card: SimpleNamespace(uuid="one"))
    monkeypatch.setattr(torch.cuda, "set_device", lambda card: pytest.fail("there is nothing to choose"))
    assert device_selection.select_device("cuda") == "cuda"
