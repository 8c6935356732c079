"""Turn text into rows of identifiers on disk, which training maps into memory instead of reading text."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pipeline_py import stage
from pipeline_py.artifact import Ledger
from pipeline_py.progress import progress
from pipeline_py.ragged import write_rows
from pipeline_py.subword import pieces
from pipeline_py.subword.vocabulary import EOS, UNK, Vocabulary


def pack(*, input: Path, vocabulary: Path, output: Path, ledger_output: Path) -> None:
    """Write the identifiers of each line, with EOS at its end; an empty line is EOS alone.

    Args:
        input: Tokens or pieces, one sentence a line.
        vocabulary: What the `vocabulary` stage wrote.
        output: Arrow file; row k holds the N + 1 identifiers of the N tokens of line k and of EOS, int32.
        ledger_output: JSON counts of sentences, tokens, unknown tokens and empty lines.

    Raises:
        InputError: the text is not UTF-8, or the vocabulary is malformed.
    """
    ledger = Ledger()
    write_rows(output, _rows(input, Vocabulary.load(vocabulary), ledger), "int32")
    ledger.write(ledger_output)


def _rows(path: Path, vocabulary: Vocabulary, ledger: Ledger) -> Iterator[np.ndarray]:
    for tokens in progress(pieces.read(path), f"pack {path.name}"):
        ids = vocabulary.encode(tokens)
        ledger.keep()
        ledger.note("tokens", len(ids))
        ledger.note("unknown tokens", ids.count(UNK))
        if not ids:
            ledger.note("empty line")
        yield np.array([*ids, EOS], dtype=np.int32)


if __name__ == "__main__":
    stage.run(pack)
