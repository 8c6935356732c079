"""Import path of commands: files of the user do not shadow Python's modules."""

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
def test_a_command_ignores_modules_of_the_working_folder(tmp_path: Path, stage: str) -> None:
    add_modules(tmp_path)
    result = run(tmp_path, sys.executable, "-m", f"pipeline_py.{stage}", "--help", path=ROOT)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"usage: python -m pipeline_py.{stage}")


def test_a_command_works_in_the_project_folder(tmp_path: Path) -> None:
    folder = ProjectCopy(tmp_path / "project").folder
    add_modules(folder)
    for options, path in ([], None), ([], folder), (["-P"], folder):
        result = run(folder, sys.executable, *options, "-m", "pipeline_py.syntax.treebank_text", "--help", path=path)
        assert (result.returncode, result.stderr) == (0, "")


def test_the_import_path_of_other_programs_is_unchanged(tmp_path: Path) -> None:
    code = "import sys; before = [*sys.path]; import pipeline_py; assert sys.path == before"
    result = run(tmp_path, sys.executable, "-c", code, path=ROOT)
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_workflow_stages_ignore_modules_of_the_working_folder(tmp_path: Path) -> None:
    folder = ProjectCopy(tmp_path / "project").folder
    add_modules(folder)
    result = run(folder, str(SNAKEMAKE_PROGRAM), TARGET, "--cores", "1")
    assert result.returncode == 0, result.stdout + result.stderr
    assert (folder / TARGET).exists()
