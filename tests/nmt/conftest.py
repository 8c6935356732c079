"""What tests of networks share, and those of stages that reuse cached outputs."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


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


class Works(Exception):
    """A stage begins to work."""


def refuse(*arguments: object) -> None:
    raise Works


@pytest.fixture
def works(monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    """Call a stage, and say whether it begins to work instead of taking its outputs back; it gets no further."""

    def call(stage: Callable[..., None], arguments: dict[str, object]) -> bool:
        with monkeypatch.context() as patch:
            patch.setattr("pipeline_py.nmt.device.prepare", refuse)
            patch.setattr("pipeline_py.subword.vocabulary.Vocabulary.load", refuse)
            try:
                stage(**arguments)
            except Works:
                return True
            return False

    return call


@pytest.fixture
def copied(tmp_path: Path) -> Callable[..., dict[str, object]]:
    """Copy the folder of a finished run, and return the options of the run as those of the copy."""

    def copy(folder: Path, arguments: dict[str, object]) -> dict[str, object]:
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)

        def moved(value: object) -> object:
            if isinstance(value, list):
                return [moved(item) for item in value]
            return type(value)(str(value).replace(str(folder), str(tmp_path)))

        return {name: moved(value) for name, value in arguments.items()}

    return copy


@pytest.fixture
def without_torch(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Run a stage as a command, where whoever imports torch fails."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "torch.py").write_text("raise RuntimeError('torch is imported')\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "broken")}

    def run(stage: str, arguments: dict[str, object]) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", f"pipeline_py.nmt.{stage}"]
        for key, value in arguments.items():
            for item in value if isinstance(value, list) else [value]:
                command.append(f"--{key.replace('_', '-')}={item}")
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    return run
