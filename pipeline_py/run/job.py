"""A job of the workflow as a value: a stage with its files and settings.

The plan makes jobs, Snakemake brings their files, and `pipeline_py.run` executes them.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

Files: TypeAlias = "str | Sequence[Files] | Mapping[str, Files] | None"
"""Paths in nested lists and dictionaries; None for a file that the job does not have."""

RESULTS = "<results>/"
"""The beginning of paths of files that the workflow makes."""

DIGITS = 16
"""Hexadecimal digits of hashes."""


@dataclass(frozen=True)
class Job:
    """A call of a stage, with parameters of the stage as keys of all mappings.

    Attributes:
        stage: a module below `pipeline_py`, "subword.apply_bpe"; its function of the same name does the work.
        files: input files.
        settings: JSON values that decide the result.
        execution: JSON values that do not decide the result, such as the name of a run in messages.
        rounding: those values in `execution` that decide the last digits: no outputs are made again for them, but none
            that were made with other ones are restored.
        sets: by name, input files of each set, if the job runs the stage on several sets.
        side_outputs: patterns of output files that no rule names; `{NAME}` is the output of that name.
        folders: names of folders next to the first output that the stage uses, such as one for its checkpoints.
        software: installed distributions whose versions decide the result.
        modules: modules below `pipeline_py` that the stage finds by name instead of importing them.
        is_cached: whether outputs are kept, to be restored if a later job has the same identity.
    """

    stage: str
    files: Mapping[str, Files] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    execution: Mapping[str, Any] = field(default_factory=dict)
    rounding: Mapping[str, Any] = field(default_factory=dict)
    sets: Mapping[str, Mapping[str, Files]] = field(default_factory=dict)
    side_outputs: Mapping[str, str] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)
    software: Sequence[str] = ()
    modules: Sequence[str] = ()
    is_cached: bool = False

    @property
    def inputs(self) -> dict[str, str | list[str]]:
        """Input files as the named inputs of a rule: a path, or a list of paths."""
        flat: dict[str, str | list[str]] = {
            name: files if isinstance(files, str) else [*list_paths(files)] for name, files in self.files.items()
        }
        for files_of_set in self.sets.values():
            for name, files in files_of_set.items():
                paths = flat.setdefault(name, [])
                assert isinstance(paths, list), f"{name} is a file of the job and of a set"
                paths += list_paths(files)
        return {name: files for name, files in flat.items() if files != []}

    @property
    def shape(self) -> dict[str, Any]:
        """All input files by name: paths of the workflow's own files, and empty strings for the user's files."""

        def hide_user_paths(files: Files) -> Any:
            paths = (path if path.startswith(RESULTS) else "" for path in list_paths(files))
            return replace_paths(files, paths)

        return {
            "files": {name: hide_user_paths(files) for name, files in self.files.items()},
            "sets": {
                name: {key: hide_user_paths(files) for key, files in files_of_set.items()}
                for name, files_of_set in self.sets.items()
            },
        }

    def locate(
        self, inputs: Mapping[str, str | Sequence[str]]
    ) -> "tuple[dict[str, Files], dict[str, dict[str, Files]]]":
        """Return `files` and `sets` with the paths at which Snakemake provides the named inputs of the rule."""
        paths = {name: iter([files] if isinstance(files, str) else files) for name, files in inputs.items()}
        files = {name: replace_paths(files, paths.get(name, iter(()))) for name, files in self.files.items()}
        sets = {
            set_name: {name: replace_paths(files, paths.get(name, iter(()))) for name, files in files_of_set.items()}
            for set_name, files_of_set in self.sets.items()
        }
        return files, sets


def list_paths(files: Files) -> Iterator[str]:
    """Yield the paths of nested files, in order."""
    if isinstance(files, str):
        yield files
    elif isinstance(files, Mapping):
        for value in files.values():
            yield from list_paths(value)
    elif files is not None:
        for value in files:
            yield from list_paths(value)


def replace_paths(files: Files, paths: Iterator[str]) -> Any:
    """Return nested files with other paths, in the same order; without paths, each is the empty string."""
    if isinstance(files, str):
        return next(paths, "")
    if isinstance(files, Mapping):
        return {name: replace_paths(value, paths) for name, value in files.items()}
    return None if files is None else [replace_paths(value, paths) for value in files]


def output_parameter(name: str) -> str:
    """Return the parameter of a stage for a named output of its rule: `counts` is `counts_output`."""
    return "output" if name == "output" else f"{name}_output"


def is_output(parameter: str) -> bool:
    """Return whether a parameter of a stage is a file that the stage writes."""
    return parameter == "output" or parameter.endswith("_output")


def list_files(value: Any) -> Iterator[Path]:
    """Yield the paths in an argument, which may be nested in lists and dictionaries."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from list_files(item)


def assign_outputs(
    outputs: Mapping[str, str | Sequence[str]],
    sets: Sequence[str],
    side_outputs: Mapping[str, str],
    folders: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Assign the named outputs of a rule, and folders next to them, to the parameters of its stage.

    Args:
        outputs: a path, or a list of paths; for several sets, a list with equally many paths of each set in turn.
        sets: the names of the sets; without any, the job is one call of the stage.
        side_outputs: see `Job`.
        folders: see `Job`.

    Returns:
        These parameters of each call of the stage.
    """
    calls: list[dict[str, Any]] = []
    for number in range(len(sets) or 1):
        named = {name: _outputs_of_set(paths, number, len(sets)) if sets else paths for name, paths in outputs.items()}
        named |= {name: pattern.format(**named) for name, pattern in side_outputs.items()}
        call: dict[str, Any] = {output_parameter(name): path for name, path in named.items()}
        if folders:
            parent = PurePosixPath(next(list_paths([*named.values()]))).parent
            call |= {name: str(parent / folder) for name, folder in folders.items()}
        calls.append(call)
    return calls


def _outputs_of_set(paths: str | Sequence[str], number: int, sets: int) -> str | Sequence[str]:
    """Return the path of a set, or its paths if each set has several."""
    size = len(paths) // sets
    return paths[number] if size == 1 else paths[number * size : (number + 1) * size]


def to_json(value: Any) -> str:
    """Serialize JSON values compactly, with keys in the order given."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def hash_json(value: Any) -> str:
    """Hash JSON values."""
    return hashlib.sha256(to_json(value).encode()).hexdigest()[:DIGITS]
