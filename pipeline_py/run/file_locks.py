"""File locks of a process, and the user's private folder for them."""

import fcntl
import os
import stat
from pathlib import Path

PRIVATE_FOLDER_NAME = "arbitree"
NON_OWNER_WRITE_BITS = stat.S_IWGRP | stat.S_IWOTH


def create_private_folder() -> Path:
    """Create the user's private folder if it does not exist, and return it.

    Raises:
        OSError: there is no home folder, or the folder belongs to another user.
    """
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / PRIVATE_FOLDER_NAME
    except RuntimeError:
        raise OSError("there is no home folder to store it in") from None
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise OSError(f"{folder} belongs to another user")
    if status.st_mode & NON_OWNER_WRITE_BITS:
        folder.chmod(stat.S_IMODE(status.st_mode) & ~NON_OWNER_WRITE_BITS)
    return folder


def acquire_lock(path: Path) -> bool:
    """Lock a file until this process ends; the file is created if it does not exist.

    Returns:
        False if another process holds the lock.

    Raises:
        OSError: the file cannot be opened, is a link, or its file system has no locks.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, mode=0o666)  # never closed
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            return False
        raise
    return True
