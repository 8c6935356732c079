"""Checksums by which a file that was damaged after it was written is told from a whole one.

Binary files have a place for the checksum of all their other bytes (`seal`), so it goes where they go. Whatever else a
stage writes, text or a directory, has its own in a small hidden file beside it (`record`). A checksum is a CRC-32:
it tells damage, not forgery.
"""

import os
import re
import zlib
from functools import cache
from pathlib import Path

from pipeline_py.artifact import whole
from pipeline_py.regular_file import open_regular_file

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
        digits = _of_file(path, place)
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
    return found is not None and _of_file(path, found.start(1)) == found[1].decode()


def record(path: Path) -> None:
    """Write the checksum of a file or a directory beside it, where it carries none itself."""
    if not _carries(path):
        with whole(_beside(path)) as temporary:
            temporary.write_text(f"{_of(path)}\n", encoding="ascii")


def forget(path: Path) -> None:
    """Remove what `record` wrote, before something else is written to the path."""
    if _is_recorded(path):
        _beside(path).unlink()


def is_whole(path: Path) -> bool:
    """Say whether a file or a directory has the checksum that it carries, or that stands beside it if one does.

    What is not there is said to be whole, for whoever opens it to tell.
    """
    if _carries(path):
        return is_sealed(path)
    if not _is_recorded(path) or not path.exists():
        return True
    return _beside(path).read_bytes() == f"{_of(path)}\n".encode()


def _beside(path: Path) -> Path:
    return path.parent / f".{path.name}.crc32"


def _is_recorded(path: Path) -> bool:
    return os.path.exists(_beside(path))  # noqa: PTH110 (a name may be too long, or below a file)


def _carries(path: Path) -> bool:
    return path.suffix in SEALED and path.is_file()


def _of(path: Path) -> str:
    if not path.is_dir():
        return _of_file(path)
    # Snakemake puts a hidden file into a folder that a job has made.
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    return _written(zlib.crc32("\n".join(f"{file.relative_to(path)} {_of_file(file)}" for file in files).encode()))


def _of_file(path: Path, place: int | None = None) -> str:
    """Compute the checksum of a file, with zeros for the eight digits at `place`."""
    found = 0
    with open_regular_file(path) as file:
        if place is not None:
            head = bytearray(file.read(HEAD + len(PLACE)))
            head[place : place + 8] = b"0" * 8
            found = zlib.crc32(head)
        while chunk := file.read(CHUNK):
            found = zlib.crc32(chunk, found)
    return _written(found)


def _written(checksum: int) -> str:
    return f"{checksum:08x}"
