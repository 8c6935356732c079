"""Every command of the documentation is run, dry where it would work for long, or looked up where it cannot be run."""

import re
import shutil
import sys
import tarfile
import tomllib
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from subprocess import CompletedProcess, run
from typing import Any

import pytest
import yaml
from snakemake.cli import get_argument_parser

from pipeline_py.run.job_runner import get_cache_folder
from tests.docs.page_blocks import PLACEHOLDER_PATTERN, PageCommand, find_commands
from tests.docs.reader_project import CODE_PAGES, CONFIGURATION_PAGES, ReaderProject, get_configuration_path
from tests.project_copy import ROOT, run_snakemake
from tests.test_one_name import JOBS

COMMANDS = find_commands()
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]

VALUES = {
    "TARGET": "table1",
    "DIR": "elsewhere",
    "FILE": "mine.yaml",
    "ACCOUNT": "account",
    "PARTITION": "partition",
    "REGISTRY": "registry",
}
"""What a reader might put in the place of a placeholder."""

MODULES_THAT_RUN_A_COMMAND = {"tests.slurm.cluster": 1}
"""Module → how many arguments come before the command."""


def of_program(*words: str) -> list[PageCommand]:
    """The commands that begin with some words, those that others run among them."""
    return [command for command in _with_inner(COMMANDS) if command.words[: len(words)] == words]


def _with_inner(given: Sequence[PageCommand]) -> list[PageCommand]:
    inner = [
        PageCommand(command.block, command.words[3 + MODULES_THAT_RUN_A_COMMAND[command.words[2]] :])
        for command in given
        if command.words[1:2] == ("-m",) and command.words[2] in MODULES_THAT_RUN_A_COMMAND
    ]
    return [*given, *inner]


def test_there_are_commands():
    assert len(COMMANDS) > 60
    assert {command.block.page for command in COMMANDS} >= {
        "README.md",
        "CONTRIBUTING.md",
        "docs/tutorials/first_run.md",
    }


def has_pinned_requirements(words: Sequence[str]) -> None:
    """An installation takes minutes and the network; every extra is there, and every other requirement is pinned."""
    assert words[:2] == ("pip", "install")
    wanted = [word for word in words[2:] if word != "-e"]
    assert wanted
    for requirement in wanted:
        local = re.fullmatch(r"\.(?:\[([a-z,]+)\])?", requirement)
        assert local or re.fullmatch(r"[a-z-]+==[0-9.]+", requirement), requirement
        assert not local or not local[1] or {*local[1].split(",")} <= {*EXTRAS}


def is_collected(words: Sequence[str]) -> None:
    """All tests would run this one too; the paths are there."""
    paths = [ROOT / word for word in words[1:] if "/" in word]
    assert all(path.is_file() or any(path.glob("test_*.py")) for path in paths)
    if "-k" in words:
        assert any(f"def test_{words[words.index('-k') + 1]}" in path.read_text(encoding="utf-8") for path in paths)


def is_a_module(words: Sequence[str]) -> None:
    """A benchmark takes minutes; the module is there, and `test_options_of_modules` asks it for its options."""
    assert words[1] == "-m" and find_spec(words[2])


def enters_an_environment(words: Sequence[str]) -> None:
    """A shell's matter; the environment is the one that is made before."""
    assert words == (".", ".venv/bin/activate")


def is_a_file_that_runs(words: Sequence[str]) -> None:
    """It makes an environment and runs all tests, this one among them."""
    assert (ROOT / words[0]).stat().st_mode & 0o100


def reads_the_log_of_a_stage(words: Sequence[str]) -> None:
    """It does not end; the file is the log of a stage."""
    folder, package, stage, _ = words[-1].split("/")
    assert words[:2] == ("tail", "-f") and folder == "logs" and (package, stage) in JOBS


def deletes_what_is_kept(words: Sequence[str]) -> None:
    """There is nothing to delete; it is the folder of a costly stage's outputs, and within the results."""
    assert words[:2] == ("rm", "-r") and re.fullmatch(r"results/nmt/\w+/seed1/cache", words[2])
    assert get_cache_folder(Path(words[2]).with_name("model.safetensors")).parent == Path(words[2])


