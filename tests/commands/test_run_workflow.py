"""Commands that run Snakemake."""

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline_py.commands import run_workflow as module
from pipeline_py.commands.run_workflow import build_snakemake_command, check_experiment
from pipeline_py.run.errors import InputError
from pipeline_py.run.workflow_files import find_workflow_folder


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_without_an_experiment_is_rejected(working_folder: Path) -> None:
    for command in (check_experiment, module.run_workflow, module.make_report):
        with pytest.raises(InputError, match=r"there is no experiment\.yaml here; .*`arbitree init DIRECTORY`"):
            command([])
    (working_folder / "other").mkdir()
    (working_folder / "experiment.yaml").touch()
    with pytest.raises(InputError, match=r"/other: there is no experiment\.yaml here"):
        build_snakemake_command(["--directory", "other"])


def test_a_folder_without_a_snakefile_uses_that_of_the_workflow() -> None:
    arguments = ["table1", "--configfile", "a.yaml"]
    assert build_snakemake_command(arguments) == [
        *(sys.executable, "-P", "-m", "snakemake"),
        *("--snakefile", str(find_workflow_folder() / "Snakefile"), *arguments),
    ]
    for option in (["-s", "mine"], ["-smine"], ["--snakefile=mine"]):
        assert build_snakemake_command(option)[4:] == option


def test_files_of_the_working_folder_are_used(working_folder: Path) -> None:
    (working_folder / "experiment.yaml").touch()
    arguments = ["table1", "--cores", "2"]
    assert build_snakemake_command(arguments)[6:] == ["--configfile=experiment.yaml", *arguments]
    other_folder = ["--directory", str(working_folder)]
    configfile = f"--configfile={working_folder}/experiment.yaml"
    assert build_snakemake_command(other_folder)[6:] == [configfile, *other_folder]
    for option in (["--configfile", "a.yaml"], ["--configfile=a.yaml"]):
        assert build_snakemake_command(option)[6:] == option
    (working_folder / "Snakefile").touch()
    assert build_snakemake_command(arguments)[4:] == arguments


def test_a_check_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = []
    monkeypatch.setattr(module.os, "execv", lambda program, command: commands.append(command))
    arguments = ["--configfile", "a.yaml", "--config", "preset=fast", "--", "table1"]
    check_experiment(arguments)
    assert commands[0][-8:] == ["--dry-run", "--quiet=rules", *arguments]


def test_a_report_is_the_page_of_the_configuration(
    working_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands, pages = [], []

    def write_page(command: list[str]) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        page = working_folder / "results/mine/report.html"
        page.parent.mkdir(parents=True)
        page.touch()
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(module.subprocess, "run", write_page)
    monkeypatch.setattr(module.webbrowser, "open", lambda address: pages.append(address) or True)
    (working_folder / "experiment.yaml").write_text("{}")
    module.make_report(["--open", "--config", "name=mine", "--cores", "2"])
    assert commands[0][-6:] == ["--config", "name=mine", "--cores", "2", "--", "results/mine/report.html"]
    assert pages == [(working_folder / "results/mine/report.html").as_uri()]
    assert capsys.readouterr().out == "results/mine/report.html\n"


def test_a_dry_run_makes_no_page(working_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (working_folder / "experiment.yaml").write_text("{}")
    monkeypatch.setattr(module.subprocess, "run", lambda command: subprocess.CompletedProcess(command, 0))
    with pytest.raises(InputError, match=r"results/report\.html: .*leave out --dry-run"):
        module.make_report(["-n"])
