"""Contents of users' files and of results, remembered between runs.

Snakemake looks at times: a file that was replaced by an older one (`mv`, `rsync -a`, `tar`) is news to it only if a
parameter changes with its content.
"""

import hashlib
import json
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pipeline_py.files.artifacts import write_json
from pipeline_py.files.text_files import open_regular_file
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import hash_json


def read_checked_json(path: Path) -> dict[str, Any]:
    """Return what `write_checked_json` wrote; an empty dictionary if the file is missing or damaged."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        file = json.loads(path.read_text(encoding="utf-8"))
        if file["checksum"] == hash_json(file["content"]):
            return dict(file["content"])
    return {}


def write_checked_json(path: Path, content: dict[str, Any]) -> None:
    """Write JSON with its checksum, if the file can be written."""
    with suppress(OSError, InputError):
        write_json(path, {"checksum": hash_json(content), "content": content})


SETTLING_NANOSECONDS = 2 * 10**9
"""Nanoseconds after its last change from which on a file cannot change again without another time of change."""


class FileHashCache:
    """Hashes of files, remembered for as long as a file stays as it is, so that a plan is made in a moment.

    A file is known by its device, number and size, and by the times when its content and when anything of it changed.
    The last of these is the system's: no copy or move sets it back.
    """

    def __init__(self, cache_path: Path) -> None:
        """Name the file in which hashes are remembered; it need not be there, and it may be lost at any time."""
        self._cache_path = cache_path
        self._entries: dict[str, list[int | str]] = read_checked_json(cache_path)

    def hash_files(self, files: Iterable[str]) -> dict[str, str | None]:
        """Hash files.

        Args:
            files: paths, of which any may be missing, or no file.

        Returns:
            By path, 16 hexadecimal digits; None of what cannot be read as a file, for whoever reads it to tell.
        """
        return {str(file): self._hash_file(Path(file)) for file in files}

    def _hash_file(self, path: Path) -> str | None:
        name = str(path.absolute())
        try:
            identity = _get_file_identity(path)
            known = self._entries.get(name)
            if isinstance(known, list) and known[:-1] == identity:
                return str(known[-1])
            began = time.time_ns()
            with open_regular_file(path) as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()[:16]
            if identity == _get_file_identity(path) and identity[-1] < began - SETTLING_NANOSECONDS:
                self._entries[name] = [*identity, found]
                write_checked_json(self._cache_path, self._entries)
        except (OSError, ValueError, InputError):
            return None
        return found


def _get_file_identity(path: Path) -> list[int]:
    """What changes with a file; the time when anything of it changed comes last."""
    status = path.stat()
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
