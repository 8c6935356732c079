"""Run Snakemake with the workflow's Snakefile, profile and the experiment of the working folder."""

import os
import subprocess
import sys
import webbrowser
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from snakemake.cli import get_argument_parser

from pipeline_py.run.errors import InputError
from pipeline_py.run.workflow_files import (
    EXPERIMENT_NAME,
    SNAKEFILE_NAME,
    find_experiment_files,
    find_workflow_folder,
)

OPEN_OPTION = "--open"


def parse_snakemake_options(arguments: Sequence[str]) -> Namespace:
    """Parse the options of Snakemake; an invalid one ends the process."""
    parser = get_argument_parser()
    parser.prog = "snakemake"
    options: Namespace = parser.parse_known_args([*arguments])[0]
    return options


def build_snakemake_command(arguments: Sequence[str]) -> list[str]:
    """Return the command that runs Snakemake with further arguments in the working folder.

    The Snakefile of the working folder is used if there is one; without one, `experiment.yaml` unless the arguments
    name configuration files.

    Raises:
        InputError: the folder has no experiment.
    """
    options = parse_snakemake_options(arguments)
    command = [sys.executable, "-P", "-m", "snakemake"]
    folder = Path(options.directory or "")
    experiment_files = [] if options.configfile else find_experiment_files(folder, [])
    if options.snakefile is None and not Path(SNAKEFILE_NAME).exists():
        if not options.configfile and not experiment_files:
            raise InputError(
                f"there is no {EXPERIMENT_NAME} here; change to the folder of an experiment, or write one with "
                "`arbitree init DIRECTORY`",
                folder.absolute(),
            )
        command += ["--snakefile", str(find_workflow_folder() / SNAKEFILE_NAME)]
    # Written with `=`, an option takes none of the targets that follow.
    return [*command, *(f"--configfile={folder / file}" for file in experiment_files), *arguments]


def run_workflow(arguments: Sequence[str]) -> None:
    """Replace this process by Snakemake with these arguments."""
    command = build_snakemake_command(arguments)
    sys.stdout.flush()
    os.execv(command[0], command)


def check_experiment(arguments: Sequence[str]) -> None:
    """Validate the experiment and show its jobs with estimated times; nothing is run."""
    run_workflow(["--dry-run", "--quiet=rules", *arguments])


def make_report(arguments: Sequence[str]) -> None:
    """Make the page of the experiment, and open it in a browser with `--open`.

    Raises:
        InputError: the configuration is invalid, or no page was made.
    """
    from pipeline_py.application.experiment_reader import read_experiment

    snakemake_arguments = [argument for argument in arguments if argument != OPEN_OPTION]
    options = parse_snakemake_options(snakemake_arguments)
    folder = Path(options.directory or "")
    command = build_snakemake_command(snakemake_arguments)
    files = [*map(str, map(Path.absolute, options.configfile))] or find_experiment_files(folder, [])
    experiment = read_experiment(folder, files, options.config or [])
    page = folder / experiment.get_output_folder("results") / "report.html"
    exit_code = subprocess.run([*command, "--", str(page.relative_to(folder))]).returncode
    if exit_code:
        sys.exit(exit_code)
    if not page.exists():
        raise InputError("no page was made; leave out --dry-run", page)
    print(page)
    if OPEN_OPTION in arguments and not webbrowser.open(page.absolute().as_uri()):
        raise InputError("no browser was found; open the page yourself", page)
