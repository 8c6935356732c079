"""Locks that one process holds until it ends, in whatever way."""

import fcntl
import os
from pathlib import Path


def hold_lock(path: Path) -> bool:
    """Lock a file, which is made where it does not exist, until this process ends.

    Returns:
        Whether this process holds the lock; if not, another one does.

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
