"""Open files that a user names: a named pipe would wait forever, and a device may never end."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

from pipeline_py.input_error import InputError

KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def open_regular_file(path: Path) -> BufferedReader:
    """Open a file to read bytes.

    Raises:
        InputError: the file is a named pipe, a socket or a device.
        OSError: the file cannot be opened, or is a folder.
    """
    return open(path, "rb", opener=_open_without_waiting)


def _open_without_waiting(path: str, flags: int) -> int:
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            _check_kind(path, os.stat(path).st_mode)  # noqa: PTH116 (no Path is given)
        raise
    try:
        _check_kind(path, os.fstat(descriptor).st_mode)
    except InputError:
        os.close(descriptor)
        raise
    return descriptor


def _check_kind(path: str, mode: int) -> None:
    kind = KINDS.get(stat.S_IFMT(mode))
    if kind is not None:
        raise InputError(f"this is {kind}, not a regular file; write its content to a file and name that", path)
