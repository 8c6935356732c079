"""Errors that are reported in one sentence: invalid input and failures of the machine."""

import errno
import os
from pathlib import Path

MAX_MESSAGE_CHARACTERS = 2000


class InputError(Exception):
    """An error in the user's input, with a message of one sentence that names file, line and remedy.

    Messages may quote the input: unprintable characters are escaped as in Python, and the middle of a very long message
    is omitted.
    """

    def __init__(self, message: str, path: Path | str | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        text = place + message
        if not text.isprintable():
            text = "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
        super().__init__(
            text
            if len(text) <= MAX_MESSAGE_CHARACTERS
            else f"{text[: MAX_MESSAGE_CHARACTERS // 2]} … {text[-MAX_MESSAGE_CHARACTERS // 4 :]}"
        )


DISK_ERROR_MESSAGES = {
    errno.ENOSPC: "the disk is full; free some space and run again",
    errno.EDQUOT: "your disk quota is used up; free some space and run again",
    errno.EFBIG: "the file is larger than the disk or `ulimit -f` allows; raise the limit and run again",
    errno.EROFS: "the disk is read-only; choose another one and run again",
}
"""Messages for failures to write a file."""

SYSTEM_ERROR_MESSAGES = {
    errno.ENOENT: "no such file; check the path in the configuration",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one in the configuration",
    errno.ENOMEM: "there is not enough memory; docs/faq.md says how to use less",
    errno.EMFILE: "too many files are open; raise the limit (`ulimit -n`) and run again",
    errno.EPIPE: "the output was closed; run again and write it to a file",
}
UNKNOWN_ERROR_HINT = "check the path in the configuration"


def describe_failure(error: BaseException) -> str | None:
    """Describe a failure of the machine in one sentence; None for an error that may be a bug."""
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
    """Describe a failure of the disk to write a file; None for other errors."""
    number = _find_error_number(error, DISK_ERROR_MESSAGES)
    return None if number is None else DISK_ERROR_MESSAGES[number]


def _find_error_number(error: BaseException | None, messages_by_number: dict[int, str]) -> int | None:
    """Return the error number of an error or of its causes; None if it is not among `messages_by_number`.

    Some libraries report the number only by its text.
    """
    while error is not None:
        if isinstance(error, OSError) and error.errno in messages_by_number:
            return error.errno
        if number := next((code for code in messages_by_number if os.strerror(code) in str(error)), None):
            return number
        error = error.__context__
    return None