def asks_a_cluster(words: Sequence[str]) -> None:
    """Needs a SLURM that runs; tests/slurm has one."""
    assert words[:2] == ("squeue", "--me")


def shows_learning_curves(words: Sequence[str]) -> None:
    """It does not end; tests/nmt/training/test_tensorboard.py reads what it shows."""
    assert words[1:] == ("--logdir", "results/nmt") and (ROOT / "tests/nmt/training/test_tensorboard.py").is_file()


def serves_the_site(words: Sequence[str]) -> None:
    """It does not end; test_site builds the same pages."""
    assert words[1:] == ("serve",) and (ROOT / "mkdocs.yml").is_file()


def copies_what_is_kept(words: Sequence[str]) -> None:
    """`test_what_snakemake_would_do` does it too, for commands that go on from these outputs."""
    assert words[:2] == ("tar", "-xJf") and (ROOT / words[2]).is_file() and words[3:] == ("-C", "results")


def has_a_recipe(words: Sequence[str]) -> None:
    """Needs an engine and the network; the recipe knows what it is told, and a clone is mounted where it works."""
    recipe = (ROOT / "envs" / "Containerfile").read_text(encoding="utf-8")
    if words[1] == "build":
        assert words[words.index("-f") + 1] == "envs/Containerfile" and words[-1] == "."
        given = [words[place + 1] for place, word in enumerate(words) if word == "--build-arg"]
        for name, _, packages in (argument.partition("=") for argument in given):
            assert f"ARG {name}=" in recipe
            has_pinned_requirements(("pip", "install", *packages.split()))
    else:
        assert words[1] == "run" and words[words.index("-v") + 1] == "$PWD:/work" and "WORKDIR /work" in recipe
        is_planned(words[words.index("snakemake") :])


def is_planned(words: Sequence[str]) -> None:
    """Would work for minutes or days; `test_what_snakemake_would_do` runs it dry. Its options are Snakemake's."""
    get_argument_parser().parse_args(list(words[1:]))


CHECKS: dict[str, Callable[[Sequence[str]], None]] = {
    ".": enters_an_environment,
    ".ci/run": is_a_file_that_runs,
    "docker": has_a_recipe,
    "mkdocs": serves_the_site,
    "pip": has_pinned_requirements,
    "pytest": is_collected,
    "python": is_a_module,
    "python3": is_a_module,
    "rm": deletes_what_is_kept,
    "snakemake": is_planned,
    "squeue": asks_a_cluster,
    "tar": copies_what_is_kept,
    "tail": reads_the_log_of_a_stage,
    "tensorboard": shows_learning_curves,
}
"""Program → the check of its commands, which says why they are not simply run."""


@pytest.mark.parametrize("command", _with_inner(COMMANDS), ids=str)
def test_every_command_is_checked(command):
    assert command.words[0] in CHECKS, "give this program a check"
    CHECKS[command.words[0]](command.words)


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_every_placeholder_is_known(command):
    placeholders = {name for word in command.words for name in PLACEHOLDER_PATTERN.findall(word)}
    assert placeholders <= {*VALUES}


