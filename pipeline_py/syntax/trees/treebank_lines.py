"""Lines of a treebank file, whoever made it, and treebanks without words."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline_py.text import read_lines

BYTE_ORDER_MARK = "\ufeff"

WITHOUT_TEXT = (
    "all words of this sentence are `_`: the treebank comes without its text; restore the text as its README says, or "
    "use another treebank"
)
"""The message for a sentence of which `has_text` is false."""


def treebank_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a plain or gzipped file in UTF-8, without byte order marks.

    Some editors write one at the beginning; in files that were joined, one is at the beginning of each.

    Raises:
        InputError: at the first line that is not UTF-8.
    """
    for line in read_lines(path):
        yield line.removeprefix(BYTE_ORDER_MARK)


def has_text(words: Sequence[str]) -> bool:
    """Whether the words of a gold tree are words, and not all `_` as in treebanks of protected text.

    A single `_` may be a sentence.
    """
    return len(words) < 2 or any(word.strip("_") for word in words)
