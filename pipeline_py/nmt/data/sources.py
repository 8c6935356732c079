"""Packed sentences to translate, and the order in which they are searched."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from pipeline_py.nmt.data.batch import Batch, collate
from pipeline_py.nmt.data.packed import open_sentences, open_syntax

BATCHES_PER_WINDOW = 32
"""Sentences are sorted by length within so many batches, whose translations are held until they can be written."""

USUAL_LENGTH = 50
"""Positions of a sentence that a full batch has room for; longer sentences make smaller batches."""


class Sources:
    """Aligned sources and their syntax, memory-mapped; text is never read."""

    def __init__(self, source: Path, syntax: Mapping[str, Path], vocabularies: Mapping[str, int]) -> None:
        """Open the files and check that they belong together.

        Args:
            source: packed identifiers, each row ending with EOS.
            syntax: kind → ragged file; what its rows hold says the kind.
            vocabularies: the sizes of the vocabularies, as `Model` takes them.

        Raises:
            InputError: where a file is not packed, files differ in sentences or rows in size, or an identifier is
                outside the vocabulary.
        """
        self._source = open_sentences(source, vocabularies["source"])
        self._syntax = open_syntax(syntax, self._source, vocabularies)

    def __len__(self) -> int:
        return len(self._source)

    @property
    def lengths(self) -> np.ndarray:
        """Positions of each sentence, EOS included (N,)."""
        return self._source.lengths

    def batch(self, sentences: np.ndarray, multiple: int = 1) -> Batch:
        """Put sentences, given by their numbers, into a batch; `multiple` is that of `collate`."""
        return collate(
            [self._source[number] for number in sentences],
            syntax={kind: [rows[number] for number in sentences] for kind, rows in self._syntax.items()},
            multiple=multiple,
        )

    def batches(self, batch_size: int) -> Iterator[np.ndarray]:
        """Yield the numbers of all sentences in batches of similar length, longest first within a window.

        The longest tell at once whether memory suffices.
        """
        window = BATCHES_PER_WINDOW * batch_size
        for start in range(0, len(self), window):
            lengths = self.lengths[start : start + window]
            longest_first = start + np.argsort(-lengths, kind="stable")
            while len(longest_first):
                room = max(1, batch_size * USUAL_LENGTH // int(self.lengths[longest_first[0]]))
                size = min(batch_size, room)
                yield longest_first[:size]
                longest_first = longest_first[size:]
