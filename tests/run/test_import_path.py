"""Files of the user that are called like modules of Python neither break a command nor run in it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project_copy import ROOT, SNAKEMAKE_PROGRAM, ProjectCopy

NAMES = ("random", "select", "json", "shlex", "signal", "argparse", "tempfile", "numpy", "torch", "pydantic", "yaml")
TARGET = "results/corpus/clean/dev.source"


def add_modules(folder: Path) -> None:
    for name in NAMES:
        (folder / f"{name}.py").write_text("raise SystemExit('a file of the user was imported')\n")


def run(folder: Path, *command: str, path: Path | None = None) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {} if path is None else {"PYTHONPATH": str(path)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("stage", ["translate", "syntax.treebank_text", "download"])
def test_a_command_in_a_folder_of_a_stranger(tmp_path: Path, stage: str) -> None:
    add_modules(tmp_path)
    done = run(tmp_path, sys.executable, "-m", f"pipeline_py.{stage}", "--help", path=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: python -m pipeline_py.{stage}")


def test_a_command_in_the_folder_of_the_project(tmp_path: Path) -> None:
    folder = ProjectCopy(tmp_path / "project").folder
    add_modules(folder)
    for options, path in ([], None), ([], folder), (["-P"], folder):
        done = run(folder, sys.executable, *options, "-m", "pipeline_py.syntax.treebank_text", "--help", path=path)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_import_path_of_other_programs_stays(tmp_path: Path) -> None:
    code = "import sys; before = [*sys.path]; import pipeline_py; assert sys.path == before"
    done = run(tmp_path, sys.executable, "-c", code, path=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_stages_of_the_workflow(tmp_path: Path) -> None:
    folder = ProjectCopy(tmp_path / "project").folder
    add_modules(folder)
    done = run(folder, str(SNAKEMAKE_PROGRAM), TARGET, "--cores", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / TARGET).exists()
