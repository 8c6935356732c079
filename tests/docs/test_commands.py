"""Commands of the documentation are run, run dry if they take long, or looked up if they cannot be run."""

import re
import shutil
import sys
import tarfile
import tomllib
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from subprocess import CompletedProcess, run
from typing import Any

import pytest
import yaml
from snakemake.cli import get_argument_parser

from pipeline_py.__main__ import PROGRAM, SUBCOMMANDS
from pipeline_py.commands.run_workflow import OPEN_OPTION
from pipeline_py.run.command_line import parse_arguments
from pipeline_py.run.job_runner import get_cache_folder
from tests.docs.page_blocks import PLACEHOLDER_PATTERN, PageCommand, find_commands
from tests.docs.reader_project import CODE_PAGES, CONFIGURATION_PAGES, ReaderProject, get_configuration_path
from tests.project_copy import ROOT, run_snakemake
from tests.test_one_name import JOBS

COMMANDS = find_commands()
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]

PLACEHOLDER_VALUES = {
    "TARGET": "table1",
    "DIR": "elsewhere",
    "FILE": "mine.yaml",
    "ACCOUNT": "account",
    "PARTITION": "partition",
    "REGISTRY": "registry",
    "URL": "index",
}
"""Placeholder → a value that a reader might replace it by."""

MODULES_THAT_RUN_A_COMMAND = {"tests.slurm.cluster": 1}
"""Module → how many arguments come before the command."""


def select_commands(*words: str) -> list[PageCommand]:
    """Return the commands that begin with some words, including commands that other commands run."""
    return [command for command in add_inner_commands(COMMANDS) if command.words[: len(words)] == words]


def add_inner_commands(commands: Sequence[PageCommand]) -> list[PageCommand]:
    inner_commands = [
        PageCommand(command.block, command.words[3 + MODULES_THAT_RUN_A_COMMAND[command.words[2]] :])
        for command in commands
        if command.words[1:2] == ("-m",) and command.words[2] in MODULES_THAT_RUN_A_COMMAND
    ]
    return [*commands, *inner_commands]


def test_there_are_commands():
    assert len(COMMANDS) > 60
    assert {command.block.page for command in COMMANDS} >= {
        "README.md",
        "CONTRIBUTING.md",
        "docs/tutorials/first_run.md",
    }


def check_pip_command(words: Sequence[str]) -> None:
    """Installing needs minutes and the network: check that every extra exists and other requirements are pinned."""
    assert words[:2] == ("pip", "install")
    options = {"-e", *words[words.index("--extra-index-url") :][:2]} if "--extra-index-url" in words else {"-e"}
    requirements = [word for word in words[2:] if word not in options]
    assert requirements
    for requirement in requirements:
        local = re.fullmatch(r"\.(?:\[([a-z,]+)\])?", requirement)
        assert local or re.fullmatch(r"[a-z-]+==[0-9.]+", requirement), requirement
        assert not local or not local[1] or {*local[1].split(",")} <= {*EXTRAS}


def check_pytest_command(words: Sequence[str]) -> None:
    """All tests would include this one: check that the paths exist."""
    paths = [ROOT / word for word in words[1:] if "/" in word]
    assert all(path.is_file() or any(path.glob("test_*.py")) for path in paths)
    if "-k" in words:
        assert any(f"def test_{words[words.index('-k') + 1]}" in path.read_text(encoding="utf-8") for path in paths)


def check_python_command(words: Sequence[str]) -> None:
    """A benchmark takes minutes: check that the module exists; another test checks its options."""
    assert words[1] == "-m" and find_spec(words[2])


def check_activation_command(words: Sequence[str]) -> None:
    """Only a shell activates environments: check that the path is that of the installation."""
    assert words == (".", ".venv/bin/activate")


def check_ci_script(words: Sequence[str]) -> None:
    """It runs all tests, including this one: check that the file is executable."""
    assert (ROOT / words[0]).stat().st_mode & 0o100


def check_tail_command(words: Sequence[str]) -> None:
    """It does not end: check that the file is the log of a stage."""
    folder, package, stage, _ = words[-1].split("/")
    assert words[:2] == ("tail", "-f") and folder == "logs" and (package, stage) in JOBS


def check_rm_command(words: Sequence[str]) -> None:
    """There is nothing to delete: check that the folder is the cache of a stage, within the results."""
    assert words[:2] == ("rm", "-r") and re.fullmatch(r"results/nmt/\w+/seed1/cache", words[2])
    assert get_cache_folder(Path(words[2]).with_name("model.safetensors")).parent == Path(words[2])


def check_squeue_command(words: Sequence[str]) -> None:
    """It needs a running SLURM, which tests/slurm starts."""
    assert words[:2] == ("squeue", "--me")


