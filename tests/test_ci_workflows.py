"""The workflows of GitHub run commands that the project has, on its Python versions."""

import shlex
import tomllib
from collections.abc import Iterator

import yaml

from tests.docs.test_commands import CHECKS
from tests.project_copy import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOW_FILES = sorted((ROOT / ".github/workflows").glob("*.yml"))


def list_commands() -> Iterator[list[str]]:
    """Yield the words of each command of a workflow."""
    for file in WORKFLOW_FILES:
        for job in yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].values():
            yield from (shlex.split(step["run"]) for step in job["steps"] if "run" in step)


def test_workflows_run_commands_that_exist():
    commands = [*list_commands()]
    assert [".ci/run"] in commands and ["pytest"] in commands and ["pytest", "--slow"] in commands
    for command in commands:
        CHECKS[command[0]](tuple(command))


def test_the_lowest_and_later_python_versions_are_tested():
    (workflow,) = [file for file in WORKFLOW_FILES if file.stem == "ci"]
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
    (lowest_version,) = [step["with"]["python-version"] for step in jobs["checks"]["steps"] if "with" in step]
    assert PROJECT["requires-python"] == f">={lowest_version}"
    versions = [lowest_version, *jobs["tests"]["strategy"]["matrix"]["python-version"]]
    assert versions == [f"3.{minor}" for minor in range(11, 15)]
