"""Location of the files that are not Python modules: Snakefile, rules, profiles and the default configuration.

In a clone they are next to the package; an installed wheel has them in its folder `project`.
"""

from pathlib import Path

PACKAGE_FOLDER = Path(__file__).parents[1]

WHEEL_FOLDER = PACKAGE_FOLDER / "project"
"""The folder of these files in an installed wheel."""

DEFAULT_CONFIG_NAME = "config.yaml"


def find_workflow_folder() -> Path:
    """Return the folder of the Snakefile."""
    return WHEEL_FOLDER if WHEEL_FOLDER.is_dir() else PACKAGE_FOLDER.parent


def find_default_config(directory: Path) -> Path:
    """Return `config.yaml` of the folder where Snakemake runs, or else the one of the workflow."""
    path = directory / DEFAULT_CONFIG_NAME
    return path if path.exists() else find_workflow_folder() / DEFAULT_CONFIG_NAME
