"""Lines of a treebank file, whoever made it."""

from collections.abc import Iterator
from pathlib import Path

from pipeline_py.text import read_lines

BYTE_ORDER_MARK = "\ufeff"


def treebank_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a plain or gzipped file in UTF-8, without the byte order mark that some editors write.

    Raises:
        InputError: at the first line that is not UTF-8.
    """
    lines = read_lines(path)
    first = next(lines, None)
    if first is not None:
        yield first.removeprefix(BYTE_ORDER_MARK)
    yield from lines
