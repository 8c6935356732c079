"""The words that the vocabularies of both peers begin with, in place of the pipeline's two."""

import numpy as np

UNKNOWN_ID, PADDING_ID, START_ID, END_ID = 0, 1, 2, 3
EXTRA_SPECIAL_TOKENS = 2
"""Words that a vocabulary of theirs has beyond the pipeline's: padding and start."""


def to_peer_ids(row: np.ndarray) -> np.ndarray:
    """Give the pipeline's identifiers the numbers that they have there: 0 → 3, 1 → 0, 2 → 4, 3 → 5, …."""
    return np.where(row > 1, row + EXTRA_SPECIAL_TOKENS, np.where(row == 1, UNKNOWN_ID, END_ID))


def to_pipeline_ids(row: np.ndarray) -> list[int]:
    """Give identifiers of theirs the pipeline's numbers; a start or padding within a translation is unknown there."""
    return np.where(row > END_ID, row - EXTRA_SPECIAL_TOKENS, np.where(row == END_ID, 0, 1)).tolist()


def list_vocabulary_words(size: int) -> list[str]:
    """Name the words of a vocabulary of the pipeline, without its end of sentence and unknown word."""
    return [f"word{number}" for number in range(2, size)]
