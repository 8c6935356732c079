"""Lines of UTF-8 text files, plain or compressed.

Only LF and CR LF end a line; Unicode line separators do not. A byte order mark at the beginning of a file is removed.
The first bytes of a file determine its compression.
"""

import bz2
import errno
import gzip
import lzma
import os
import re
import stat
import tarfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, TypeVar

from pipeline_py.files.encoding_faults import describe_encoding
from pipeline_py.run.errors import InputError

SPECIAL_FILE_KINDS = {
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
    return open(path, "rb", opener=_open_non_blocking)


def _open_non_blocking(path: str, flags: int) -> int:
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            _check_regular_file(path, os.stat(path).st_mode)  # noqa: PTH116 (no Path is given)
        raise
    try:
        _check_regular_file(path, os.fstat(descriptor).st_mode)
    except InputError:
        os.close(descriptor)
        raise
    return descriptor


def _check_regular_file(path: str, mode: int) -> None:
    kind = SPECIAL_FILE_KINDS.get(stat.S_IFMT(mode))
    if kind is not None:
        raise InputError(f"this is {kind}, not a regular file; write its content to a file and name that", path)


BYTE_ORDER_MARK = "\ufeff"

MAX_DIGITS = 18
"""Maximum number of digits of a number that fits into 64 bits."""


@dataclass(frozen=True)
class CompressionFormat:
    """A format of compressed files.

    Attributes:
        name: name in messages.
        suffix: usual suffix of file names.
        magic_pattern: pattern of the first bytes.
        open_file: function that opens a file to read or write bytes; None if Python has none.
    """

    name: str
    suffix: str
    magic_pattern: re.Pattern[bytes]
    open_file: Callable[..., Any] | None = None


COMPRESSION_FORMATS = (
    CompressionFormat("gzip", ".gz", re.compile(rb"\x1f\x8b"), gzip.open),
    CompressionFormat("bzip2", ".bz2", re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), bz2.open),
    CompressionFormat("xz", ".xz", re.compile(rb"\xfd7zXZ\x00"), lzma.open),
    CompressionFormat(
        "LZMA",
        ".lzma",
        re.compile(rb"\x5d\x00\x00[\x00-\xff]{2}(?:\xff{8}|[\x00-\xff]{4}\x00{4})"),
        partial(lzma.open, format=lzma.FORMAT_ALONE),
    ),
    CompressionFormat("Zstandard", ".zst", re.compile(rb"\x28\xb5\x2f\xfd")),
    CompressionFormat("LZ4", ".lz4", re.compile(rb"\x04\x22\x4d\x18")),
    CompressionFormat("lzip", ".lz", re.compile(rb"LZIP[\x00\x01]")),
    CompressionFormat("compress", ".Z", re.compile(rb"\x1f\x9d")),
    CompressionFormat("ZIP", ".zip", re.compile(rb"PK(?:\x03\x04|\x05\x06)")),
    CompressionFormat("RAR", ".rar", re.compile(rb"Rar!\x1a\x07")),
    CompressionFormat("7-Zip", ".7z", re.compile(rb"7z\xbc\xaf\x27\x1c")),
)
MAX_MAGIC_BYTES = 13
"""Number of bytes that identify a compression."""

FORMAT_ERRORS = {
    b"version https://git-lfs.github.com/spec/": "a pointer of Git LFS and not the file; fetch the file (git lfs pull)",
    b"%PDF-": "a PDF; give its text, one sentence a line",
    b"<!doctype html": "a page of HTML, such as a server's error message; fetch the file again",
}
"""Error messages for common files that are not text, by their first bytes in lower case."""


def find_compression_by_name(path: Path) -> CompressionFormat | None:
    """Return the compression format for the suffix of a file name, if any."""
    return next((compression for compression in COMPRESSION_FORMATS if path.suffix == compression.suffix), None)


def get_uncompressed_name(path: Path) -> str:
    """Return the name of a file without the suffix of its compression."""
    return path.name if find_compression_by_name(path) is None else path.stem


def check_file_format(path: Path) -> None:
    """Check that the beginning of a file can be read.

    Raises:
        InputError: the file is broken, an archive of files, or in a compression that cannot be read.
    """
    with closing(read_byte_lines(path)) as lines:
        next(lines, None)


def _detect_compression(file: BufferedReader, path: Path) -> CompressionFormat | None:
    beginning = file.peek(MAX_MAGIC_BYTES)
    compression = next(
        (known_format for known_format in COMPRESSION_FORMATS if known_format.magic_pattern.match(beginning)), None
    )
    named_format = find_compression_by_name(path)
    if compression is not None and compression.open_file is None:
        raise InputError(f"{compression.name} files cannot be read; decompress it, or compress it with gzip", path)
    if beginning and compression is None and named_format is not None:
        raise InputError(
            f"broken {named_format.name} file (its first bytes are not those of {named_format.name}); fetch it "
            f"again, or name a file that is not compressed without {named_format.suffix}",
            path,
        )
    return compression


