"""The folder in the user's cache for files that no other user may write: compiled code and locks."""

import os
import stat
from pathlib import Path

FOLDER = "arbitree"
BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def make_private_folder() -> Path:
    """Return the folder, after making it where it does not exist.

    Raises:
        OSError: there is no home folder, or the folder is not this user's.
    """
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / FOLDER
    except RuntimeError:
        raise OSError("there is no home folder to store it in") from None
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise OSError(f"{folder} belongs to another user")
    if status.st_mode & BY_OTHERS:
        folder.chmod(stat.S_IMODE(status.st_mode) & ~BY_OTHERS)
    return folder
