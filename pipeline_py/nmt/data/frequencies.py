"""How often each word stands in the training sentences."""

import numpy as np

from pipeline_py.ragged import Ragged


def frequencies(sentences: Ragged, kept: np.ndarray, vocabulary_size: int) -> np.ndarray:
    """Count the identifiers of sentences, the end of sentence and the unknown word among them.

    Args:
        sentences: packed identifiers below V, each row ending with EOS.
        kept: numbers of the sentences that count.
        vocabulary_size: V.

    Returns:
        (V,) int64, at least 1 each, so that no word is impossible.
    """
    counts = np.zeros(vocabulary_size, dtype=np.int64)
    counted = np.zeros(len(sentences), dtype=bool)
    counted[kept] = True
    for first, values, offsets in sentences.blocks():
        lengths = np.diff(offsets)
        within = np.repeat(counted[first : first + len(lengths)], lengths)
        counts += np.bincount(values[offsets[0] : offsets[-1]][within], minlength=vocabulary_size)
    return np.maximum(counts, 1)
