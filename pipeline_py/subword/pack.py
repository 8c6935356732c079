"""Turn text into rows of identifiers on disk, which training maps into memory."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pipeline_py.files.artifacts import Counts
from pipeline_py.files.ragged import write_rows
from pipeline_py.run.progress import progress
from pipeline_py.subword import pieces
from pipeline_py.subword.vocabulary import EOS, UNK, Vocabulary


def pack(*, input: Path, vocabulary: Path, output: Path, counts_output: Path) -> None:
    """Write the identifiers of each line and of EOS; an empty line becomes EOS alone.

    Args:
        input: Tokens or pieces, one sentence a line.
        vocabulary: The vocabulary from `subword.vocabulary`.
        output: Arrow file; row k has the N + 1 identifiers of the N tokens of line k and of EOS, int32.
        counts_output: JSON counts of sentences, tokens, unknown tokens and empty lines.

    Raises:
        InputError: the text is not UTF-8.
    """
    counts = Counts()
    write_rows(output, _rows(input, Vocabulary.load(vocabulary), counts), "int32")
    counts.write(counts_output)


def _rows(path: Path, vocabulary: Vocabulary, counts: Counts) -> Iterator[np.ndarray]:
    for tokens in progress(pieces.read(path), f"pack {path.name}"):
        ids = vocabulary.encode(tokens)
        counts.keep()
        counts.note("tokens", len(ids))
        counts.note("unknown tokens", ids.count(UNK))
        if not ids:
            counts.note("empty line")
        yield np.array([*ids, EOS], dtype=np.int32)
