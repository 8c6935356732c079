"""Run Snakemake with the workflow's Snakefile, profile and the experiment of the working folder."""

import os
import subprocess
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from pipeline_py.run.errors import InputError
from pipeline_py.run.workflow_files import SNAKEFILE_NAME, find_experiment_files, find_workflow_folder

CONFIGFILE_OPTION, CONFIG_OPTION, OPEN_OPTION = "--configfile", "--config", "--open"
CONFIGFILE_OPTIONS = CONFIGFILE_OPTION, "--configfiles"

OPTIONS_WITH_SNAKEFILE = ("--snakefile", "-s")


def build_snakemake_command(arguments: Sequence[str]) -> list[str]:
    """Return the command that runs Snakemake with further arguments in the working folder.

    The Snakefile of the working folder is used if there is one; without one, `experiment.yaml` unless the arguments
    name configuration files.
    """
    command = [sys.executable, "-P", "-m", "snakemake"]
    if not Path(SNAKEFILE_NAME).exists() and not {*OPTIONS_WITH_SNAKEFILE} & {*arguments}:
        command += ["--snakefile", str(find_workflow_folder() / "Snakefile")]
    named_files = [argument for argument in arguments if argument.partition("=")[0] in CONFIGFILE_OPTIONS]
    experiment_files = [] if named_files else find_experiment_files(Path(), [])
    return [*command, *arguments, *([CONFIGFILE_OPTION, *experiment_files] if experiment_files else [])]


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
    from pipeline_py.application.text_pipeline import read_experiment

    snakemake_arguments = [argument for argument in arguments if argument != OPEN_OPTION]
    files, overrides = (_get_option_values(snakemake_arguments, name) for name in (CONFIGFILE_OPTION, CONFIG_OPTION))
    experiment = read_experiment(Path.cwd(), find_experiment_files(Path(), files), overrides)
    page = Path(experiment.get_output_folder("results")) / "report.html"
    command = build_snakemake_command([str(page), *snakemake_arguments])
    exit_code = subprocess.run(command).returncode
    if exit_code:
        sys.exit(exit_code)
    if not page.exists():
        raise InputError("Snakemake made no page; run it without --dry-run", page)
    print(page)
    if OPEN_OPTION in arguments and not webbrowser.open(page.absolute().as_uri()):
        raise InputError("no browser was found; open the page yourself", page)


def _get_option_values(arguments: Sequence[str], name: str) -> list[str]:
    """Return the values of a list option of Snakemake."""
    values: list[str] = []
    is_inside = False
    for argument in arguments:
        option, _, value = argument.partition("=")
        if option == name:
            is_inside = True
            values += [value] if value else []
        elif argument.startswith("-"):
            is_inside = False
        elif is_inside:
            values.append(argument)
    return values
