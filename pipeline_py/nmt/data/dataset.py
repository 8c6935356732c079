"""Datasets of packed sentences on disk, and their batches."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from pipeline_py.nmt.data.batch import Batch, collate_batch
from pipeline_py.nmt.data.packed_files import check_aligned, open_sentences, open_syntax
from pipeline_py.run.errors import InputError
from pipeline_py.subword import pieces
from pipeline_py.subword.vocabulary import EOS, Vocabulary

BATCHES_PER_POOL = 20
"""Number of batches within which sentences are sorted by length (Nematus' maxibatch)."""


class ParallelDataset:
    """Memory-mapped sentence pairs and the syntax of their sources.

    Attributes:
        pair_indices: indices of the pairs that are not too long, ascending.
        skipped_count: number of pairs that are too long.
    """

    def __init__(
        self,
        source: Path,
        target: Path,
        syntax: Mapping[str, Path],
        vocabularies: Mapping[str, int],
        max_length: int | None = None,
    ) -> None:
        """Open the files and check that they belong together.

        Args:
            source: packed identifiers, each row ending with EOS.
            target: packed identifiers of the target.
            syntax: kind → ragged file.
            vocabularies: sizes of the vocabularies, as for `TranslationModel`.
            max_length: maximum length without EOS; longer pairs are skipped. None: no limit.

        Raises:
            InputError: files differ in sentences or rows in size, or an identifier is outside the vocabulary.
        """
        self._source = open_sentences(source, vocabularies["source"])
        self._target = open_sentences(target, vocabularies["target"])
        check_aligned(self._target, self._source)
        self._syntax = open_syntax(syntax, self._source, vocabularies)
        longest = np.maximum(self._source.row_lengths, self._target.row_lengths) - 1
        self.pair_indices = np.flatnonzero(longest <= (np.inf if max_length is None else max_length))
        self.skipped_count = len(longest) - len(self.pair_indices)
        if len(self.pair_indices) == 0:
            raise InputError(
                "the file is empty; check the corpus"
                if len(longest) == 0
                else f"all {len(longest)} pairs have more than {max_length} pieces; raise training.max_length",
                source,
            )

    def build_batch(self, pairs: np.ndarray, length_multiple: int = 1) -> Batch:
        """Build a batch from the indices of pairs; `length_multiple` as in `collate_batch`."""
        return collate_batch(
            [self._source[pair] for pair in pairs],
            [self._target[pair] for pair in pairs],
            {kind: [rows[pair] for pair in pairs] for kind, rows in self._syntax.items()},
            length_multiple,
        )

    def get_target(self, pair: int) -> np.ndarray:
        """Return the identifiers of a target sentence, including EOS."""
        return self._target[pair]

    def count_target_words(self, pairs: np.ndarray) -> int:
        """Count the target words of pairs, without EOS."""
        return int(self._target.row_lengths[pairs].sum()) - len(pairs)

    def count_target_frequencies(self, vocabulary_size: int) -> np.ndarray:
        """Count the identifiers of the target sentences that are not too long, including EOS and the unknown word.

        Returns:
            (V,) int64, at least 1 each, so that no word is impossible.
        """
        counts = np.zeros(vocabulary_size, dtype=np.int64)
        is_counted = np.zeros(len(self._target), dtype=bool)
        is_counted[self.pair_indices] = True
        for first, values, offsets in self._target.iterate_blocks():
            lengths = np.diff(offsets)
            mask = np.repeat(is_counted[first : first + len(lengths)], lengths)
            counts += np.bincount(values[offsets[0] : offsets[-1]][mask], minlength=vocabulary_size)
        return np.maximum(counts, 1)

    def build_epoch_batches(self, seed: int, epoch: int, batch_size: int, batch_unit: str) -> list[np.ndarray]:
        """Build the batches of an epoch from all pairs that are not too long.

        The pairs are shuffled, sorted by length (target, then source) within pools of 20 batches, and cut into
        batches, each with its longest pairs first; the batches are shuffled. The order depends only on the arguments
        and the lengths.

        Args:
            seed: seed of the run.
            epoch: number of the epoch.
            batch_size: sentences in a batch, or target tokens including padding and EOS.
            batch_unit: "sentences" or "tokens". A pair longer than `batch_size` tokens is a separate batch.

        Returns:
            The indices of the pairs of each batch.
        """
        random = np.random.default_rng([seed, epoch])
        shuffled = random.permutation(self.pair_indices)
        batches = [
            batch
            for pool in self._split_into_pools(shuffled, batch_size, batch_unit)
            for batch in self._split_into_batches(self._sort_by_length(pool), batch_size, batch_unit)
        ]
        return [batches[index] for index in random.permutation(len(batches))]

    def build_sorted_batches(self, batch_size: int, batch_unit: str) -> list[np.ndarray]:
        """Build batches of similar length from all pairs that are not too long, each with its longest pairs first."""
        return list(self._split_into_batches(self._sort_by_length(self.pair_indices), batch_size, batch_unit))

    def _sort_by_length(self, pairs: np.ndarray) -> np.ndarray:
        return pairs[np.lexsort((self._source.row_lengths[pairs], self._target.row_lengths[pairs]))]

    def _split_into_pools(self, pairs: np.ndarray, batch_size: int, batch_unit: str) -> list[np.ndarray]:
        pool_size = BATCHES_PER_POOL * batch_size
        size = self._target.row_lengths[pairs] if batch_unit == "tokens" else np.ones_like(pairs)
        pool = (np.cumsum(size, dtype=np.int64) - 1) // pool_size
        return np.split(pairs, np.flatnonzero(np.diff(pool)) + 1)

    def _split_into_batches(self, pairs: np.ndarray, batch_size: int, batch_unit: str) -> Iterator[np.ndarray]:
        """Split pairs sorted by ascending target length into batches, and reverse each batch."""
        if batch_unit == "sentences":
            yield from (batch[::-1] for batch in np.split(pairs, range(batch_size, len(pairs), batch_size)))
            return
        start = 0
        for end, length in enumerate(self._target.row_lengths[pairs]):
            if end > start and (end + 1 - start) * int(length) > batch_size:
                yield pairs[start:end][::-1]
                start = end
        yield pairs[start:][::-1]


BATCHES_PER_WINDOW = 32
"""Number of batches within which sentences are sorted by length; their translations are buffered."""

TYPICAL_LENGTH = 50
"""Maximum sentence length of a full batch in positions; longer sentences make smaller batches."""


class SourceDataset:
    """Memory-mapped source sentences and their syntax."""

    def __init__(self, source: Path, syntax: Mapping[str, Path], vocabularies: Mapping[str, int]) -> None:
        """Open the files and check that they belong together.

        Args:
            source: packed identifiers, each row ending with EOS.
            syntax: kind → ragged file.
            vocabularies: sizes of the vocabularies, as for `TranslationModel`.

        Raises:
            InputError: a file is not packed, files differ in sentences or rows in size, or an identifier is outside the
                vocabulary.
        """
        self._source = open_sentences(source, vocabularies["source"])
        self._syntax = open_syntax(syntax, self._source, vocabularies)

    def __len__(self) -> int:
        return len(self._source)

    @property
    def lengths(self) -> np.ndarray:
        """Number of positions of each sentence, including EOS (N,)."""
        return self._source.row_lengths

    def build_batch(self, sentences: np.ndarray, length_multiple: int = 1) -> Batch:
        """Build a batch from the indices of sentences; `length_multiple` as in `collate_batch`."""
        return collate_batch(
            [self._source[number] for number in sentences],
            syntax={kind: [rows[number] for number in sentences] for kind, rows in self._syntax.items()},
            length_multiple=length_multiple,
        )

    def iterate_batches(self, batch_size: int) -> Iterator[np.ndarray]:
        """Yield the indices of all sentences in batches of similar length, longest first within a window.

        The longest come first, so that a lack of memory shows at once.
        """
        window = BATCHES_PER_WINDOW * batch_size
        for start in range(0, len(self), window):
            lengths = self.lengths[start : start + window]
            longest_first = start + np.argsort(-lengths, kind="stable")
            while len(longest_first):
                room = max(1, batch_size * TYPICAL_LENGTH // int(self.lengths[longest_first[0]]))
                size = min(batch_size, room)
                yield longest_first[:size]
                longest_first = longest_first[size:]


def read_translations(path: Path, vocabulary: Vocabulary, source: Path, sentence_count: int) -> list[np.ndarray]:
    """Read translations (pieces, one translation on each line) as identifiers, each followed by EOS.

    Args:
        path: the translations.
        vocabulary: target vocabulary; other pieces become the unknown word.
        source: file of the source sentences, for messages.
        sentence_count: number of source sentences.

    Raises:
        InputError: the files differ in length.
    """
    targets = [np.array([*vocabulary.encode(line), EOS]) for line in pieces.read_tokens(path)]
    if len(targets) != sentence_count:
        raise InputError(
            f"the file has {len(targets)} lines and {source} has {sentence_count} sentences; "
            "give the translations of that source",
            path,
        )
    return targets
