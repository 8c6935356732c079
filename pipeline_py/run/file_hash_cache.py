"""A persistent cache of file hashes.

Snakemake compares modification times. It notices that an older file has replaced an input (`mv`, `rsync -a`, `tar`)
only if a parameter depends on the content.
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
"""Nanoseconds after which another change of a file is certain to have a different change time."""


class FileHashCache:
    """A cache of file hashes, which are valid while the file does not change.

    A file is identified by its device, inode, size, modification time and change time. Copying or moving a file never
    resets its change time.
    """

    def __init__(self, cache_path: Path) -> None:
        """Open a cache; its file need not exist."""
        self._cache_path = cache_path
        self._entries: dict[str, list[int | str]] = read_checked_json(cache_path)

    def hash_files(self, files: Iterable[str]) -> dict[str, str | None]:
        """Return the hash of each file's content, or None if it is unreadable.

        Returns:
            By path, 16 hexadecimal digits; None for a path that cannot be read as a file.
        """
        return {str(file): self._hash_file(Path(file)) for file in files}

    def _hash_file(self, path: Path) -> str | None:
        name = str(path.absolute())
        try:
            identity = _get_file_identity(path)
            entry = self._entries.get(name)
            if isinstance(entry, list) and entry[:-1] == identity:
                return str(entry[-1])
            start = time.time_ns()
            with open_regular_file(path) as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
            if identity == _get_file_identity(path) and identity[-1] < start - SETTLING_NANOSECONDS:
                self._entries[name] = [*identity, digest]
                write_checked_json(self._cache_path, self._entries)
        except (OSError, ValueError, InputError):
            return None
        return digest


def _get_file_identity(path: Path) -> list[int]:
    """Return numbers that change with a file; the change time is the last of them."""
    status = path.stat()
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
