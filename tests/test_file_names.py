"""Where names of files are not UTF-8, a run ends with one sentence before it makes anything."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project_copy import ROOT, SNAKEMAKE_PROGRAM, ProjectCopy

TARGET = "results/corpus/clean/dev.source"
ASCII = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
IN_ASCII = "Python reads file names as ascii, not as UTF-8; set the variable PYTHONUTF8=1\n"


def run(folder: bytes | Path, *command: str, **variables: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": "", **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace")


def workflow(folder: bytes | Path, **variables: str) -> subprocess.CompletedProcess:
    return run(folder, str(SNAKEMAKE_PROGRAM), TARGET, "--cores", "1", **variables)


def test_a_folder_that_is_not_utf8(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/f\xe9lder"
    try:
        Path(os.fsdecode(folder)).mkdir()
    except OSError:
        pytest.skip("the file system only has names in UTF-8")
    ProjectCopy(Path(os.fsdecode(folder)))
    done = workflow(folder)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "lder: the path of this folder is not UTF-8; rename it, or work in another folder\n" in done.stderr
    done = run(folder, sys.executable, "-m", "pipeline_py.translate", "--system", "SDAtt")
    assert done.returncode == 1 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1


def test_a_locale_without_utf8(tmp_path: Path) -> None:
    folder = ProjectCopy(tmp_path / "f\u00f6lder").folder
    done = workflow(folder, **ASCII)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.endswith(IN_ASCII)
    assert workflow(folder, **{**ASCII, "PYTHONUTF8": "1"}).returncode == 0
    done = run(folder, sys.executable, "-m", "pipeline_py.translate", "--system", "SDAtt", **ASCII)
    assert done.returncode == 1 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1


def test_a_missing_file_whose_name_is_not_ascii(tmp_path: Path) -> None:
    words = ["--annotation", "dependency", "--treebank", "g\u00e4.conllu", "--output", "text"]
    done = run(
        tmp_path, sys.executable, "-m", "pipeline_py.syntax.treebank_text", *words, PYTHONPATH=str(ROOT), **ASCII
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].endswith("no such file; check the path in the configuration")