def create_binary_file(path: Path, compression: CompressionFormat | None) -> IO[bytes]:
    """Open a new file for bytes, with compression if a format is given.

    Raises:
        InputError: Python cannot write the format.
    """
    if compression is None:
        return path.open("wb")
    if compression.open_file is None:
        raise InputError(f"{compression.name} files cannot be written; choose another ending, such as .gz", path)
    file: IO[bytes] = compression.open_file(path, "wb")
    return file


def split_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the undecoded lines of an open file without line ends and without an initial byte order mark."""
    for number, line in enumerate(file):
        line = line.removesuffix(b"\n").removesuffix(b"\r")
        yield line if number else line.removeprefix(BOM_UTF8)


def read_byte_lines(path: Path) -> Generator[bytes, None, None]:
    """Yield the undecoded lines of a plain or compressed file (see `split_lines`).

    Raises:
        InputError: the file is broken, an archive of files, or in a compression that cannot be read.
    """
    with open_regular_file(path) as file:
        compression = _detect_compression(file, path)
        if compression is None or compression.open_file is None:
            _check_text_content(file, path)
            yield from split_lines(file)
            return
        try:
            with compression.open_file(file, "rb") as content:
                _check_text_content(content, path)
                yield from split_lines(content)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            if getattr(error, "errno", None) is not None:  # a failure of the disk
                raise
            raise InputError(f"broken {compression.name} file ({error}); fetch it again", path) from None


def _check_text_content(content: BufferedReader, path: Path) -> None:
    beginning = content.peek(tarfile.BLOCKSIZE).removeprefix(BOM_UTF8).lower()
    for first_bytes, message in FORMAT_ERRORS.items():
        if beginning.startswith(first_bytes.lower()):
            raise InputError(message, path)
    try:
        tarfile.TarInfo.frombuf(content.peek(tarfile.BLOCKSIZE)[: tarfile.BLOCKSIZE], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return
    raise InputError("a tar archive, which holds files and is no text; unpack it (tar -xf) and name a file in it", path)


def read_lines(path: Path) -> Generator[str, None, None]:
    """Yield the lines of a UTF-8 file without their line ends.

    Raises:
        InputError: a line is not UTF-8.
    """
    for number, line in enumerate(read_byte_lines(path), start=1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"byte {error.start} is not UTF-8 ({error.reason}); {describe_encoding(read_byte_lines(path))}",
                path,
                number,
            ) from None


def is_whole_number(text: str) -> bool:
    """Return whether a text is a whole number of ASCII digits that fits into 64 bits."""
    return text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS


def split_tokens(line: str) -> list[str]:
    """Return the tokens or pieces of a line, which only ASCII spaces separate."""
    return [token for token in line.split(" ") if token]


def read_parallel(*paths: Path) -> Iterator[tuple[str, ...]]:
    """Yield aligned lines of several files.

    Raises:
        InputError: the files have different numbers of lines.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(closing(read_lines(path))) for path in paths]
        number = 0
        while True:
            lines = [next(file, None) for file in files]
            if all(line is None for line in lines):
                return
            number += 1
            for path, line in zip(paths, lines, strict=True):
                if line is None:
                    longer = next(path for path, text in zip(paths, lines, strict=True) if text is not None)
                    raise InputError(
                        f"the file has {number - 1} lines and {longer} has more; "
                        "parallel files need the same number of lines",
                        path,
                    )
            yield tuple(line for line in lines if line is not None)


SentenceResult = TypeVar("SentenceResult")


def check_line_counts(paths: Sequence[Path]) -> None:
    """Check that files have equally many lines.

    Raises:
        InputError: they differ.
    """
    counts = [sum(1 for _ in read_byte_lines(path)) for path in paths]
    for path, count in zip(paths[1:], counts[1:], strict=True):
        if count != counts[0]:
            raise InputError(
                f"{paths[0]} has {counts[0]} lines and {path} has {count}; parallel files need the same number of lines"
            )


def restore_input_order(numbered_results: Iterable[tuple[int, SentenceResult]]) -> Iterator[SentenceResult]:
    """Yield results sorted by sentence number, as soon as all results before them are available.

    Args:
        numbered_results: pairs of a sentence number, counted from 0, and a result.
    """
    waiting: dict[int, SentenceResult] = {}
    next_number = 0
    for number, result in numbered_results:
        waiting[number] = result
        while next_number in waiting:
            yield waiting.pop(next_number)
            next_number += 1
