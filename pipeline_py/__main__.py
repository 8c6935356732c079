"""The command `arbitree` (`python -m pipeline_py`)."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

PROGRAM = "arbitree"


class Subcommand(NamedTuple):
    """A subcommand.

    Attributes:
        module: its module.
        function: name of its function.
        summary: what it does.
        positional: name of the option whose value may be given without its name; None if there is none.
        is_forwarded: whether the function takes the arguments unparsed, for Snakemake.
    """

    module: str
    function: str
    summary: str
    positional: str | None = None
    is_forwarded: bool = False


SUBCOMMANDS = {
    "init": Subcommand(
        "commands.init_experiment", "init_experiment", "write a commented experiment into a folder", "directory"
    ),
    "check": Subcommand(
        "commands.run_workflow",
        "check_experiment",
        "validate the experiment of this folder, show jobs and times",
        is_forwarded=True,
    ),
    "run": Subcommand(
        "commands.run_workflow",
        "run_workflow",
        "run the experiment of this folder: its targets and the page, or the TARGETs that you name",
        is_forwarded=True,
    ),
    "report": Subcommand(
        "commands.run_workflow", "make_report", "make the page; --open shows it in a browser", is_forwarded=True
    ),
    "translate": Subcommand("translate", "translate", "translate lines from stdin with a trained system", "system"),
    "score": Subcommand("commands.score_pairs", "score_pairs", "score translations with a trained system", "system"),
    "explain": Subcommand(
        "commands.explain_file", "explain_file", "show the job of a result, and why it would run again", "file"
    ),
}


def main() -> None:
    """Run a subcommand of the command line."""
    from pipeline_py.run.command_line import parse_arguments, run_and_exit

    name, arguments = sys.argv[1] if len(sys.argv) > 1 else "--help", sys.argv[2:]
    if name in ("--help", "-h"):
        print(format_usage())
        return
    if name == "--version":
        from pipeline_py.run.workflow_files import read_version

        print(f"{PROGRAM} {read_version()}")
        return
    subcommand = SUBCOMMANDS.get(name)
    if subcommand is None:
        sys.exit(f"error: there is no command `{name}`\n\n{format_usage()}")
    function: Callable[..., Any] = getattr(import_module(f"pipeline_py.{subcommand.module}"), subcommand.function)
    if subcommand.is_forwarded:
        if {"--help", "-h"} & {*arguments}:
            print(format_forwarded_usage(name))
            return
        run_and_exit(lambda: function(arguments))
    run_and_exit(lambda: function(**parse_arguments(function, f"{PROGRAM} {name}", arguments, subcommand.positional)))


def format_forwarded_usage(name: str) -> str:
    """Return the help of a subcommand whose options are Snakemake's."""
    return f"""\
usage: {PROGRAM} {name} [TARGET ...] [OPTIONS]

{PROGRAM} {name}: {SUBCOMMANDS[name].summary}.

The experiment is `experiment.yaml` of this folder, or the files after --configfile. Options are Snakemake's; these are
the most frequent, and `snakemake --help` lists all:

  --cores N              run at most N jobs at a time (default: one for each processor)
  --dry-run              only show the jobs
  --configfile FILE ...  experiments to use instead of `experiment.yaml`
  --config KEY=VALUE ... other values of the configuration
  --rerun-incomplete, --keep-going, --forcerun JOB ..."""


def format_usage() -> str:
    """Return the list of subcommands."""
    width = max(map(len, SUBCOMMANDS))
    lines = [f"  {name:<{width}}  {subcommand.summary}" for name, subcommand in SUBCOMMANDS.items()]
    return "\n".join(
        [
            f"usage: {PROGRAM} COMMAND [OPTIONS]",
            "",
            *lines,
            "",
            f"`{PROGRAM} COMMAND --help` lists the options of a command.",
        ]
    )


if __name__ == "__main__":
    main()
