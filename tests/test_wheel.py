"""The built wheel works in an empty folder, outside of a clone."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.project_copy import ROOT


def run_program(folder: Path, *arguments: str, site: Path | None = None) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if site is not None:
        environment["PYTHONPATH"] = str(site)
    result = subprocess.run(
        [sys.executable, "-P", "-m", *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, (result.stdout + result.stderr)[-3000:]
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the wheel is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    # A copy, because setuptools leaves a folder in the tree that it builds.
    copy = folder / "copy"
    archive = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in archive.split("\0"):
        if name and not name.startswith(("docs/", "tests/")) and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    run_program(folder, "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(copy))
    (wheel,) = folder.glob("*.whl")
    run_program(folder, "pip", "install", "--quiet", "--no-deps", "--target", str(folder / "site"), str(wheel))
    return folder / "site"


def test_the_wheel_has_the_files_of_the_workflow(site: Path) -> None:
    (wheel,) = site.parent.glob("*.whl")
    names = {*zipfile.ZipFile(wheel).namelist()}
    project = "pipeline_py/project/"
    files = [
        path.relative_to(ROOT) for folder in ("envs", "workflow", "profiles") for path in (ROOT / folder).rglob("*")
    ]
    expected = [
        project + file.as_posix() for file in files if (ROOT / file).is_file() and "__pycache__" not in file.parts
    ]
    assert {*expected, f"{project}Snakefile", f"{project}config.yaml"} <= names
    unwanted = ("tests/", "benchmarks/", f"{project}docs/", f"{project}setup.py")
    assert not [name for name in names if name.startswith(unwanted)]


def test_an_experiment_in_an_empty_folder_runs(site: Path, tmp_path: Path) -> None:
    code = "import pipeline_py; print(pipeline_py.__file__)"
    path = subprocess.run(
        [sys.executable, "-P", "-c", code], env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True
    ).stdout
    assert Path(path.strip()).is_relative_to(site)
    run_program(tmp_path, "pipeline_py", "init", "mine", site=site)
    mine = tmp_path / "mine"
    assert "In total about" in run_program(mine, "pipeline_py", "check", site=site)
    target = "results/corpus/clean/dev.source"
    run_program(mine, "pipeline_py", "run", target, "--cores", "1", site=site)
    assert (mine / target).stat().st_size > 0
    explanation = run_program(mine, "pipeline_py", "explain", target, site=site)
    assert "made by corpus.clean" in explanation and "up to date" in explanation
    generated, changes = "results/corpus/generated/dev.source", "corpora={dev: {generate: {seed: 77}}}"
    changed = run_program(mine, "pipeline_py", "explain", generated, "--config", changes, site=site)
    assert "would be made again: seed is 77 and was" in changed
