"""Convert text to rows of token identifiers, which training maps into memory."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.run.progress_display import show_progress
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
    counts = SentenceCounts()
    write_ragged_rows(output, _encode_rows(input, Vocabulary.load(vocabulary), counts), "int32")
    counts.write_json_file(counts_output)


def _encode_rows(path: Path, vocabulary: Vocabulary, counts: SentenceCounts) -> Iterator[np.ndarray]:
    for tokens in show_progress(pieces.read_tokens(path), f"pack {path.name}"):
        ids = vocabulary.encode(tokens)
        counts.add_kept()
        counts.add_noted("tokens", len(ids))
        counts.add_noted("unknown tokens", ids.count(UNK))
        if not ids:
            counts.add_noted("empty line")
        yield np.array([*ids, EOS], dtype=np.int32)
