"""All toolkits get the same sentences in the same batches, which are those of training."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks import batch_selection
from benchmarks.packed_corpus import PackedCorpus, prepare_corpus
from benchmarks.settings import BenchmarkSettings, CorpusName
from benchmarks.toolkits import batch_file
from benchmarks.toolkits.batch_file import SentenceBatch
from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.nmt.data.dataset import ParallelDataset


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> BenchmarkSettings:
    work = tmp_path_factory.mktemp("work")
    return BenchmarkSettings(corpus=CorpusName.RANDOM, vocabulary=40, batch_size=3, batches=4, sentences=40, work=work)


@pytest.fixture(scope="module")
def corpus(settings: BenchmarkSettings) -> PackedCorpus:
    return prepare_corpus(settings)


def test_a_file_of_batches_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = [np.array([5, 0]), np.array([0]), np.array([7, 2, 0])]
    batches = [SentenceBatch(np.array([4, 1]), rows[:2], rows[1:]), SentenceBatch(np.array([9]), rows[2:])]
    batch_file.write_batches(tmp_path / "batches.npz", batches)
    first, second = batch_file.read_batches(tmp_path / "batches.npz")
    assert first.sentence_numbers.tolist() == [4, 1] and second.sentence_numbers.tolist() == [9]
    assert [row.tolist() for row in (*first.source, *first.target)] == [[5, 0], [0], [0], [7, 2, 0]]
    assert [row.tolist() for row in second.source] == [[7, 2, 0]] and len(second.target) == 0
    assert first.target_word_count == 4 and second.target_word_count == 0
    assert first.max_translation_length == 14 and second.max_translation_length == 16


def test_the_batches_are_those_that_training_makes(
    settings: BenchmarkSettings, corpus: PackedCorpus, tmp_path: Path
) -> None:
    batch_selection.write_training_batches(corpus, settings, 4, tmp_path / "batches.npz")
    batches = batch_file.read_batches(tmp_path / "batches.npz")
    system = CompositionConfig.model_validate({"contexts": [{"type": "syntax", "window": 4}]})
    syntax = {kind: corpus.train_files[kind] for kind in system.required_syntax_names}
    data = ParallelDataset(
        corpus.train_files["source"],
        corpus.train_files["target"],
        syntax,
        corpus.vocabulary_sizes,
        batch_selection.MAX_WORDS,
    )
    epoch = [numbers.tolist() for numbers in data.build_epoch_batches(1, 0, 3, "sentences")]
    epoch_indices = [epoch.index(batch.sentence_numbers.tolist()) for batch in batches]
    assert epoch_indices == sorted(set(epoch_indices)) and len(epoch_indices) == 4
    all_words = sorted(sum(len(data.get_target(number)) for number in numbers) for numbers in epoch)
    quarters = [quarter.tolist() for quarter in np.array_split(all_words, 4)]
    for batch, quarter in zip(sorted(batches, key=lambda batch: batch.target_word_count), quarters, strict=True):
        assert quarter[0] <= batch.target_word_count <= quarter[-1], "one of each quarter"
    for batch in batches:
        pipeline_batch = data.build_batch(batch.sentence_numbers)
        assert len(pipeline_batch) == 3
        assert pipeline_batch.source.tolist() == batch_file.pad_rows(batch.source, 0).tolist()
        assert (
            pipeline_batch.target is not None
            and pipeline_batch.target.tolist() == batch_file.pad_rows(batch.target, 0).tolist()
        )
        assert (
            pipeline_batch.target_lengths is not None
            and int(pipeline_batch.target_lengths.sum()) == batch.target_word_count
        )


def test_shuffled_batches_hold_the_same_pairs(
    settings: BenchmarkSettings, corpus: PackedCorpus, tmp_path: Path
) -> None:
    batch_selection.write_training_batches(corpus, settings, 4, tmp_path / "same.npz")
    batch_selection.write_shuffled_batches(tmp_path / "same.npz", tmp_path / "shuffled.npz")
    original, shuffled = (batch_file.read_batches(tmp_path / f"{name}.npz") for name in ("same", "shuffled"))

    def count_pairs(batches: list[SentenceBatch]) -> Counter:
        return Counter(
            (int(number), tuple(source), tuple(target))
            for batch in batches
            for number, source, target in zip(batch.sentence_numbers, batch.source, batch.target, strict=True)
        )

    assert count_pairs(shuffled) == count_pairs(original)
    assert [len(batch.source) for batch in shuffled] == [3, 3, 3, 3]
    assert [batch.sentence_numbers.tolist() for batch in shuffled] != [
        batch.sentence_numbers.tolist() for batch in original
    ]


def test_sources_of_all_lengths_are_translated_in_batches_of_similar_ones(
    settings: BenchmarkSettings, corpus: PackedCorpus, tmp_path: Path
) -> None:
    batch_selection.write_test_batches(corpus, settings, tmp_path / "test.npz")
    batches = batch_file.read_batches(tmp_path / "test.npz")
    assert [len(batch.source) for batch in batches] == [settings.together, 8]
    lengths = [len(row) for batch in batches for row in batch.source]
    assert lengths == sorted(lengths) and lengths[0] < 20 < 30 < lengths[-1]
    numbers = [number for batch in batches for number in batch.sentence_numbers.tolist()]
    assert len(set(numbers)) == len(numbers)
