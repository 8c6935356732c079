"""Patterns and folders that plans of several packages share."""

import re
from collections.abc import Callable, Iterable

from pipeline_py.config.description import Description

ContentsOf = Callable[[Iterable[str]], list[str | None]]
"""Hashes the user's files among some, in order."""


def one_of(names: Iterable[str]) -> str:
    """A pattern for one of some names; without any it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def folder_of_system(experiment: Description, system: str) -> str:
    """The folder of a system's runs, in the package that trains it, or takes it over from elsewhere."""
    if experiment.from_elsewhere(system):
        return f"<results>/evaluation/{system}"
    return f"<results>/{'nmt' if experiment.is_neural(system) else 'smt'}/{system}"