def check_tensorboard_command(words: Sequence[str]) -> None:
    """It does not end; tests/nmt/training/test_tensorboard.py reads the data that it shows."""
    assert words[1:] == ("--logdir", "results/nmt") and (ROOT / "tests/nmt/training/test_tensorboard.py").is_file()


def check_mkdocs_command(words: Sequence[str]) -> None:
    """It does not end, or test_site builds the same pages."""
    assert words[1:] in (("serve",), ("build",)) and (ROOT / "mkdocs.yml").is_file()


def check_tar_command(words: Sequence[str]) -> None:
    """`test_snakemake_commands_can_be_planned` runs it: check that the archive exists."""
    assert words[:2] == ("tar", "-xJf") and (ROOT / words[2]).is_file() and words[3:] == ("-C", "results")


def check_docker_command(words: Sequence[str]) -> None:
    """It needs Docker and the network: check arguments of the build, and the folder that is mounted."""
    recipe = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    if words[1] == "build":
        assert "-f" not in words and words[-1] == "."
        build_arguments = [words[index + 1] for index, word in enumerate(words) if word == "--build-arg"]
        for name, _, packages in (argument.partition("=") for argument in build_arguments):
            assert f"ARG {name}=" in recipe
            check_pip_command(("pip", "install", *packages.split()))
    else:
        assert words[1] == "run" and words[words.index("-v") + 1] == "$PWD:/work" and "WORKDIR /work" in recipe
        check_snakemake_command(words[words.index("snakemake") :])


def check_snakemake_command(words: Sequence[str]) -> None:
    """It takes minutes or days: check its options; `test_snakemake_commands_can_be_planned` runs it dry."""
    get_argument_parser().parse_args(list(words[1:]))


def check_arbitree_command(words: Sequence[str]) -> None:
    """It may take hours: check its subcommand and options."""
    subcommand = SUBCOMMANDS[words[1]]
    if subcommand.is_forwarded:
        get_argument_parser().parse_args([word for word in words[2:] if word != OPEN_OPTION])
        return
    function = getattr(import_module(f"pipeline_py.{subcommand.module}"), subcommand.function)
    arguments = [word for word in words[2:] if word[0] not in "<>"]
    assert parse_arguments(function, PROGRAM, arguments, subcommand.positional)


def check_uv_command(words: Sequence[str]) -> None:
    """It may not be installed: check that it makes an environment or installs this project."""
    assert [*words[1:]] in (["venv", ".venv"], ["pip", "install", "-e", ".", "--torch-backend", "cpu"])


def check_cd_command(words: Sequence[str]) -> None:
    """An earlier command of the page makes the folder."""
    assert words[1:] and any(command.words[:3] == ("arbitree", "init", words[1]) for command in COMMANDS)


CHECKS: dict[str, Callable[[Sequence[str]], None]] = {
    ".": check_activation_command,
    ".ci/run": check_ci_script,
    "arbitree": check_arbitree_command,
    "cd": check_cd_command,
    "docker": check_docker_command,
    "mkdocs": check_mkdocs_command,
    "pip": check_pip_command,
    "pytest": check_pytest_command,
    "python": check_python_command,
    "python3": check_python_command,
    "rm": check_rm_command,
    "snakemake": check_snakemake_command,
    "squeue": check_squeue_command,
    "tar": check_tar_command,
    "tail": check_tail_command,
    "tensorboard": check_tensorboard_command,
    "uv": check_uv_command,
}
"""Program → check of its commands, whose docstring says why they are not simply run."""


@pytest.mark.parametrize("command", add_inner_commands(COMMANDS), ids=str)
def test_every_command_is_checked(command):
    assert command.words[0] in CHECKS, "give this program a check"
    CHECKS[command.words[0]](command.words)


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_every_placeholder_has_a_value(command):
    placeholders = {name for word in command.words for name in PLACEHOLDER_PATTERN.findall(word)}
    assert placeholders <= {*PLACEHOLDER_VALUES}


