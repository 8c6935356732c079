"""A run with file names that are not UTF-8 ends with one sentence before it writes anything."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project_copy import ROOT, SNAKEMAKE_PROGRAM, ProjectCopy

TARGET = "results/corpus/clean/dev.source"
ASCII_LOCALE = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
ASCII_ERROR = "Python reads file names as ascii, not as UTF-8; set the variable PYTHONUTF8=1\n"


def run_command(folder: bytes | Path, *command: str, **variables: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": "", **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace")


def run_workflow(folder: bytes | Path, **variables: str) -> subprocess.CompletedProcess:
    return run_command(folder, str(SNAKEMAKE_PROGRAM), TARGET, "--cores", "1", **variables)


@pytest.mark.slow
def test_a_folder_that_is_not_utf8(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/f\xe9lder"
    try:
        Path(os.fsdecode(folder)).mkdir()
    except OSError:
        pytest.skip("the file system only has names in UTF-8")
    ProjectCopy(Path(os.fsdecode(folder)))
    result = run_workflow(folder)
    assert result.returncode == 1 and "Traceback" not in result.stderr
    assert "lder: the path of this folder is not UTF-8; rename it, or work in another folder\n" in result.stderr
    result = run_command(folder, sys.executable, "-m", "pipeline_py.translate", "--system", "SDAtt")
    assert result.returncode == 1 and result.stderr.startswith("error: ") and result.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_locale_without_utf8(tmp_path: Path) -> None:
    folder = ProjectCopy(tmp_path / "f\u00f6lder").folder
    result = run_workflow(folder, **ASCII_LOCALE)
    assert result.returncode == 1 and "Traceback" not in result.stderr
    assert result.stderr.endswith(ASCII_ERROR)
    assert run_workflow(folder, **{**ASCII_LOCALE, "PYTHONUTF8": "1"}).returncode == 0
    result = run_command(folder, sys.executable, "-m", "pipeline_py.translate", "--system", "SDAtt", **ASCII_LOCALE)
    assert result.returncode == 1 and result.stderr.startswith("error: ") and result.stderr.count("\n") == 1


def test_a_missing_file_whose_name_is_not_ascii(tmp_path: Path) -> None:
    arguments = ["--annotation", "dependency", "--treebank", "g\u00e4.conllu", "--output", "text"]
    result = run_command(
        tmp_path,
        sys.executable,
        "-m",
        "pipeline_py.syntax.treebank_text",
        *arguments,
        PYTHONPATH=str(ROOT),
        **ASCII_LOCALE,
    )
    assert result.returncode == 1 and "Traceback" not in result.stderr
    assert result.stderr.splitlines()[-1].endswith("no such file; check the path in the configuration")
