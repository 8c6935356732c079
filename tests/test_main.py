"""The command `arbitree`."""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

from pipeline_py.__main__ import SUBCOMMANDS, Subcommand, name_positional
from tests.project_copy import ROOT


def run_arbitree(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "pipeline_py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_help_lists_every_command() -> None:
    result = run_arbitree()
    assert result.returncode == 0 and all(f"\n  {name} " in result.stdout for name in SUBCOMMANDS)
    assert "--source" in run_arbitree("init", "--help").stdout


def test_the_version_is_that_of_the_project() -> None:
    assert run_arbitree("--version").stdout.startswith("arbitree ")


def test_an_unknown_command_is_named() -> None:
    result = run_arbitree("tanslate")
    assert result.returncode == 1 and result.stderr.startswith("error: there is no command `tanslate`")


@pytest.mark.parametrize("subcommand", SUBCOMMANDS.values(), ids=SUBCOMMANDS)
def test_commands_call_existing_functions(subcommand: Subcommand) -> None:
    function = getattr(import_module(f"pipeline_py.{subcommand.module}"), subcommand.function)
    parameters = inspect.signature(function).parameters
    assert ([*parameters] == ["arguments"]) == subcommand.is_forwarded
    assert subcommand.positional is None or subcommand.positional in parameters


def test_the_first_argument_may_be_positional() -> None:
    assert name_positional(SUBCOMMANDS["init"], ["mine", "--source", "fr"]) == ["--directory", "mine", "--source", "fr"]
    assert name_positional(SUBCOMMANDS["init"], ["--directory", "mine"]) == ["--directory", "mine"]
    assert name_positional(SUBCOMMANDS["init"], []) == []
