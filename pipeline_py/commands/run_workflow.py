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
from pipeline_py.run.workflow_files import SNAKEFILE_NAME, find_experiment_files, find_workflow_folder

OPEN_OPTION = "--open"


def parse_snakemake_options(arguments: Sequence[str]) -> Namespace:
    """Parse the options of Snakemake; `--help` shows them and ends the process."""
    parser = get_argument_parser()
    parser.prog = "snakemake"
    options: Namespace = parser.parse_known_args([*arguments])[0]
    return options


def build_snakemake_command(arguments: Sequence[str]) -> list[str]:
    """Return the command that runs Snakemake with further arguments in the working folder.

    The Snakefile of the working folder is used if there is one; without one, `experiment.yaml` unless the arguments
    name configuration files.
    """
    options = parse_snakemake_options(arguments)
    command = [sys.executable, "-P", "-m", "snakemake"]
    if options.snakefile is None and not Path(SNAKEFILE_NAME).exists():
        command += ["--snakefile", str(find_workflow_folder() / SNAKEFILE_NAME)]
    experiment_files = [] if options.configfile else find_experiment_files(Path(), [])
    return [*command, *arguments, *(["--configfile", *experiment_files] if experiment_files else [])]


def run_workflow(arguments: Sequence[str]) -> None:
    """Replace this process by Snakemake with these arguments."""
    command = build_snakemake_command(arguments)
    sys.stdout.flush()
    os.execv(command[0], command)


def check_experiment(arguments: Sequence[str]) -> None:
    """Validate the experiment and show its jobs with estimated times; nothing is run."""
    run_workflow([*arguments, "--dry-run", "--quiet", "rules"])


def make_report(arguments: Sequence[str]) -> None:
    """Make the page of the experiment, and open it in a browser with `--open`.

    Raises:
        InputError: the configuration is invalid, or no page was made.
    """
    from pipeline_py.application.experiment_reader import read_experiment

    snakemake_arguments = [argument for argument in arguments if argument != OPEN_OPTION]
    options = parse_snakemake_options(snakemake_arguments)
    files = find_experiment_files(Path(), [*map(str, options.configfile)])
    experiment = read_experiment(Path.cwd(), files, options.config or [])
    page = Path(experiment.get_output_folder("results")) / "report.html"
    exit_code = subprocess.run(build_snakemake_command([str(page), *snakemake_arguments])).returncode
    if exit_code:
        sys.exit(exit_code)
    if not page.exists():
        raise InputError("Snakemake made no page; run it without --dry-run", page)
    print(page)
    if OPEN_OPTION in arguments and not webbrowser.open(page.absolute().as_uri()):
        raise InputError("no browser was found; open the page yourself", page)