@pytest.mark.slow
def test_options_of_modules():
    """Every module of a command that names options knows them; all in one process, as torch takes seconds to load."""
    named = [
        (command, [word for word in command.words if word.startswith("--")])
        for command in of_program("python")
        if command.words[2] not in MODULES_THAT_RUN_A_COMMAND
    ]
    modules = sorted({command.words[2] for command, options in named if options})
    code = (
        "import runpy, sys\n"
        "for module in sys.argv[1:]:\n"
        "    print('\\0' + module)\n"
        "    sys.argv = [module, '--help']\n"
        "    try: runpy.run_module(module, run_name='__main__', alter_sys=True)\n"
        "    except SystemExit as end: assert not end.code, module\n"
    )
    done = run([sys.executable, "-c", code, *modules], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    helps = dict(text.split("\n", 1) for text in done.stdout.split("\0")[1:])
    assert [*helps] == modules
    for command, options in named:
        for option in options:
            assert re.search(rf"{option}\b", helps[command.words[2]]), command


NOT_DRY = ("--report", "--rulegraph")
"""Options with a value that a dry run does without: one reads finished results, one writes a graph and no plan."""

MISSING = () if shutil.which("conda") else ("--sdm",)
"""An option with a value that needs a program which is not here; tests/test_envs.py reads the environments."""

SAYS_LITTLE = ("-n", "--quiet", "rules")
MAKES_NOTHING = ("--unlock",)


def is_of_the_reader(word: str) -> bool:
    """Whether a word is a configuration that a page has its reader write; one may lie in the folder of the project."""
    return word.endswith(".yaml") and not (ROOT / word).is_relative_to(ROOT / "workflow") and word != "config.yaml"


def dry(command: PageCommand) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The targets of a command, and its options for a dry run in the place of somebody who read its page."""
    words = [PLACEHOLDER_PATTERN.sub(lambda match: VALUES[match[0]], word) for word in command.words[1:]]
    targets: list[str] = get_argument_parser().parse_args(words).targets or ["all"]
    words = [word for word in words if word not in (*targets, *SAYS_LITTLE)]
    for option in (*NOT_DRY, "--cores", *MISSING):
        if option in words:
            del words[words.index(option) : words.index(option) + 2]
    own = get_configuration_path(command.block.page)
    words = [own if is_of_the_reader(word) else word for word in words]
    return tuple(targets), tuple(_without_missing_plugins(words))


def _without_missing_plugins(words: list[str]) -> list[str]:
    """Leave out a profile whose executor is not installed: it says where jobs run, and not which."""
    if "--workflow-profile" in words:
        place = words.index("--workflow-profile")
        profile: dict[str, Any] = yaml.safe_load((ROOT / words[place + 1] / "config.yaml").read_text(encoding="utf-8"))
        executor = str(profile.get("executor", "local"))
        if executor != "local" and not find_spec(f"snakemake_executor_plugin_{executor.replace('-', '_')}"):
            package = f"snakemake-executor-plugin-{executor}=="
            installed = [word for command in of_program("pip") for word in command.words]
            assert any(word.startswith(package) for word in chain(installed, *EXTRAS.values())), package
            return [*words[:place], *words[place + 2 :]]
    return words


@pytest.mark.slow
def test_what_snakemake_would_do(tmp_path):
    """Each command is planned as it stands; those that differ in nothing but targets are planned together."""
    place = ReaderProject(tmp_path / "parts")
    assert place.validate_configurations().returncode == 0
    for command in of_program("tar"):
        with tarfile.open(ROOT / command.words[2]) as archive:
            archive.extractall(place.folder / command.words[4], filter="data")
    plain = place.copy_without_parts(tmp_path / "plain")
    targets_by_options: dict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
    for command in of_program("snakemake"):
        targets, options = dry(command)
        targets_by_options[options] |= dict.fromkeys(targets)

    def done(options: tuple[str, ...]) -> CompletedProcess:
        needs_code = any(get_configuration_path(page) in options for page in CODE_PAGES)
        folder = (place if needs_code else plain).folder
        if {*MAKES_NOTHING} & {*options}:
            return run_snakemake(options, folder, ROOT)
        return run_snakemake([*targets_by_options[options], *options, "--cores", "8", *SAYS_LITTLE], folder, ROOT)

    with ThreadPoolExecutor(2) as pool:
        failed = {
            (*targets_by_options[options], *options): (one.stdout + one.stderr)[-1000:]
            for options, one in zip(targets_by_options, pool.map(done, targets_by_options), strict=True)
            if one.returncode
        }
    assert failed == {}


def test_own_files_stand_on_their_pages():
    """A page that has its reader run a configuration of theirs says what it is called, or calls it FILE."""
    for command in of_program("snakemake"):
        page = CONFIGURATION_PAGES.get(command.block.page, command.block.page)
        text = (ROOT / page).read_text(encoding="utf-8")
        for word in command.words:
            if is_of_the_reader(word):
                assert f"`{word}`" in text, command
