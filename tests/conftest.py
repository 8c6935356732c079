"""Distribute tests of whole folders, module by module, over one process more than there are processors.

Tests of whole folders leave out slow ones, unless `--slow` or `-m` is given. Single files run completely in one
process, as do all tests with `pytest -n 0` or without pytest-xdist.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from pipeline_py.run.job_server import SERVER_VARIABLE

settings.register_profile("unhurried", deadline=None)  # the time of an example depends on the load of the machine
settings.load_profile("unhurried")

IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ
EXTRA_WORKERS = 1
"""Processes beyond the number of processors: tests of clusters and of killed runs wait longer than they compute."""

MAX_WORKERS = 8
"""Limit of processes: more would wait for the longest module, each with its own PyTorch in memory."""

SLOWEST_MODULES = (
    "tests/slurm/test_slurm.py",
    "tests/test_reruns.py",
    "tests/application/test_system.py",
    "tests/test_workflow.py",
    "tests/test_benchmarks.py",
    "tests/nmt/test_train.py",
    "tests/test_experiments.py",
    "tests/benchmarks/test_faults.py",
    "tests/corpus/test_learn_segmenter.py",
    "tests/nmt/training/test_process_group.py",
    "tests/docs/test_commands.py",
    "tests/nmt/test_gpu_paths.py",
    "tests/syntax/test_train_parser.py",
)
"""Modules that start before all others, so that none runs alone at the end."""

# Tests start hundreds of processes, each of which would compile all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Jobs of tests begin as copies of a process of the tests (`tests/forked_jobs.py`).
os.environ.setdefault(SERVER_VARIABLE, "")

if IS_WORKER:
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run slow tests of folders, too")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    option = config.option
    if not any(Path(argument).is_dir() for argument in config.args):
        return
    if not option.slow and not option.markexpr:
        option.markexpr = "not slow"  # in workers, too: they get the command line, not its options
    if not IS_WORKER and getattr(option, "numprocesses", 0) is None and option.dist == "no" and not option.usepdb:
        option.numprocesses = min(len(os.sched_getaffinity(0)) + EXTRA_WORKERS, MAX_WORKERS)
        option.dist = "loadscope"
        option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if IS_WORKER:
        ranks = {module: rank for rank, module in enumerate(SLOWEST_MODULES)}
        items.sort(key=lambda item: ranks.get(item.nodeid.split("::")[0], len(ranks)))


@pytest.fixture(scope="module", autouse=True)
def restore_denormal_numbers() -> Iterator[None]:
    """Let the processor compute with denormal numbers again, which networks flush to 0 for their whole process."""
    yield
    if torch := sys.modules.get("torch"):
        torch.set_flush_denormal(False)


@pytest.fixture
def tiny_file_system(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of eight kilobytes, and yield its folder."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("no right to mount a file system")
    yield folder
    subprocess.run(["umount", folder], check=True)
