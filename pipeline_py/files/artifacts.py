"""Files that a stage writes: complete or absent, with checksums within binary files.

A binary file has a place for the checksum of all its other bytes (`seal`), which is kept wherever the file is copied.
Whatever else a job writes has a record (`run.record`). A checksum is a CRC-32: it detects damage, not forgery.
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

from pipeline_py.files.text import open_regular_file
from pipeline_py.run.errors import InputError, about_writing

SEALED = (".arrow", ".safetensors")
"""Suffixes of the files that carry their checksum themselves."""

PLACE = "crc32=00000000"
"""What the writer of such a file puts into its metadata, for `seal` to write the checksum there."""

HEAD = 4096
"""Bytes from the beginning of a file in which this place lies."""

DAMAGED = "damaged: its content and its checksum do not agree; remove it and run again"
"""What is said of such a file."""

CHUNK = 2**20  # bytes


def seal(path: Path) -> None:
    """Write the checksum of a file into its `PLACE`."""
    with path.open("r+b") as file:
        place = file.read(HEAD).index(PLACE.encode()) + PLACE.index("0" * 8)
        digits = _compute_checksum(path, place)
        file.seek(place)
        file.write(digits.encode())


def is_sealed(path: Path) -> bool:
    """Say whether a file carries the checksum of its content; a process reads a file once for that.

    Raises:
        OSError: naming the file, where it cannot be opened.
    """
    known = path.stat()
    return _is_sealed(path, known.st_ino, known.st_size, known.st_mtime_ns, known.st_ctime_ns)


@cache
def _is_sealed(path: Path, *_: int) -> bool:
    with open_regular_file(path) as file:
        found = re.search(rb"crc32=([0-9a-f]{8})", file.read(HEAD))
    return found is not None and _compute_checksum(path, found.start(1)) == found[1].decode()


def _compute_checksum(path: Path, place: int) -> str:
    """Return the checksum of a file, with zeros for the eight digits at `place`."""
    with open_regular_file(path) as file:
        head = bytearray(file.read(HEAD + len(PLACE)))
        head[place : place + 8] = b"0" * 8
        checksum = zlib.crc32(head)
        while chunk := file.read(CHUNK):
            checksum = zlib.crc32(chunk, checksum)
    return f"{checksum:08x}"


PART = ".part"
"""What names of temporaries end with."""

LEFT = 86400
"""Seconds without a change after which a temporary of another machine's process is one that was left behind."""


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path` (for a file or a directory) that takes its place on success.

    A killed job leaves at most the temporary, never a half file that looks whole; the next that writes the same
    removes it.

    Raises:
        InputError: the disk is full, or can only be read, or a folder is where a file is to be.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_remains(path)
        temporary = temporary_of(path, os.getpid())
        try:
            yield temporary
            if path.is_dir() and not temporary.is_dir():
                raise InputError("there is a folder in the place of a file; move it away and run again", path)
            if path.is_dir():
                shutil.rmtree(path)
            temporary.replace(path)
        finally:
            _remove(temporary)
    except Exception as error:
        reason = about_writing(error)
        if reason is None or isinstance(error, InputError):
            raise
        raise InputError(reason, path) from None


def temporary_of(path: Path, process: int) -> Path:
    """What a process of this machine writes to before it takes the place of a path."""
    return path.with_name(f".{path.name}.{_machine()}.{process}{PART}")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _remove_remains(path: Path) -> None:
    """Remove temporaries for a path that no living process writes to."""
    for entry in path.parent.iterdir():
        if not entry.name.startswith(f".{path.name}.") or entry.suffix != PART:
            continue
        machine, _, process = entry.name.removeprefix(f".{path.name}.").removesuffix(PART).rpartition(".")
        try:
            if _runs(process) if machine == _machine() else time.time() - entry.stat().st_mtime < LEFT:
                continue
            _remove(entry)
        except OSError:  # somebody else was faster, or it is theirs
            continue


def _machine() -> str:
    """Where a process's number means the same process: the machine, of it perhaps a container."""
    processes = Path("/proc/self/ns/pid")
    place = f"{socket.gethostname()} {processes.readlink() if processes.is_symlink() else ''}"
    return f"{zlib.crc32(place.encode()):08x}"


def _runs(process: str) -> bool:
    if not process.isdecimal() or int(process) == os.getpid():  # the number comes round again
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # of somebody else
        return True
    return True


@contextmanager
def writing(path: Path) -> Iterator[IO[str]]:
    """Open `path` for UTF-8 text with LF line ends; it appears only once it is whole."""
    with whole(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        yield file


def write_json(path: Path, content: Any) -> None:
    """Write `content` as indented JSON with keys in the order given."""
    with writing(path) as file:
        json.dump(content, file, ensure_ascii=False, indent=2)
        file.write("\n")


class Counts:
    """Counts what a stage did with each of its sentences: in = kept + dropped, always.

    `kept` sentences may still be marked (`note`: truncated, parsed by fallback, …); a note says nothing
    about keeping.
    """

    def __init__(self) -> None:
        self.kept = 0
        self.dropped: Counter[str] = Counter()
        self.noted: Counter[str] = Counter()

    @classmethod
    def of(cls, path: Path) -> Self:
        """Read what `write` wrote."""
        counts = cls()
        content = json.loads(path.read_text(encoding="utf-8"))
        counts.kept = content["kept"]
        counts.dropped.update(content["dropped"])
        counts.noted.update(content["noted"])
        return counts

    def keep(self, sentences: int = 1) -> None:
        """Count sentences that went on to the next stage."""
        self.kept += sentences

    def add(self, other: "Counts") -> None:
        """Count what others count, too."""
        self.kept += other.kept
        self.dropped.update(other.dropped)
        self.noted.update(other.noted)

    def drop(self, reason: str, sentences: int = 1) -> None:
        """Count sentences that did not."""
        self.dropped[reason] += sentences

    def note(self, what: str, sentences: int = 1) -> None:
        """Count something that happened to sentences whether or not they were kept."""
        self.noted[what] += sentences

    @property
    def read(self) -> int:
        """Sentences that came in."""
        return self.kept + self.dropped.total()

    def write(self, path: Path) -> None:
        """Write the counts as JSON: `{"in", "kept", "dropped": {reason: n}, "noted": {what: n}}`."""
        write_json(
            path,
            {
                "in": self.read,
                "kept": self.kept,
                "dropped": dict(sorted(self.dropped.items())),
                "noted": dict(sorted(self.noted.items())),
            },
        )
