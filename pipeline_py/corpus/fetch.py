"""Copy one side of a text into the results: local files, concatenated in order, as plain text."""

import codecs
from collections.abc import Iterator
from pathlib import Path

from pipeline_py import stage
from pipeline_py.artifact import whole
from pipeline_py.input_error import InputError
from pipeline_py.progress import progress
from pipeline_py.text import read_bytes


def fetch(*, input: list[Path], output: Path) -> None:
    """Write the lines of the input files (plain or .gz, in the order given) to one plain file.

    Bytes stay as they are (the stage `clean` checks them), with three exceptions: CR LF becomes LF, the last line of
    each file gets its line end, and a UTF-8 byte order mark at the start of a file is removed.

    Args:
        input: Text files, one sentence a line; repeatable.
        output: The concatenated text.

    Raises:
        InputError: a file is missing, holds no line, or is a broken .gz.
    """
    for path in input:
        if not path.is_file():
            raise InputError("no such file; check the path in the configuration", path)
    with whole(output) as temporary, temporary.open("wb") as file:
        for path in input:
            for line in progress(_lines(path), f"fetch {path.name}"):
                file.write(line + b"\n")


def _lines(path: Path) -> Iterator[bytes]:
    number = 0
    for number, line in enumerate(read_bytes(path), start=1):
        yield line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
    if number == 0:
        raise InputError("the file is empty; give a file with one sentence a line", path)


if __name__ == "__main__":
    stage.run(fetch)
