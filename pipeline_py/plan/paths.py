"""What paths, patterns and options are made of, in every package."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from pipeline_py.config.description import Description

ContentsOf = Callable[[Iterable[str]], list[str | None]]
"""Hashes the user's files among some, in order."""


def one_of(names: Iterable[str]) -> str:
    """A pattern for one of some names; without any it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def cache_of(output: str) -> str:
    """The cache of a costly job's outputs, out of Snakemake's sight, which deletes outputs before a job starts."""
    path = PurePosixPath(output)
    return f"{path.parent}/cache/{path.name}"


def named_files(option: str, names: Iterable[str | tuple[str, ...]], files: Iterable[str]) -> list[str]:
    """--OPTION=NAME=FILE for each file; the parts of a name are joined by colons."""
    return [
        f"--{option}={name if isinstance(name, str) else ':'.join(name)}={file}"
        for name, file in zip(names, files, strict=True)
    ]


def folder_of_system(experiment: Description, system: str) -> str:
    """The folder of a system's runs, in the package that trains it, or takes it over from elsewhere."""
    if experiment.from_elsewhere(system):
        return f"<results>/evaluation/{system}"
    return f"<results>/{'nmt' if experiment.is_neural(system) else 'smt'}/{system}"


Files = Mapping[str, Mapping[str | tuple[str, ...], str]]
"""Files of a job by the option that takes them and by their names."""


def lists_of(files: Files) -> dict[str, list[str]]:
    """Such files as the inputs of a rule, a list for each option."""
    return {option: [*of_option.values()] for option, of_option in files.items()}


def options_of(files: Files, inputs: Mapping[str, Sequence[str]]) -> list[str]:
    """Such files as options, where Snakemake has put them as the inputs of a job; a list may be empty and missing."""
    return [
        text
        for option, of_option in files.items()
        for text in named_files(option.replace("_", "-"), of_option, inputs.get(option, []))
    ]


def options_by_kind(files: Files, inputs: Mapping[str, Sequence[str]]) -> list[str]:
    """The same as --file=KIND:NAME=FILE, or KIND=FILE where a name is empty."""
    return [
        f"--file={kind}{name and ':'}{name}={file}"
        for kind, of_kind in files.items()
        for name, file in zip(of_kind, inputs.get(kind, []), strict=True)
    ]
