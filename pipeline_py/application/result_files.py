"""Location of the trained files of a system: in the results of its experiment, or in its self-contained folder."""

import json
import os
import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline_py.application.experiment_reader import UNSHARDED_PARSING, parse_overrides
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.plan.paths import find_run_folder
from pipeline_py.report.bundle_system import CARD_NAME, DESCRIPTION_NAME, FILES_NAME
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import RESULTS_PREFIX
from pipeline_py.run.job_record import check_input_file, get_record_path, hash_content


class ResultFiles(ABC):
    """Location of trained files, whose paths begin with `<results>`, and of the user's files."""

    @property
    @abstractmethod
    def hash_cache_path(self) -> Path:
        """Path of the cache of hashes of the user's files."""

    @property
    def recorded_files(self) -> Mapping[str, str]:
        """Hashes of files that must exist, even if no job reads them here."""
        return {}

    @abstractmethod
    def locate(self, file: str) -> Path:
        """Return the path of a file, which may be missing."""

    @abstractmethod
    def check(self, path: Path) -> None:
        """Check that an existing file is not damaged.

        Raises:
            InputError: the file has changed since the system was trained.
        """

    @abstractmethod
    def format_missing_files(self, files: Sequence[str], text: str) -> str:
        """Format the end of the error message for missing files.

        Args:
            files: the missing files.
            text: a file that depends on all files of the system.
        """


@dataclass(frozen=True)
class ExperimentFiles(ResultFiles):
    """Files in the results of an experiment.

    Attributes:
        directory: folder where Snakemake is run.
        results_folder: folder of the results, relative to it.
        run_command: words of the command that runs the workflow, before the files to make.
        run_options: words of this command after these files.
    """

    directory: Path
    results_folder: str
    run_command: Sequence[str]
    run_options: Sequence[str]

    @property
    def hash_cache_path(self) -> Path:
        """Path of the cache that the Snakefile uses."""
        return self.directory / ".snakemake/contents.json"

    def locate(self, file: str) -> Path:
        """Return the path of a file."""
        return self.directory / self._replace_prefix(file)

    def check(self, path: Path) -> None:
        """Check a file against its record."""
        check_input_file(path)

    def format_missing_files(self, files: Sequence[str], text: str) -> str:
        """Format the missing files with the command that makes them."""
        paths = [self._replace_prefix(file) for file in (files[0], text)]
        command = shlex.join([*self.run_command, *paths, *self.run_options])
        return f"{_join_missing(paths[0], files)}; `{command}` makes it"

    def _replace_prefix(self, text: str) -> str:
        return text.replace("<results>", self.results_folder)


DESCRIPTION_TYPES = {
    "version": str,
    "system": str,
    "run": str,
    "data_folder": str,
    "config": dict,
    "files": dict,
    "user_files": dict,
}
"""Keys of the description of a system, and types of their values."""

OVERRIDABLE_KEYS = ("data", "decoding", "training")
"""Keys of the configuration that change how a trained system is used."""


@dataclass(frozen=True)
class BundleFiles(ResultFiles):
    """The self-contained folder of a system, which `report.bundle_system` makes.

    Attributes:
        folder: the folder of a run, in the results or elsewhere.
        overrides: KEY=VALUE that override its configuration.
    """

    folder: Path
    overrides: Sequence[str] = ()

    @cached_property
    def description(self) -> dict[str, Any]:
        """The content of `system.json`.

        Raises:
            InputError: the file is missing or invalid.
        """
        path = self.folder / DESCRIPTION_NAME
        try:
            description = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            description = None
        if not isinstance(description, dict) or any(
            not isinstance(description.get(key), kind) for key, kind in DESCRIPTION_TYPES.items()
        ):
            raise InputError("not the description of a system; copy the folder again", path)
        return description

    @cached_property
    def experiment(self) -> ExperimentConfig:
        """The experiment in which the system was trained, without other systems.

        Raises:
            InputError: the configuration is invalid, or a key cannot be overridden.
        """
        overrides = parse_overrides(self.overrides)
        if fixed_keys := sorted({*overrides} - {*OVERRIDABLE_KEYS}):
            raise InputError(
                f"`{fixed_keys[0]}` is fixed in the folder of a system; only {', '.join(OVERRIDABLE_KEYS)} can be "
                "overridden",
                self.folder,
            )
        config = self.description["config"] | {"data": str(self._locate_user_files())}
        try:
            return load_experiment(config, {**overrides, **UNSHARDED_PARSING}, should_check_files=False)
        except InputError as error:
            made_with = self.description["version"]
            raise InputError(
                f"{error} (Arbitree {made_with} made this folder; use that version, or correct the override)",
                self.folder / DESCRIPTION_NAME,
            ) from None

    def _locate_user_files(self) -> Path:
        """Return the folder of the user's files; `..` goes up the path as written, or else behind symbolic links."""
        path = self.folder / self.description["data_folder"]
        normalized_path = Path(os.path.normpath(path))
        return normalized_path if normalized_path.exists() else path

    @property
    def hash_cache_path(self) -> Path:
        """Path of the cache, which is not written since no file of the user is hashed."""
        return self.folder / ".contents.json"

    @cached_property
    def recorded_files(self) -> dict[str, str]:
        """The hashes of all files with which the system was trained."""
        return {
            **{f"{RESULTS_PREFIX}{name}": content for name, content in self.description["files"].items()},
            **{self.experiment.resolve_path(name): content for name, content in self.description["user_files"].items()},
        }

    def locate(self, file: str) -> Path:
        """Return the path of a file: in the folder, among its copied files, or in the results around it."""
        if not file.startswith(RESULTS_PREFIX):
            return Path(file)
        name = file.removeprefix(RESULTS_PREFIX)
        run_path = find_run_folder(self.experiment, self.description["system"], self.description["run"])
        run_folder = Path(run_path).relative_to(RESULTS_PREFIX)
        paths = [self.folder / FILES_NAME / name, self.folder.joinpath(*[".."] * len(run_folder.parts), name)]
        if Path(name).is_relative_to(run_folder):
            paths.insert(0, self.folder / Path(name).relative_to(run_folder))
        return next((path for path in paths if path.exists()), paths[0])

    def check(self, path: Path) -> None:
        """Check a file against the hash in the description."""
        if path in self._hash_by_path and self._hash_by_path[path] != hash_content(path):
            if get_record_path(path).exists():
                card = self.folder / CARD_NAME
                raise InputError(f"changed since its folder was made; run the workflow with the target {card}", path)
            raise InputError("not the file that the system was trained with; copy it again", path)

    @cached_property
    def _hash_by_path(self) -> dict[Path, str]:
        return {self.locate(file): content for file, content in self.recorded_files.items()}

    def format_missing_files(self, files: Sequence[str], text: str) -> str:
        """Format the missing files with the places where the system looks for them."""
        file = files[0]
        missing = _join_missing(str(self.locate(file)), files)
        if not file.startswith(RESULTS_PREFIX):
            return f"{missing}; copy it, or name the folder of your files by `--config data=FOLDER`"
        return f"{missing}; copy the folder again"


def _join_missing(first_path: str, files: Sequence[str]) -> str:
    return f"{first_path} is missing" + f" (and {len(files) - 1} more)" * (len(files) > 1)
