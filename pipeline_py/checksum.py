"""Checksums of binary files, which detect that a file was damaged after it was written.

Such a file has a place for the checksum of all its other bytes (`seal`), which is kept wherever the file is copied.
Whatever else a job writes has a record (`run.record`). A checksum is a CRC-32: it detects damage, not forgery.
"""

import re
import zlib
from functools import cache
from pathlib import Path

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
