"""The words that the vocabularies of both peers begin with, in place of the pipeline's two."""

import numpy as np

UNKNOWN, PADDING, START, END = 0, 1, 2, 3
MORE = 2
"""Words that a vocabulary of theirs has beyond the pipeline's: padding and start."""


def renumbered(row: np.ndarray) -> np.ndarray:
    """Give the pipeline's identifiers the numbers that they have there: 0 → 3, 1 → 0, 2 → 4, 3 → 5, …."""
    return np.where(row > 1, row + MORE, np.where(row == 1, UNKNOWN, END))


def numbered_as_given(row: np.ndarray) -> list[int]:
    """Give identifiers of theirs the pipeline's numbers; a start or padding within a translation is unknown there."""
    return np.where(row > END, row - MORE, np.where(row == END, 0, 1)).tolist()


def words(size: int) -> list[str]:
    """Name the words of a vocabulary of the pipeline, without its end of sentence and unknown word."""
    return [f"word{number}" for number in range(2, size)]
