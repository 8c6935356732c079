"""Commands that run Snakemake."""

import sys
from pathlib import Path

import pytest

from pipeline_py.commands import run_workflow as module
from pipeline_py.commands.run_workflow import build_snakemake_command, check_experiment
from pipeline_py.run.workflow_files import find_workflow_folder


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_empty_folder_uses_the_snakefile_of_the_workflow() -> None:
    assert build_snakemake_command(["table1"]) == [
        *(sys.executable, "-P", "-m", "snakemake"),
        *("--snakefile", str(find_workflow_folder() / "Snakefile"), "table1"),
    ]
    assert "--snakefile" not in build_snakemake_command(["-s", "mine"])


def test_files_of_the_working_folder_are_used(working_folder: Path) -> None:
    (working_folder / "experiment.yaml").touch()
    arguments = ["table1", "--cores", "2"]
    assert build_snakemake_command(arguments)[6:] == [*arguments, "--configfile", "experiment.yaml"]
    for option in (["--configfile", "a.yaml"], ["--configfile=a.yaml"]):
        assert build_snakemake_command(option)[6:] == option
    (working_folder / "Snakefile").touch()
    assert build_snakemake_command(arguments)[4:] == arguments


def test_a_check_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = []
    monkeypatch.setattr(module.os, "execv", lambda program, command: commands.append(command))
    check_experiment(["table1", "--config", "preset=fast"])
    assert commands[0][-6:] == ["table1", "--config", "preset=fast", "--dry-run", "--quiet", "rules"]


def test_values_of_list_options_are_found() -> None:
    arguments = ["page", "--config", "a=1", "b=2", "--cores", "2", "--config=c=3", "d=4", "-n", "x"]
    assert module._get_option_values(arguments, "--config") == ["a=1", "b=2", "c=3", "d=4"]
