"""A cache for the outputs of costly stages.

Snakemake plans a run before its first job and deletes the outputs of a job before it starts. A parse that gives the
same trees as before still triggers every training that depends on it. Such a job restores its outputs from the cache if
the contents of its inputs have not changed.
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pipeline_py.files.artifacts import write_atomically, write_json
from pipeline_py.files.text_files import open_regular_file
from pipeline_py.run.errors import InputError

LAST_RUN_FOLDER = "last"
IDENTITY_FILE_NAME = "identity.json"


def hash_files_and_settings(files: Iterable[Path], *settings: str) -> str:
    """Hash the contents of files and settings, in order."""
    digest = hashlib.sha256()
    for path in files:
        with open_regular_file(path) as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    digest.update(json.dumps(settings).encode())
    return digest.hexdigest()


class OutputCache:
    """A cache of the outputs of a job's last finished run, in a directory that is not an output of any rule.

    Entries are hard links if the file system supports them, which take no space while the outputs exist. Restored
    outputs have been checked against the hashes in the cache.
    """

    def __init__(self, directory: Path | None, cache_key: str) -> None:
        """Open the cache of a job.

        Args:
            directory: directory of this job only, which `store` creates; None to cache nothing.
            cache_key: hash of the job's inputs, settings and code.
        """
        self.directory = directory
        self.cache_key = cache_key

    def restore(self, *outputs: Path) -> bool:
        """Restore the outputs if the cache has all of them for this key, and return whether it has."""
        if self.directory is None or not self._is_valid_entry(self.directory / LAST_RUN_FOLDER, outputs):
            return False
        for output, file in zip(outputs, _get_stored_paths(self.directory / LAST_RUN_FOLDER, outputs), strict=True):
            with write_atomically(output) as temporary:
                _link_or_copy(file, temporary)
                os.utime(temporary)  # newer than its inputs
        print(
            f"{outputs[0]}: reused from the cache, since inputs, settings and code are the same; "
            f"to make it again, delete {self.directory}",
            file=sys.stderr,
        )
        return True

    def store(self, *outputs: Path) -> None:
        """Store finished outputs, replacing those of the previous run; a failure is only reported."""
        if self.directory is None:
            return
        try:
            with write_atomically(self.directory / LAST_RUN_FOLDER) as temporary:
                temporary.mkdir()
                for output, file in zip(outputs, _get_stored_paths(temporary, outputs), strict=True):
                    _link_or_copy(output, file)
                write_json(temporary / IDENTITY_FILE_NAME, self._describe_entry(temporary, outputs))
        except (OSError, InputError) as error:
            print(f"{outputs[0]}: not stored in the cache: {error}", file=sys.stderr)

    def _is_valid_entry(self, directory: Path, outputs: Sequence[Path]) -> bool:
        try:
            entry = json.loads((directory / IDENTITY_FILE_NAME).read_text(encoding="utf-8"))
            if not isinstance(entry, dict) or entry.get("identity") != self.cache_key:
                return False
            # Editing an output in place also changes a hard link to it, so the contents are checked too.
            return entry == self._describe_entry(directory, outputs)
        except (OSError, ValueError):
            return False

    def _describe_entry(self, directory: Path, outputs: Sequence[Path]) -> dict[str, Any]:
        content = {file.name: hash_files_and_settings([file]) for file in _get_stored_paths(directory, outputs)}
        return {"identity": self.cache_key, "outputs": content}


def _get_stored_paths(directory: Path, outputs: Sequence[Path]) -> list[Path]:
    """Return the paths of outputs in the cache, numbered since outputs of several directories may share a name."""
    return [directory / f"{number}.{output.name}" for number, output in enumerate(outputs, start=1)]


def _link_or_copy(source_path: Path, target_path: Path) -> None:
    # A killed run whose process had the same ID may have left a link to a file that is still in use.
    target_path.unlink(missing_ok=True)
    try:
        os.link(source_path, target_path)
    except OSError:
        shutil.copyfile(source_path, target_path)