@pytest.mark.slow
def test_modules_have_the_options_of_commands():
    """Modules know the options of their commands; all run in one process, since loading torch takes seconds."""
    commands_with_options = [
        (command, [word for word in command.words if word.startswith("--")])
        for command in select_commands("python")
        if command.words[2] not in MODULES_THAT_RUN_A_COMMAND
    ]
    modules = sorted({command.words[2] for command, options in commands_with_options if options})
    code = (
        "import runpy, sys\n"
        "for module in sys.argv[1:]:\n"
        "    print('\\0' + module)\n"
        "    sys.argv = [module, '--help']\n"
        "    try: runpy.run_module(module, run_name='__main__', alter_sys=True)\n"
        "    except SystemExit as end: assert not end.code, module\n"
    )
    result = run([sys.executable, "-c", code, *modules], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    help_texts = dict(text.split("\n", 1) for text in result.stdout.split("\0")[1:])
    assert [*help_texts] == modules
    for command, options in commands_with_options:
        for option in options:
            assert re.search(rf"{option}\b", help_texts[command.words[2]]), command


OPTIONS_WITHOUT_DRY_RUN = ("--report", "--rulegraph")
"""Options with a value that a dry run omits: one reads finished results, one writes a graph instead of a plan."""

UNAVAILABLE_OPTIONS = () if shutil.which("conda") else ("--sdm",)
"""Options with a value that need a program which is not installed; tests/test_envs.py reads the environments."""

QUIET_DRY_RUN = ("-n", "--quiet", "rules")
OPTIONS_WITHOUT_JOBS = ("--unlock",)


def is_reader_configuration(word: str) -> bool:
    """Return whether a word is a configuration file that a page's reader writes, perhaps in the project's folder."""
    return word.endswith(".yaml") and not (ROOT / word).is_relative_to(ROOT / "workflow") and word != "config.yaml"


def to_dry_run(command: PageCommand) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the targets of a command, and its options for a dry run in the reader's project."""
    words = [PLACEHOLDER_PATTERN.sub(lambda match: PLACEHOLDER_VALUES[match[0]], word) for word in command.words[1:]]
    targets: list[str] = get_argument_parser().parse_args(words).targets or ["all"]
    words = [word for word in words if word not in (*targets, *QUIET_DRY_RUN)]
    for option in (*OPTIONS_WITHOUT_DRY_RUN, "--cores", *UNAVAILABLE_OPTIONS):
        if option in words:
            del words[words.index(option) : words.index(option) + 2]
    configuration_path = get_configuration_path(command.block.page)
    words = [configuration_path if is_reader_configuration(word) else word for word in words]
    return tuple(targets), tuple(remove_missing_plugins(words))


def remove_missing_plugins(words: list[str]) -> list[str]:
    """Remove a profile whose executor is not installed; profiles do not change which jobs run."""
    if "--workflow-profile" in words:
        index = words.index("--workflow-profile")
        profile: dict[str, Any] = yaml.safe_load((ROOT / words[index + 1] / "config.yaml").read_text(encoding="utf-8"))
        executor = str(profile.get("executor", "local"))
        if executor != "local" and not find_spec(f"snakemake_executor_plugin_{executor.replace('-', '_')}"):
            package = f"snakemake-executor-plugin-{executor}=="
            pip_words = [word for command in select_commands("pip") for word in command.words]
            assert any(word.startswith(package) for word in chain(pip_words, *EXTRAS.values())), package
            return [*words[:index], *words[index + 2 :]]
    return words


@pytest.mark.slow
def test_snakemake_commands_can_be_planned(tmp_path):
    """Commands that differ only in targets are planned together."""
    project = ReaderProject(tmp_path / "parts")
    assert project.validate_configurations().returncode == 0
    for command in select_commands("tar"):
        with tarfile.open(ROOT / command.words[2]) as archive:
            archive.extractall(project.folder / command.words[4], filter="data")
    project_without_parts = project.copy_without_parts(tmp_path / "plain")
    targets_by_options: dict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
    for command in select_commands("snakemake"):
        targets, options = to_dry_run(command)
        targets_by_options[options] |= dict.fromkeys(targets)

    def plan(options: tuple[str, ...]) -> CompletedProcess:
        needs_code = any(get_configuration_path(page) in options for page in CODE_PAGES)
        folder = (project if needs_code else project_without_parts).folder
        if {*OPTIONS_WITHOUT_JOBS} & {*options}:
            return run_snakemake(options, folder, ROOT)
        return run_snakemake([*targets_by_options[options], *options, "--cores", "8", *QUIET_DRY_RUN], folder, ROOT)

    with ThreadPoolExecutor(2) as pool:
        failures = {
            (*targets_by_options[options], *options): (result.stdout + result.stderr)[-1000:]
            for options, result in zip(targets_by_options, pool.map(plan, targets_by_options), strict=True)
            if result.returncode
        }
    assert failures == {}


def test_pages_name_the_configurations_of_their_commands():
    """A page gives the file name of every configuration that its reader writes and runs, or calls it FILE."""
    for command in select_commands("snakemake"):
        page = CONFIGURATION_PAGES.get(command.block.page, command.block.page)
        text = (ROOT / page).read_text(encoding="utf-8")
        for word in command.words:
            if is_reader_configuration(word):
                assert f"`{word}`" in text, command
