"""Given translations, as a system says them."""

from pathlib import Path

import numpy as np

from pipeline_py.input_error import InputError
from pipeline_py.subword import pieces
from pipeline_py.subword.vocabulary import EOS, Vocabulary


def read_translations(path: Path, vocabulary: Vocabulary, source: Path, sentences: int) -> list[np.ndarray]:
    """Read translations, pieces of one a line, as identifiers, each with EOS behind it.

    Args:
        path: the translations.
        vocabulary: of the target; what is not in it is the unknown word.
        source: what they translate, for messages.
        sentences: how many there are in it.

    Raises:
        InputError: the files differ in length.
    """
    targets = [np.array([*vocabulary.encode(line), EOS]) for line in pieces.read(path)]
    if len(targets) != sentences:
        raise InputError(
            f"the file has {len(targets)} lines and {source} has {sentences} sentences; "
            "give the translations of that source",
            path,
        )
    return targets
