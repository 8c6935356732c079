"""What a user is told where the input is at fault."""

from pathlib import Path

LONGEST = 2000
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
        super().__init__(said if len(said) <= LONGEST else f"{said[: LONGEST // 2]} … {said[-LONGEST // 4 :]}")
