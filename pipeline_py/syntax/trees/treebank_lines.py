"""Lines of a treebank file, whoever made it, and treebanks without words."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline_py.text import BYTE_ORDER_MARK, read_lines

WITHOUT_TEXT = (
    "all words of this sentence are `_`: the treebank comes without its text; restore the text as its README says, or "
    "use another treebank"
)
"""The message for a sentence of which `has_text` is false."""


def treebank_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a plain or compressed file in UTF-8, without byte order marks.

    `read_lines` removes the one at the beginning of a file; in files that were joined, others begin a line.

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
