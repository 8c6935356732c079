"""A job of the workflow: a stage with its files and settings.

The plan builds jobs, Snakemake provides their files, and `pipeline_py.run` executes them.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

NestedPaths: TypeAlias = "str | Sequence[NestedPaths] | Mapping[str, NestedPaths] | None"
"""Paths in nested lists and dictionaries; None for a file that the job does not have."""

RESULTS_PREFIX = "<results>/"
"""Prefix of the paths of files that the workflow makes."""

HASH_DIGITS = 16
"""Number of hexadecimal digits of hashes."""


@dataclass(frozen=True)
class Job:
    """A call of a stage; the keys of all mappings are parameters of the stage.

    Attributes:
        stage: module below `pipeline_py`, e.g. "subword.apply_bpe", with a function of the same name.
        files: input files.
        settings: JSON values that affect the result.
        execution_settings: JSON values that do not affect the result, such as the name of a run in messages.
        rounding_settings: values in `execution_settings` that affect the last digits. A change does not run the job
            again, but outputs made with other values are not restored from the cache.
        files_by_set: by name, input files of each set, if the job runs the stage on several sets.
        side_outputs: patterns of output files that no rule names; `{NAME}` is the output of that name.
        work_folders: names of folders next to the first output that the stage uses, such as one for its checkpoints.
        software: installed distributions whose versions affect the result.
        modules: modules below `pipeline_py` that the stage finds by name instead of importing them.
        is_cached: whether outputs are cached and restored for a later job with the same identity.
    """

    stage: str
    files: Mapping[str, NestedPaths] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    execution_settings: Mapping[str, Any] = field(default_factory=dict)
    rounding_settings: Mapping[str, Any] = field(default_factory=dict)
    files_by_set: Mapping[str, Mapping[str, NestedPaths]] = field(default_factory=dict)
    side_outputs: Mapping[str, str] = field(default_factory=dict)
    work_folders: Mapping[str, str] = field(default_factory=dict)
    software: Sequence[str] = ()
    modules: Sequence[str] = ()
    is_cached: bool = False

    @property
    def rule_inputs(self) -> dict[str, str | list[str]]:
        """Input files of the job, as Snakemake's named inputs: a path or a list of paths for each name."""
        inputs: dict[str, str | list[str]] = {
            name: files if isinstance(files, str) else [*iterate_nested_paths(files)]
            for name, files in self.files.items()
        }
        for files_of_set in self.files_by_set.values():
            for name, files in files_of_set.items():
                paths = inputs.setdefault(name, [])
                assert isinstance(paths, list), f"{name} is a file of the job and of a set"
                paths += iterate_nested_paths(files)
        return {name: files for name, files in inputs.items() if files != []}

    @property
    def input_structure(self) -> dict[str, Any]:
        """All input files by name: paths of the workflow's own files, and empty strings for the user's files."""

        def hide_user_paths(files: NestedPaths) -> Any:
            paths = (path if path.startswith(RESULTS_PREFIX) else "" for path in iterate_nested_paths(files))
            return replace_nested_paths(files, paths)

        return {
            "files": {name: hide_user_paths(files) for name, files in self.files.items()},
            "sets": {
                name: {key: hide_user_paths(files) for key, files in files_of_set.items()}
                for name, files_of_set in self.files_by_set.items()
            },
        }

    def locate_files(
        self, located_inputs: Mapping[str, str | Sequence[str]]
    ) -> "tuple[dict[str, NestedPaths], dict[str, dict[str, NestedPaths]]]":
        """Return `files` and `files_by_set` with the paths at which Snakemake provides the inputs of the rule."""
        paths = {name: iter([files] if isinstance(files, str) else files) for name, files in located_inputs.items()}
        files = {name: replace_nested_paths(files, paths.get(name, iter(()))) for name, files in self.files.items()}
        sets = {
            set_name: {
                name: replace_nested_paths(files, paths.get(name, iter(()))) for name, files in files_of_set.items()
            }
            for set_name, files_of_set in self.files_by_set.items()
        }
        return files, sets


def iterate_nested_paths(files: NestedPaths) -> Iterator[str]:
    """Yield the paths of nested files, in order."""
    if isinstance(files, str):
        yield files
    elif isinstance(files, Mapping):
        for value in files.values():
            yield from iterate_nested_paths(value)
    elif files is not None:
        for value in files:
            yield from iterate_nested_paths(value)


def replace_nested_paths(files: NestedPaths, paths: Iterator[str]) -> Any:
    """Return nested files with other paths, in the same order; without paths, each is the empty string."""
    if isinstance(files, str):
        return next(paths, "")
    if isinstance(files, Mapping):
        return {name: replace_nested_paths(value, paths) for name, value in files.items()}
    return None if files is None else [replace_nested_paths(value, paths) for value in files]


def get_output_parameter(output_name: str) -> str:
    """Return the parameter of a stage for a named output of its rule: `counts` is `counts_output`."""
    return "output" if output_name == "output" else f"{output_name}_output"


def is_output_parameter(parameter: str) -> bool:
    """Return whether a parameter of a stage is a file that the stage writes."""
    return parameter == "output" or parameter.endswith("_output")


def iterate_argument_paths(argument: Any) -> Iterator[Path]:
    """Yield the paths in an argument, which may be nested in lists and dictionaries."""
    if isinstance(argument, Path):
        yield argument
    elif isinstance(argument, list | dict):
        for item in argument.values() if isinstance(argument, dict) else argument:
            yield from iterate_argument_paths(item)


def assign_outputs(
    rule_outputs: Mapping[str, str | Sequence[str]],
    set_names: Sequence[str],
    side_outputs: Mapping[str, str],
    work_folders: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Assign the named outputs of a rule, and folders next to them, to the parameters of its stage.

    Args:
        rule_outputs: a path or a list of paths; for several sets, a list with equally many paths for each set in turn.
        set_names: names of the sets; if empty, the job is one call of the stage.
        side_outputs: see `Job`.
        work_folders: see `Job`.

    Returns:
        The output parameters of each call of the stage.
    """
    calls: list[dict[str, Any]] = []
    for number in range(len(set_names) or 1):
        outputs = {
            name: _select_set_outputs(paths, number, len(set_names)) if set_names else paths
            for name, paths in rule_outputs.items()
        }
        outputs |= {name: pattern.format(**outputs) for name, pattern in side_outputs.items()}
        call: dict[str, Any] = {get_output_parameter(name): path for name, path in outputs.items()}
        if work_folders:
            parent = PurePosixPath(next(iterate_nested_paths([*outputs.values()]))).parent
            call |= {name: str(parent / folder) for name, folder in work_folders.items()}
        calls.append(call)
    return calls


def _select_set_outputs(paths: str | Sequence[str], set_index: int, set_count: int) -> str | Sequence[str]:
    """Return the path of a set, or its paths if each set has several."""
    size = len(paths) // set_count
    return paths[set_index] if size == 1 else paths[set_index * size : (set_index + 1) * size]


def serialize_json(value: Any) -> str:
    """Serialize JSON values compactly, with keys in the order given."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def hash_json(value: Any) -> str:
    """Hash JSON values."""
    return hashlib.sha256(serialize_json(value).encode()).hexdigest()[:HASH_DIGITS]
