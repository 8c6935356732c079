"""Sentences in text files: UTF-8, one a line; `.gz` is read as well.

LF or CR LF ends a line and nothing else does: the Unicode line separators are characters like any other.
"""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from pipeline_py.input_error import InputError

MOST_DIGITS = 18
"""Of a number of 64 bits; Python itself refuses to read those of more than 4,300."""


def read_bytes(path: Path) -> Iterator[bytes]:
    """Yield the lines of a plain or gzipped file without their line ends, undecoded.

    Raises:
        InputError: if a `.gz` file is broken or not gzipped.
    """
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        try:
            for line in file:
                yield line.removesuffix(b"\n").removesuffix(b"\r")
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(
                f"broken gzip file ({error}); fetch it again, or name a file that is not compressed without .gz", path
            ) from None


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file without their line ends.

    Raises:
        InputError: at the first line that is not UTF-8.
    """
    for number, line in enumerate(read_bytes(path), start=1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"byte {error.start} is not UTF-8 ({error.reason}); convert the file, e.g. with iconv",
                path,
                number,
            ) from None


def is_number(text: str) -> bool:
    """Whether a text is a whole number that any library can count with: ASCII digits, and not thousands of them."""
    return text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS


def tokens_of(line: str) -> list[str]:
    """Return the tokens or pieces of a line; nothing but the ASCII space separates them."""
    return [token for token in line.split(" ") if token]


def read_parallel(*paths: Path) -> Iterator[tuple[str, ...]]:
    """Yield aligned lines of several files.

    Raises:
        InputError: where one file ends before another.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(_closing(read_lines(path))) for path in paths]
        number = 0
        while True:
            lines = [next(file, None) for file in files]
            if all(line is None for line in lines):
                return
            number += 1
            for path, line in zip(paths, lines, strict=True):
                if line is None:
                    longer = next(p for p, other in zip(paths, lines, strict=True) if other is not None)
                    raise InputError(
                        f"the file has {number - 1} lines and {longer} has more; "
                        "parallel files need the same number of lines",
                        path,
                    )
            yield tuple(line for line in lines if line is not None)


class _closing:
    """Close a generator when the block ends (`contextlib.closing` does not type as the iterator itself)."""

    def __init__(self, lines: Iterator[str]) -> None:
        self.lines = lines

    def __enter__(self) -> Iterator[str]:
        return self.lines

    def __exit__(self, *_: object) -> None:
        self.lines.close()  # type: ignore[attr-defined]
