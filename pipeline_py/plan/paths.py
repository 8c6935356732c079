"""Patterns and folders that plans of several packages share."""

import re
from collections.abc import Callable, Iterable

from pipeline_py.config.base_experiment import BaseExperimentConfig

UserFileHasher = Callable[[Iterable[str]], list[str | None]]
"""Hashes the user's files among some, in order."""


def build_name_pattern(names: Iterable[str]) -> str:
    """A pattern for one of some names; without any it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def get_system_folder(experiment: BaseExperimentConfig, system: str) -> str:
    """The folder of a system's runs, in the package that trains it, or takes it over from elsewhere."""
    if experiment.find_external_system(system):
        return f"<results>/evaluation/{system}"
    return f"<results>/{'nmt' if experiment.is_neural(system) else 'smt'}/{system}"
