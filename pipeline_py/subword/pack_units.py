"""Convert dependency units to rows of token identifiers."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import numpy as np

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.files.ragged_arrays import read_ragged_rows, write_ragged_rows
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.subword import pieces
from pipeline_py.subword.vocabulary import EOS, UNK, Vocabulary

EPSILON_ID = EOS
"""The identifier of ε; units never contain EOS, so its identifier is free."""


def pack_units(*, units: Path, tokens: Path, vocabulary: Path, output: Path, counts_output: Path) -> None:
    """Write the identifiers of the words of each unit.

    Identifiers are those of the vocabulary; 0 means ε, and the number after the vocabulary's last means "/".

    Args:
        units: Positions of words from the stage `extract_units`, for words or (through `inherit`) for pieces.
        tokens: The words at these positions, one sentence a line.
        vocabulary: The vocabulary of units, from `subword.vocabulary`.
        output: Arrow file; row k has 10 identifiers for each unit of sentence k, int32.
        counts_output: JSON counts of sentences, words in units, and unknown words among them.

    Raises:
        InputError: the files have different numbers of sentences.
    """
    counts = SentenceCounts()
    words = Vocabulary.load(vocabulary)
    write_ragged_rows(output, _encode_unit_rows(units, tokens, words, counts), "int32")
    counts.write_json_file(counts_output)


def _encode_unit_rows(
    units: Path, tokens: Path, vocabulary: Vocabulary, counts: SentenceCounts
) -> Iterator[np.ndarray]:
    sentences = show_progress(pieces.read_tokens(tokens), f"pack_units {tokens.name}")
    for number, (row, words) in enumerate(zip_longest(read_ragged_rows(units), sentences), start=1):
        if row is None or words is None:
            shorter, longer = (units, tokens) if row is None else (tokens, units)
            raise InputError(
                f"the file has {number - 1} sentences and {longer} has more; make both from the same text", shorter
            )
        # Index 0 is ε, then the sentence's words; index -1 is the padding.
        table = np.array([EPSILON_ID, *vocabulary.encode(words), len(vocabulary)], dtype=np.int32)
        counts.add_kept()
        counts.add_noted("words in units", int((row > 0).sum()))
        counts.add_noted("unknown words in units", int((table[row] == UNK).sum()))
        yield table[row]
