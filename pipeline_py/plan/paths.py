"""Patterns and paths that several plans share."""

import re
from collections.abc import Callable, Iterable

from pipeline_py.config.base import format_folder_name
from pipeline_py.config.base_experiment import BaseExperimentConfig

UserFileHasher = Callable[[Iterable[str]], list[str | None]]
"""Function that hashes the user's files among some files, in order."""


def build_name_pattern(names: Iterable[str]) -> str:
    """Return a regular expression that matches any of the names; without names it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def build_system_pattern(systems: Iterable[str]) -> str:
    """Return a regular expression that matches the folder names of systems."""
    return build_name_pattern(map(format_folder_name, systems))


def get_run_folder(package: str, system: str, run: str) -> str:
    """Return the folder of a run in `nmt`, `smt` or `evaluation`."""
    return f"<results>/{package}/{format_folder_name(system)}/{run}"


def get_version_parser(version: str) -> str:
    """Return the parser of a version of trees: `ewt` of `ewt` and of `ewt.before.pcfg` (see `plan.fallbacks`)."""
    return version.partition(".")[0]


def get_beam_choice_path(system: str, run: str) -> str:
    """Return the path of the beam width of a network or an ensemble that is chosen on the development set."""
    return f"{get_run_folder('nmt', system, run)}/dev.beam.json"


def find_run_folder(experiment: BaseExperimentConfig, system: str, run: str) -> str:
    """Return the folder of a run in the package that trains or imports the system."""
    if experiment.find_external_system(system):
        return get_run_folder("evaluation", system, run)
    return get_run_folder("nmt" if experiment.is_neural(system) else "smt", system, run)
