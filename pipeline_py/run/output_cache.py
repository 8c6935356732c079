"""A cache of a costly stage's outputs: a rerun with the very same inputs reuses them instead of working again.

Snakemake plans a run before its first job starts, and deletes the outputs of a job before it starts that job. So a
re-parse that gives the same trees still starts every training behind it. Such a job compares what it was given,
byte by byte, with what the outputs in the cache were made from, and is done in a moment where nothing differs.
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
    """Hash what a result depends on: the content of its input files and all its settings, in order."""
    digest = hashlib.sha256()
    for path in files:
        with open_regular_file(path) as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    digest.update(json.dumps(settings).encode())
    return digest.hexdigest()


class OutputCache:
    """The outputs of the last finished run of one job, in a directory that is no output of any rule.

    They are hard links where the file system has such, and so take no space while the outputs are there. What is
    restored has the checksums that it was stored with: a kill at any time costs at most what the cache held.
    """

    def __init__(self, directory: Path | None, cache_key: str) -> None:
        """Name the place and what the outputs are made from; without a directory nothing is stored.

        Args:
            directory: of this job alone; it is made when something is stored.
            cache_key: what `cache_key` says of the job's inputs, settings and code.
        """
        self.directory = directory
        self.cache_key = cache_key

    def restore(self, *outputs: Path) -> bool:
        """Put the stored outputs in their places, if all are there and were made from the same; say whether."""
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
        """Store finished outputs in place of those of the run before.

        Where that fails a message says so, and no more: the outputs themselves are whole.
        """
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
            known = json.loads((directory / IDENTITY_FILE_NAME).read_text(encoding="utf-8"))
            if not isinstance(known, dict) or known.get("identity") != self.cache_key:
                return False
            # A link follows a file that is edited in its place, so what is stored is looked at as well.
            return known == self._describe_entry(directory, outputs)
        except (OSError, ValueError):
            return False

    def _describe_entry(self, directory: Path, outputs: Sequence[Path]) -> dict[str, Any]:
        content = {file.name: hash_files_and_settings([file]) for file in _get_stored_paths(directory, outputs)}
        return {"identity": self.cache_key, "outputs": content}


def _get_stored_paths(directory: Path, outputs: Sequence[Path]) -> list[Path]:
    """Where outputs are stored: numbered, as outputs in several directories may have one name."""
    return [directory / f"{number}.{output.name}" for number, output in enumerate(outputs, start=1)]


def _link_or_copy(source_path: Path, target_path: Path) -> None:
    # Left by a killed run whose process had the same number, it may be a link to something that is still in use.
    target_path.unlink(missing_ok=True)
    try:
        os.link(source_path, target_path)
    except OSError:
        shutil.copyfile(source_path, target_path)
