"""The workflow runs as its catalog expects: from `workflow/Snakefile`, and as a module of another workflow."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.project_copy import ROOT, ProjectCopy

MODULE_SNAKEFILE = """
configfile: "config/config.yaml"

module arbitree:
    snakefile: {snakefile}
    config: config

use rule * from arbitree as arbitree_*
"""
"""The Snakefile that the catalog's users deploy."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> ProjectCopy:
    return ProjectCopy(tmp_path_factory.mktemp("catalog") / "clone")


@pytest.fixture(scope="module")
def jobs(project: ProjectCopy) -> list[str]:
    """Return the jobs of the default target."""
    return list_jobs(project)


@pytest.fixture
def deployed_options(project: ProjectCopy, tmp_path: Path) -> list[str]:
    """Return the options to run a Snakefile in a folder of its own, with a copy of the configuration."""
    for folder in ("workflow", "config"):
        (tmp_path / folder).mkdir()
    (tmp_path / "config/config.yaml").write_bytes((project.folder / "config.yaml").read_bytes())
    return ["--snakefile", str(tmp_path / "workflow/Snakefile"), "--directory", str(tmp_path)]


def list_jobs(project: ProjectCopy, *arguments: str) -> list[str]:
    """Return the rule of each job that a run would start, without the name of a module."""
    result = project.run_snakemake("--dry-run", *arguments, config={"targets": ["table1"]})
    assert result.returncode == 0, result.stdout + result.stderr
    rules = re.findall(r"^(?:local)?rule (?:arbitree_)?(\w+):$", result.stdout + result.stderr, flags=re.MULTILINE)
    assert len(rules) > 10
    return sorted(rules)


@pytest.mark.slow
def test_both_snakefiles_plan_the_same_jobs_by_default(project, jobs):
    assert list_jobs(project, "--snakefile", "workflow/Snakefile") == jobs


@pytest.mark.slow
@pytest.mark.parametrize("snakefile", ["Snakefile", "workflow/Snakefile"])
def test_another_workflow_uses_the_rules_as_a_module(project, deployed_options, snakefile, jobs):
    snakefile_path = repr(str(project.folder / snakefile))
    Path(deployed_options[1]).write_text(MODULE_SNAKEFILE.format(snakefile=snakefile_path), encoding="utf-8")
    assert list_jobs(project, *deployed_options) == jobs


def test_a_module_without_its_code_is_refused(project, deployed_options, tmp_path, monkeypatch):
    """Snakemake clones the repository of a remote module without its files."""
    repository = tmp_path / "snakemake/snakemake/source-cache/snakemake-git-cache/github.com/owner/arbitree"
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for words in (
        ["init", "--quiet"],
        ["add", "Snakefile", "workflow"],
        [*identity, "commit", "--quiet", "--message", "Add the workflow"],
        ["tag", "v1"],
        ["clone", "--quiet", "--bare", ".", str(repository)],
    ):
        subprocess.run(["git", *words], cwd=project.folder, check=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    remote_file = 'github("owner/arbitree", path="workflow/Snakefile", tag="v1")'
    Path(deployed_options[1]).write_text(MODULE_SNAKEFILE.format(snakefile=remote_file), encoding="utf-8")
    result = project.run_snakemake("--dry-run", *deployed_options)
    assert result.returncode == 1
    assert "clone the repository and give the path of its Snakefile" in result.stdout + result.stderr


def test_the_files_that_the_catalog_requires_exist():
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text(encoding="utf-8"))["usage"]
    assert usage["software-stack-deployment"]["conda"] and list((ROOT / "envs").glob("*.yaml"))
    assert (ROOT / "config/README.md").is_file()
