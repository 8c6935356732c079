"""Fixtures for tests of networks and of stages that reuse cached outputs."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline_py.run.job_runner import run_job
from tests.nmt.stage_jobs import get_job_command


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Compute on one thread, and leave torch as it was, whatever a stage that ran here has set."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def same_torch_afterwards() -> Iterator[None]:
    """A stage owns its process and sets torch up for it; here it shares one."""
    import torch

    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    fill = torch.utils.deterministic.fill_uninitialized_memory
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(deterministic)
    torch.utils.deterministic.fill_uninitialized_memory = fill


class StageStarted(Exception):
    """A stage begins to work."""


def raise_stage_started(*arguments: object) -> None:
    raise StageStarted


@pytest.fixture
def works(monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    """Run a job, and say whether its stage begins to work instead of restoring its outputs; it gets no further."""

    def run_until_stage(job: dict[str, Any]) -> bool:
        with monkeypatch.context() as patch:
            patch.setattr("pipeline_py.nmt.torch_setup.prepare_torch", raise_stage_started)
            try:
                run_job(job)
            except StageStarted:
                return True
            return False

    return run_until_stage


@pytest.fixture
def copied(tmp_path: Path) -> Callable[..., dict[str, object]]:
    """Copy the folder of a finished run, and return the options of the run as those of the copy."""

    def copy_folder(folder: Path, arguments: dict[str, object]) -> dict[str, object]:
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)

        def replace_folder(value: object) -> object:
            if isinstance(value, dict):
                return {name: replace_folder(item) for name, item in value.items()}
            return type(value)(str(value).replace(str(folder), str(tmp_path))) if isinstance(value, Path) else value

        return {name: replace_folder(value) for name, value in arguments.items()}

    return copy_folder


@pytest.fixture
def without_torch(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Run a job in a process of its own, where whoever imports torch fails."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "torch.py").write_text("raise RuntimeError('torch is imported')\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "broken")}
    return lambda job: subprocess.run(get_job_command(job), capture_output=True, text=True, env=environment)


@pytest.fixture
def same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let BlackOut sample the same words on a CPU and on a GPU."""
    import torch

    from pipeline_py.nmt.loss.blackout import BlackOutLoss

    def draw(loss: BlackOutLoss, count: int) -> torch.Tensor:
        numbers = torch.arange(count * loss.sample_count, device=loss.cumulative_distribution.device)
        return numbers.view(count, loss.sample_count) % loss.target_vocabulary_size

    monkeypatch.setattr(BlackOutLoss, "_draw_samples", draw)
