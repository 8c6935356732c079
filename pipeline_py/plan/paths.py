"""Patterns and paths that several plans share."""

import re
from collections.abc import Callable, Iterable

from pipeline_py.config.base_experiment import BaseExperimentConfig

UserFileHasher = Callable[[Iterable[str]], list[str | None]]
"""Function that hashes the user's files among some files, in order."""


def build_name_pattern(names: Iterable[str]) -> str:
    """Return a regular expression that matches any of the names; without names it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def get_version_parser(version: str) -> str:
    """Return the parser of a version of trees: `ewt` of `ewt` and of `ewt.before.pcfg` (see `plan.fallbacks`)."""
    return version.partition(".")[0]


def get_beam_choice_path(system: str, run: str) -> str:
    """Return the path of the beam width of a network or an ensemble that is chosen on the development set."""
    return f"<results>/nmt/{system}/{run}/dev.beam.json"


def get_system_folder(experiment: BaseExperimentConfig, system: str) -> str:
    """Return the folder of a system's runs, in the package that trains or imports it."""
    if experiment.find_external_system(system):
        return f"<results>/evaluation/{system}"
    return f"<results>/{'nmt' if experiment.is_neural(system) else 'smt'}/{system}"
