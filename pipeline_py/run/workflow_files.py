"""Location of the files that are not Python modules: Snakefile, rules, profiles and the default configuration.

In a clone they are next to the package; an installed wheel has them in its folder `project`.
"""

from collections.abc import Sequence
from pathlib import Path

PACKAGE_FOLDER = Path(__file__).parents[1]

WHEEL_FOLDER = PACKAGE_FOLDER / "project"
"""The folder of these files in an installed wheel."""

DEFAULT_CONFIG_NAME = "config.yaml"

SNAKEFILE_NAME = "Snakefile"

EXPERIMENT_NAME = "experiment.yaml"
"""The experiment of a folder without a Snakefile; it is used unless configuration files are named."""


def read_version() -> str:
    """Return the version of the installed distribution."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("arbitree")
    except PackageNotFoundError:
        return "(not installed)"


def find_workflow_folder() -> Path:
    """Return the folder of the Snakefile."""
    return WHEEL_FOLDER if WHEEL_FOLDER.is_dir() else PACKAGE_FOLDER.parent


def choose_run_command(directory: Path) -> list[str]:
    """Return the words of the command that runs the workflow in a folder: `arbitree` if it has no Snakefile."""
    return ["snakemake", "--cores", "all"] if (directory / SNAKEFILE_NAME).exists() else ["arbitree", "run"]


def find_default_config(directory: Path) -> Path:
    """Return `config.yaml` of the folder where Snakemake runs, or else the one of the workflow."""
    path = directory / DEFAULT_CONFIG_NAME
    return path if path.exists() else find_workflow_folder() / DEFAULT_CONFIG_NAME


def find_experiment_files(directory: Path, configfiles: Sequence[str]) -> list[str]:
    """Return the configuration files of a folder: those that are named, or else its `experiment.yaml`."""
    has_experiment = (directory / EXPERIMENT_NAME).exists() and not (directory / SNAKEFILE_NAME).exists()
    return [*configfiles] or [EXPERIMENT_NAME] * has_experiment
