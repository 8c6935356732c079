"""Atomic output files, with checksums inside binary files.

A binary file contains a CRC-32 checksum of its other bytes, which survives copying. Other files have a record
(`run.job_record`). Checksums detect damage, not forgery.
"""

import json
import os
import re
import shutil
import socket
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any, Self

from pipeline_py.files.text_files import open_regular_file
from pipeline_py.run.errors import InputError, describe_write_failure

CHECKSUM_SUFFIXES = (".arrow", ".safetensors")
"""Suffixes of files that contain their checksum."""

CHECKSUM_PLACEHOLDER = "crc32=00000000"
"""Placeholder in the metadata of a new file; `write_checksum` replaces it."""

HEADER_BYTES = 4096
"""Bytes at the beginning of a file that contain the checksum."""

CHECKSUM_MISMATCH_ERROR = "damaged: its content and its checksum do not agree; remove it and run again"

CHUNK_BYTES = 2**20


def write_checksum(path: Path) -> None:
    """Write the checksum of a file into its `CHECKSUM_PLACEHOLDER`."""
    with path.open("r+b") as file:
        place = file.read(HEADER_BYTES).index(CHECKSUM_PLACEHOLDER.encode()) + CHECKSUM_PLACEHOLDER.index("0" * 8)
        digits = _compute_checksum(path, place)
        file.seek(place)
        file.write(digits.encode())


def has_valid_checksum(path: Path) -> bool:
    """Return whether a file contains the checksum of its content; the result is cached until the file changes.

    Raises:
        OSError: the file cannot be opened.
    """
    status = path.stat()
    return _has_matching_checksum(path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@cache
def _has_matching_checksum(path: Path, *_: int) -> bool:
    with open_regular_file(path) as file:
        match = re.search(rb"crc32=([0-9a-f]{8})", file.read(HEADER_BYTES))
    return match is not None and _compute_checksum(path, match.start(1)) == match[1].decode()


def _compute_checksum(path: Path, digits_offset: int) -> str:
    """Return the checksum of a file, with zeros for the eight digits at `digits_offset`."""
    with open_regular_file(path) as file:
        head = bytearray(file.read(HEADER_BYTES + len(CHECKSUM_PLACEHOLDER)))
        head[digits_offset : digits_offset + 8] = b"0" * 8
        checksum = zlib.crc32(head)
        while chunk := file.read(CHUNK_BYTES):
            checksum = zlib.crc32(chunk, checksum)
    return f"{checksum:08x}"


TEMPORARY_SUFFIX = ".part"

STALE_TEMPORARY_SECONDS = 86400
"""Seconds without a change after which a temporary file of another machine counts as abandoned."""


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`, and move it to `path` on success.

    The path may become a file or a folder. A killed job leaves at most the temporary path, which the next writer of
    `path` removes.

    Raises:
        InputError: the disk is full or read-only, or `path` is a folder and the new content a file.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale_temporaries(path)
        temporary = get_temporary_path(path, os.getpid())
        try:
            yield temporary
            if path.is_dir() and not temporary.is_dir():
                raise InputError("there is a folder in the place of a file; move it away and run again", path)
            if path.is_dir():
                shutil.rmtree(path)
            temporary.replace(path)
        finally:
            _remove_path(temporary)
    except Exception as error:
        reason = describe_write_failure(error)
        if reason is None or isinstance(error, InputError):
            raise
        raise InputError(reason, path) from None


def get_temporary_path(path: Path, process_id: int) -> Path:
    """Return the temporary path of a process of this machine for an output path."""
    return path.with_name(f".{path.name}.{_get_machine_id()}.{process_id}{TEMPORARY_SUFFIX}")


def _remove_path(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _remove_stale_temporaries(path: Path) -> None:
    """Remove temporary files for a path that no running process writes to."""
    for entry in path.parent.iterdir():
        if not entry.name.startswith(f".{path.name}.") or entry.suffix != TEMPORARY_SUFFIX:
            continue
        machine, _, process = entry.name.removeprefix(f".{path.name}.").removesuffix(TEMPORARY_SUFFIX).rpartition(".")
        try:
            if (
                _is_running(process)
                if machine == _get_machine_id()
                else time.time() - entry.stat().st_mtime < STALE_TEMPORARY_SECONDS
            ):
                continue
            _remove_path(entry)
        except OSError:  # removed by another process, or owned by another user
            continue


def _get_machine_id() -> str:
    """Return an identifier of the machine, or of the container with its own process numbers."""
    processes = Path("/proc/self/ns/pid")
    place = f"{socket.gethostname()} {processes.readlink() if processes.is_symlink() else ''}"
    return f"{zlib.crc32(place.encode()):08x}"


def _is_running(process_id: str) -> bool:
    if not process_id.isdecimal() or int(process_id) == os.getpid():  # the number is reused
        return False
    try:
        os.kill(int(process_id), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # a process of another user
        return True
    return True


@contextmanager
def open_atomic_text_file(path: Path) -> Iterator[IO[str]]:
    """Open `path` for UTF-8 text with LF line ends; the file appears when it is complete."""
    with write_atomically(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        yield file


def write_json(path: Path, content: Any) -> None:
    """Write `content` as indented JSON with keys in the order given."""
    with open_atomic_text_file(path) as file:
        json.dump(content, file, ensure_ascii=False, indent=2)
        file.write("\n")


class SentenceCounts:
    """Counts of the sentences that a stage read, kept and dropped; read = kept + dropped.

    Notes (`add_noted`: truncated, not parsed, …) are independent of these counts.
    """

    def __init__(self) -> None:
        self.kept_count = 0
        self.dropped_by_reason: Counter[str] = Counter()
        self.noted_by_reason: Counter[str] = Counter()

    @classmethod
    def from_json_file(cls, path: Path) -> Self:
        """Read counts that `write_json_file` wrote."""
        counts = cls()
        content = json.loads(path.read_text(encoding="utf-8"))
        counts.kept_count = content["kept"]
        counts.dropped_by_reason.update(content["dropped"])
        counts.noted_by_reason.update(content["noted"])
        return counts

    def add_kept(self, sentence_count: int = 1) -> None:
        """Count sentences that are passed on to the next stage."""
        self.kept_count += sentence_count

    def add_counts(self, other_counts: "SentenceCounts") -> None:
        """Add the counts of another object."""
        self.kept_count += other_counts.kept_count
        self.dropped_by_reason.update(other_counts.dropped_by_reason)
        self.noted_by_reason.update(other_counts.noted_by_reason)

    def add_dropped(self, reason: str, sentence_count: int = 1) -> None:
        """Count sentences that are dropped for a reason."""
        self.dropped_by_reason[reason] += sentence_count

    def add_noted(self, reason: str, sentence_count: int = 1) -> None:
        """Count an event for sentences, whether they are kept or dropped."""
        self.noted_by_reason[reason] += sentence_count

    @property
    def read_count(self) -> int:
        """Number of sentences that the stage read."""
        return self.kept_count + self.dropped_by_reason.total()

    def write_json_file(self, path: Path) -> None:
        """Write the counts as JSON: `{"in", "kept", "dropped": {reason: n}, "noted": {reason: n}}`."""
        write_json(
            path,
            {
                "in": self.read_count,
                "kept": self.kept_count,
                "dropped": dict(sorted(self.dropped_by_reason.items())),
                "noted": dict(sorted(self.noted_by_reason.items())),
            },
        )
