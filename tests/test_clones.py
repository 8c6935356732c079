"""With two clones in one environment, the plan and its jobs use the code next to the Snakefile."""

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


def run_workflow(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run Snakemake in a clone with an environment in which Python finds another clone first."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [str(SNAKEMAKE_PROGRAM), TARGET, "--cores", "1", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def count_planned_jobs(folder: Path, *arguments: str) -> int:
    result = run_workflow(folder, "--dry-run", *arguments)
    assert result.returncode == 0, result.stderr
    return (result.stdout + result.stderr).count("rule generate:")


def replace_in_stage(folder: Path, old: str, new: str) -> None:
    text = (folder / STAGE).read_text(encoding="utf-8")
    assert old in text
    (folder / STAGE).write_text(text.replace(old, new), encoding="utf-8")


def make_worktree(folder: Path, worktree: Path) -> None:
    def run_git(*words: str) -> None:
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)

    run_git("init", "--quiet")
    run_git("add", "--all")
    run_git("commit", "--quiet", "--message", "Add the project")
    run_git("worktree", "add", "--quiet", str(worktree), "-b", "other")


@pytest.fixture(params=["copy", "worktree", "directory"])
def clone(request, tmp_path) -> tuple[Path, Path, list[str]]:
    """Return the folder of a clone, the folder in which its jobs run, and the options for the latter."""
    project_folder = ProjectCopy(tmp_path / "first").folder
    if request.param == "copy":
        return project_folder, project_folder, []
    if request.param == "worktree":
        if shutil.which("git") is None:
            pytest.skip("no git")
        make_worktree(project_folder, tmp_path / "second")
        return tmp_path / "second", tmp_path / "second", []
    working_folder = ProjectCopy(tmp_path / "other").folder  # a clone, too
    return project_folder, working_folder, ["--directory", str(working_folder)]


@pytest.mark.slow
def test_plan_hashes_and_jobs_use_the_code_next_to_the_snakefile(clone):
    folder, working_folder, options = clone
    replace_in_stage(folder, UNCHANGED, CHANGED)
    result = run_workflow(folder, *options)
    assert result.returncode == 0, result.stderr
    assert f"changed {folder / STAGE}" in (working_folder / LOG).read_text(encoding="utf-8")
    assert count_planned_jobs(folder, *options) == 0
    replace_in_stage(folder, CHANGED, UNCHANGED)
    assert count_planned_jobs(folder, *options) == 1


def test_a_snakefile_without_its_code_is_refused(tmp_path):
    folder = ProjectCopy(tmp_path / "clone").folder
    shutil.rmtree(folder / "pipeline_py")
    result = run_workflow(folder)
    assert result.returncode == 1
    assert f"{folder / 'pipeline_py'} does not exist, and the code of another folder ({ROOT}" in result.stderr


@pytest.mark.slow
def test_an_installed_clone_with_other_modules_does_not_matter(tmp_path):
    folder, installed_folder, working_folder = (
        tmp_path / "clone",
        ProjectCopy(tmp_path / "installed").folder,
        tmp_path / "place",
    )
    ProjectCopy(folder)
    shutil.rmtree(installed_folder / "pipeline_py" / "config")
    working_folder.mkdir()
    shutil.copy(folder / "config.yaml", working_folder)
    environment = {**os.environ, "PYTHONPATH": str(installed_folder)}
    for snakefile in (["-s", str(folder / "Snakefile")], [f"--snakefile={folder / 'Snakefile'}"]):
        command = [str(SNAKEMAKE_PROGRAM), TARGET, "--cores", "1", "--dry-run", *snakefile]
        result = subprocess.run(command, cwd=working_folder, env=environment, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
