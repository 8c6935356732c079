"""Packed sentences to translate, and the order in which they are searched."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from pipeline_py.nmt.batch import Batch, collate
from pipeline_py.ragged import Ragged
from pipeline_py.stage import InputError
from pipeline_py.subword.vocabulary import EOS

BATCHES_PER_WINDOW = 32
"""Sentences are sorted by length within so many batches, whose translations are held until they can be written."""

USUAL_LENGTH = 50
"""Positions of a sentence that a full batch has room for; longer sentences make smaller batches."""


class Sources:
    """Aligned sources and their syntax, memory-mapped; text is never read."""

    def __init__(self, source: Path, syntax: Mapping[str, Path], vocabulary_size: int) -> None:
        """Open the files and check that they belong together.

        Args:
            source: packed identifiers, each row ending with EOS.
            syntax: kind → ragged file; "distances" has J² values for a source of J positions.
            vocabulary_size: of the source; all identifiers are smaller.

        Raises:
            InputError: where a file is not packed, files differ in sentences or rows in size, or an identifier is
                outside the vocabulary.
        """
        self._source = _open(source)
        self._syntax = {kind: _open(path) for kind, path in syntax.items()}
        self._check_identifiers(vocabulary_size)
        for rows in self._syntax.values():
            self._check_squares(rows)

    def __len__(self) -> int:
        return len(self._source)

    @property
    def lengths(self) -> np.ndarray:
        """Positions of each sentence, EOS included (N,)."""
        return self._source.lengths

    def batch(self, sentences: np.ndarray) -> Batch:
        """Put sentences, given by their numbers, into a batch."""
        return collate(
            [self._source[number] for number in sentences],
            syntax={kind: [rows[number] for number in sentences] for kind, rows in self._syntax.items()},
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

    def _check_identifiers(self, vocabulary_size: int) -> None:
        for number in range(len(self)):
            row = self._source[number]
            if len(row) == 0 or row[-1] != EOS:
                raise InputError(
                    "the sentence has no end (identifier 0); pack the text again", self._source.path, number + 1
                )
            if row.min() < 0 or row.max() >= vocabulary_size:
                raise InputError(
                    f"an identifier lies outside the model's source vocabulary of {vocabulary_size} tokens; "
                    "pack the text with the vocabulary that the model was trained with",
                    self._source.path,
                    number + 1,
                )

    def _check_squares(self, rows: Ragged) -> None:
        source = self._source
        if len(rows) != len(source):
            raise InputError(
                f"the file has {len(rows)} sentences and {source.path} has {len(source)}; make both from the same text",
                rows.path,
            )
        expected = source.lengths.astype(np.int64) ** 2
        wrong = np.flatnonzero(rows.lengths != expected)
        if len(wrong):
            first = int(wrong[0])
            raise InputError(
                f"the sentence has {rows.lengths[first]} distances, but {source.path} has {source.lengths[first]} "
                f"positions there, which need {expected[first]}; make both from the same pieces",
                rows.path,
                first + 1,
            )
        for number in range(len(rows)):
            if rows[number][:: int(source.lengths[number]) + 1].any():
                raise InputError(
                    "a word's distance to itself is not 0; make the distances again", rows.path, number + 1
                )


def _open(path: Path) -> Ragged:
    try:
        return Ragged(path)
    except FileNotFoundError:
        raise InputError("no such file; check the path in the configuration", path) from None
    except pa.ArrowInvalid as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"not a packed file ({reason}); run the stage that makes it again", path) from None
