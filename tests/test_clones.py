"""Two clones and one environment: the code next to the Snakefile plans, and its jobs run."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.project_copy import ROOT, SNAKEMAKE_PROGRAM, ProjectCopy

pytestmark = pytest.mark.slow

TARGET = "results/corpus/generated/dev.source"
STAGE = "pipeline_py/corpus/generate.py"
LOG = "logs/corpus/generate/dev.log"
UNCHANGED = "    counts = SentenceCounts()\n"
CHANGED = '    print("changed", __file__, file=__import__("sys").stderr)\n' + UNCHANGED


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run Snakemake in a clone, where Python finds another clone first."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [str(SNAKEMAKE_PROGRAM), TARGET, "--cores", "1", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def count_planned(folder: Path, *arguments: str) -> int:
    done = run(folder, "--dry-run", *arguments)
    assert done.returncode == 0, done.stderr
    return (done.stdout + done.stderr).count("rule generate:")


def replace_in_stage(folder: Path, old: str, new: str) -> None:
    text = (folder / STAGE).read_text(encoding="utf-8")
    assert old in text
    (folder / STAGE).write_text(text.replace(old, new), encoding="utf-8")


def make_worktree(folder: Path, worktree: Path) -> None:
    def git(*words: str) -> None:
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)

    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "Add the project")
    git("worktree", "add", "--quiet", str(worktree), "-b", "other")


@pytest.fixture(params=["copy", "worktree", "directory"])
def clone(request, tmp_path) -> tuple[Path, Path, list[str]]:
    """The folder of a clone, the folder that its jobs run in, and the options for the latter."""
    first = ProjectCopy(tmp_path / "first").folder
    if request.param == "copy":
        return first, first, []
    if request.param == "worktree":
        if shutil.which("git") is None:
            pytest.skip("no git")
        make_worktree(first, tmp_path / "second")
        return tmp_path / "second", tmp_path / "second", []
    other = ProjectCopy(tmp_path / "other").folder  # a clone, too
    return first, other, ["--directory", str(other)]


def test_plan_hashes_and_jobs_use_the_code_next_to_the_snakefile(clone):
    folder, place, options = clone
    replace_in_stage(folder, UNCHANGED, CHANGED)
    done = run(folder, *options)
    assert done.returncode == 0, done.stderr
    assert f"changed {folder / STAGE}" in (place / LOG).read_text(encoding="utf-8")
    assert count_planned(folder, *options) == 0
    replace_in_stage(folder, CHANGED, UNCHANGED)
    assert count_planned(folder, *options) == 1


def test_a_snakefile_without_its_code_is_refused(tmp_path):
    folder = ProjectCopy(tmp_path / "clone").folder
    shutil.rmtree(folder / "pipeline_py")
    done = run(folder)
    assert done.returncode == 1
    assert f"{folder / 'pipeline_py'} does not exist, and the code of another folder ({ROOT}" in done.stderr


def test_an_installed_clone_with_other_modules_does_not_matter(tmp_path):
    folder, installed, place = tmp_path / "clone", ProjectCopy(tmp_path / "installed").folder, tmp_path / "place"
    ProjectCopy(folder)
    shutil.rmtree(installed / "pipeline_py" / "config")
    place.mkdir()
    shutil.copy(folder / "config.yaml", place)
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    for snakefile in (["-s", str(folder / "Snakefile")], [f"--snakefile={folder / 'Snakefile'}"]):
        command = [str(SNAKEMAKE_PROGRAM), TARGET, "--cores", "1", "--dry-run", *snakefile]
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
