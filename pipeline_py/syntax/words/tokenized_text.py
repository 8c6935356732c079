"""Tokenized text on its way into trees."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pipeline_py.input_error import InputError
from pipeline_py.text import read_lines, tokens_of


def read_sentences(tokens: Path, first: int = 0, sentences: int | None = None) -> Iterator[tuple[str, ...]]:
    """Yield the words of each line of a text, or of a slice of it; of an empty line none.

    Args:
        tokens: one sentence a line, tokens separated by a space.
        first: lines of the text before the slice.
        sentences: lines of the slice; all to the end when not given.

    Raises:
        InputError: for a line of the slice with a tab or a carriage return, which files of trees cannot hold.
    """
    lines = islice(read_lines(tokens), first, None if sentences is None else first + sentences)
    for number, line in enumerate(lines, start=first + 1):
        if "\t" in line or "\r" in line:
            raise InputError("a tab or a carriage return within the line; clean the text first", tokens, number)
        yield tuple(tokens_of(line))
