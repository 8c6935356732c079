"""Errors that are reported in one sentence: wrong input, and failures of the machine."""

import errno
import os
from pathlib import Path

MAX_MESSAGE_CHARACTERS = 2000
"""Characters of a message."""


class InputError(Exception):
    """The user's input is at fault; the message is one sentence naming file, line and remedy.

    What the input holds may stand in it, so what is not printable, as an end of line, is written as in Python, and the
    middle of a very long one left out.
    """

    def __init__(self, message: str, path: Path | str | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        said = place + message
        if not said.isprintable():
            said = "".join(one if one.isprintable() else repr(one)[1:-1] for one in said)
        super().__init__(
            said
            if len(said) <= MAX_MESSAGE_CHARACTERS
            else f"{said[: MAX_MESSAGE_CHARACTERS // 2]} … {said[-MAX_MESSAGE_CHARACTERS // 4 :]}"
        )


DISK_ERROR_MESSAGES = {
    errno.ENOSPC: "the disk is full; free some space and run again",
    errno.EDQUOT: "your disk quota is used up; free some space and run again",
    errno.EFBIG: "the file is larger than the disk or `ulimit -f` allows; raise the limit and run again",
    errno.EROFS: "the disk is read-only; choose another one and run again",
}
"""Where something is to be written."""

SYSTEM_ERROR_MESSAGES = {
    errno.ENOENT: "no such file; check the path in the configuration",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one in the configuration",
    errno.ENOMEM: "there is not enough memory; docs/faq.md says how to use less",
    errno.EMFILE: "too many files are open; raise the limit (`ulimit -n`) and run again",
    errno.EPIPE: "the output was closed; run again and write it to a file",
}
UNKNOWN_ERROR_HINT = "check the path in the configuration"


def describe_failure(error: BaseException) -> str | None:
    """Say in one sentence what failed where, and what helps; None of what may be a mistake in the code."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":  # of torch, which is not imported
        return SYSTEM_ERROR_MESSAGES[errno.ENOMEM]
    if isinstance(error, RecursionError):
        return "the input is nested too deeply; look for a long run of brackets"
    number = _find_error_number(error, DISK_ERROR_MESSAGES | {errno.ENOMEM: ""})
    if isinstance(error, OSError):
        number = error.errno if number is None else number
        reason = f"{(error.strerror or str(error) or 'cannot be opened').lower()}; {UNKNOWN_ERROR_HINT}"
        place = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        return place + (DISK_ERROR_MESSAGES | SYSTEM_ERROR_MESSAGES).get(number or 0, reason)
    return None if number is None else (DISK_ERROR_MESSAGES | SYSTEM_ERROR_MESSAGES)[number]


def describe_write_failure(error: BaseException) -> str | None:
    """Say why a file cannot be written, where that is the disk's fault; else None."""
    number = _find_error_number(error, DISK_ERROR_MESSAGES)
    return None if number is None else DISK_ERROR_MESSAGES[number]


def _find_error_number(error: BaseException | None, messages_by_number: dict[int, str]) -> int | None:
    """The number of a failure that is known, or of the one that it came of.

    Libraries that are not Python's tell it in their words alone.
    """
    while error is not None:
        if isinstance(error, OSError) and error.errno in messages_by_number:
            return error.errno
        if said := next((number for number in messages_by_number if os.strerror(number) in str(error)), None):
            return said
        error = error.__context__
    return None
