"""The command `arbitree`."""

import inspect
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from pipeline_py.__main__ import SUBCOMMANDS, Subcommand
from pipeline_py.run.command_line import parse_arguments
from tests.project_copy import ROOT


def run_arbitree(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "pipeline_py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_help_lists_every_command() -> None:
    result = run_arbitree()
    assert result.returncode == 0 and all(f"\n  {name} " in result.stdout for name in SUBCOMMANDS)
    assert "--source" in run_arbitree("init", "--help").stdout


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert run_arbitree("--version").stdout == f"arbitree {project['version']}\n"


def test_an_unknown_command_is_named() -> None:
    result = run_arbitree("tanslate")
    assert result.returncode == 1 and result.stderr.startswith("error: there is no command `tanslate`")


@pytest.mark.parametrize("subcommand", SUBCOMMANDS.values(), ids=SUBCOMMANDS)
def test_commands_call_existing_functions(subcommand: Subcommand) -> None:
    function = getattr(import_module(f"pipeline_py.{subcommand.module}"), subcommand.function)
    parameters = inspect.signature(function).parameters
    assert ([*parameters] == ["arguments"]) == subcommand.is_forwarded
    assert subcommand.positional is None or subcommand.positional in parameters


def convert(*, folder: Path, number: int = 1, names: list[str] | None = None) -> None:
    """Do nothing."""


@pytest.mark.parametrize(
    "arguments", [["mine", "--number", "2"], ["--number", "2", "mine"], ["--folder", "mine", "--number", "2"]]
)
def test_an_option_may_be_positional(arguments: list[str]) -> None:
    values = {"folder": Path("mine"), "number": 2, "names": None}
    assert parse_arguments(convert, "convert", arguments, "folder") == values


def test_a_missing_positional_argument_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(convert, "convert", ["--number", "2"], "folder")
    assert "convert: error: FOLDER is missing" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["check", "run", "report"])
def test_commands_that_run_snakemake_have_help(name: str) -> None:
    output = run_arbitree(name, "--help").stdout
    assert output.startswith(f"usage: arbitree {name} [TARGET ...]") and SUBCOMMANDS[name].summary in output
    assert output.count("\n") < 20
