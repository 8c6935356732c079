"""Selection of the packed sentences and batches for training and translation."""

from pathlib import Path

import numpy as np

from benchmarks.packed_corpus import PackedCorpus
from benchmarks.settings import BenchmarkSettings
from benchmarks.toolkits import batch_file
from benchmarks.toolkits.batch_file import SentenceBatch
from pipeline_py.files.ragged_arrays import RaggedArrayFile
from pipeline_py.nmt.data.dataset import ParallelDataset

MAX_WORDS = 80
"""Words; as in training by default."""


def write_training_batches(corpus: PackedCorpus, settings: BenchmarkSettings, max_batches: int, path: Path) -> None:
    """Write batches of an epoch as training arranges it: sentences of similar lengths together.

    They are an even choice from those with the fewest words to those with the most, since a few batches, taken as they
    come, may have much more padding than all, or less.
    """
    epoch = _build_epoch_batches(corpus, settings, 0)
    full_batches = [batch for batch in epoch if len(batch.sentence_numbers) == settings.batch_size] or epoch
    max_batches = min(max_batches, len(full_batches))
    by_words = np.argsort([batch.target_word_count for batch in full_batches], kind="stable")
    even = by_words[((np.arange(max_batches) + 0.5) / max_batches * len(full_batches)).astype(int)]
    batch_file.write_batches(path, [full_batches[place] for place in sorted(even)])  # in the order of the epoch


def write_epoch_batches(corpus: PackedCorpus, settings: BenchmarkSettings, epoch_number: int, path: Path) -> int:
    """Write all batches of an epoch (from 1) in the order in which training takes them, and return their number."""
    epoch = _build_epoch_batches(corpus, settings, epoch_number)
    batch_file.write_batches(path, epoch)
    return len(epoch)


def write_shuffled_batches(input_path: Path, output_path: Path) -> None:
    """Write the same sentences in as many batches, put together without regard to lengths."""
    batches = batch_file.read_batches(input_path)
    numbers = np.concatenate([batch.sentence_numbers for batch in batches])
    source = [row for batch in batches for row in batch.source]
    target = [row for batch in batches for row in batch.target]
    order = np.random.default_rng(1).permutation(len(numbers))
    ends = np.cumsum([len(batch.source) for batch in batches])[:-1]
    batch_file.write_batches(
        output_path,
        [
            SentenceBatch(numbers[places], [source[place] for place in places], [target[place] for place in places])
            for places in np.split(order, ends)
        ],
    )


def write_dev_batches(corpus: PackedCorpus, settings: BenchmarkSettings, path: Path) -> None:
    """Write the sources of the development set, in batches of similar lengths."""
    source = RaggedArrayFile(corpus.dev_files["source"])
    _write_source_batches(source, np.argsort(source.row_lengths, kind="stable"), settings, path)


def write_test_batches(corpus: PackedCorpus, settings: BenchmarkSettings, path: Path) -> None:
    """Write sources to translate: an even choice of all lengths, in batches of similar lengths, as translation does."""
    source = RaggedArrayFile(corpus.test_file)
    order = np.argsort(source.row_lengths, kind="stable")
    order = order[source.row_lengths[order] > 1]
    places = np.linspace(0, len(order) - 1, min(settings.sentences, len(order))).astype(int)
    _write_source_batches(source, order[places], settings, path)


def _build_epoch_batches(corpus: PackedCorpus, settings: BenchmarkSettings, epoch_number: int) -> list[SentenceBatch]:
    """Make the batches of an epoch as training makes them."""
    files = corpus.train_files["source"], corpus.train_files["target"]
    source, target = map(RaggedArrayFile, files)
    epoch = ParallelDataset(*files, {}, corpus.vocabulary_sizes, MAX_WORDS).build_epoch_batches(
        1, epoch_number, settings.batch_size, "sentences"
    )
    return [
        SentenceBatch(numbers, [source[number] for number in numbers], [target[number] for number in numbers])
        for numbers in epoch
    ]


def _write_source_batches(
    source_rows: RaggedArrayFile, sentence_order: np.ndarray, settings: BenchmarkSettings, path: Path
) -> None:
    parts = np.split(sentence_order, range(settings.together, len(sentence_order), settings.together))
    batch_file.write_batches(
        path, [SentenceBatch(numbers, [source_rows[number] for number in numbers]) for numbers in parts]
    )
