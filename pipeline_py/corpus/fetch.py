"""Copying of local text files into the results, concatenated and uncompressed."""

from collections.abc import Iterator
from pathlib import Path

from pipeline_py.files.artifacts import write_atomically
from pipeline_py.files.encoding_faults import iterate_checked_lines
from pipeline_py.files.text_files import check_line_counts, read_byte_lines
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress


def fetch(*, input: list[Path], parallel_input: list[Path] | None = None, output: Path) -> None:
    """Write the lines of the input files (plain or compressed, in the order given) to one plain file.

    Bytes stay unchanged, with three exceptions: CR LF becomes LF, a missing line end at the end of a file is added, and
    a UTF-8 byte order mark at the start of a file is removed. Up to 1 % of the lines can be invalid UTF-8; `clean`
    drops or rejects them.

    Args:
        input: Text files, one sentence a line.
        parallel_input: The other side of the first files, in the same order. Each must have as many lines: `clean` sees
            only the concatenated text, in which a line too many in one file and one too few in the next are not
            noticed.
        output: The concatenated text.

    Raises:
        InputError: a file is missing, empty, broken, or not UTF-8 text with one sentence a line; a parallel file has
            another number of lines.
    """
    for path in [*input, *(parallel_input or [])]:
        if not path.is_file():
            raise InputError("no such file; check the path in the configuration", path)
    for pair in zip(parallel_input or [], input, strict=False):
        check_line_counts(pair)
    with write_atomically(output) as temporary, temporary.open("wb") as file:
        for path in input:
            for line in show_progress(_read_checked_lines(path), f"fetch {path.name}"):
                file.write(line + b"\n")


def _read_checked_lines(path: Path) -> Iterator[bytes]:
    is_empty = True
    for line in iterate_checked_lines(read_byte_lines(path), path):
        is_empty = False
        yield line
    if is_empty:
        raise InputError("the file is empty; give a file with one sentence a line", path)
