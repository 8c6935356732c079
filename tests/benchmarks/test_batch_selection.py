"""All sides are given the same sentences in the same batches: those that training would make."""

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
def setting(tmp_path_factory: pytest.TempPathFactory) -> BenchmarkSettings:
    work = tmp_path_factory.mktemp("work")
    return BenchmarkSettings(corpus=CorpusName.RANDOM, vocabulary=40, batch_size=3, batches=4, sentences=40, work=work)


@pytest.fixture(scope="module")
def material(setting: BenchmarkSettings) -> PackedCorpus:
    return prepare_corpus(setting)


def test_a_file_of_batches_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = [np.array([5, 0]), np.array([0]), np.array([7, 2, 0])]
    written = [SentenceBatch(np.array([4, 1]), rows[:2], rows[1:]), SentenceBatch(np.array([9]), rows[2:])]
    batch_file.write_batches(tmp_path / "batches.npz", written)
    pair, alone = batch_file.read_batches(tmp_path / "batches.npz")
    assert pair.sentence_numbers.tolist() == [4, 1] and alone.sentence_numbers.tolist() == [9]
    assert [row.tolist() for row in (*pair.source, *pair.target)] == [[5, 0], [0], [0], [7, 2, 0]]
    assert [row.tolist() for row in alone.source] == [[7, 2, 0]] and len(alone.target) == 0
    assert pair.target_word_count == 4 and alone.target_word_count == 0
    assert pair.max_translation_length == 14 and alone.max_translation_length == 16


def test_the_batches_are_those_that_training_makes(
    setting: BenchmarkSettings, material: PackedCorpus, tmp_path: Path
) -> None:
    batch_selection.write_training_batches(material, setting, 4, tmp_path / "batches.npz")
    made = batch_file.read_batches(tmp_path / "batches.npz")
    system = CompositionConfig.model_validate({"contexts": [{"type": "syntax", "window": 4}]})
    syntax = {kind: material.train_files[kind] for kind in system.required_syntax_names}
    data = ParallelDataset(
        material.train_files["source"],
        material.train_files["target"],
        syntax,
        material.vocabulary_sizes,
        batch_selection.MAX_WORDS,
    )
    epoch = [numbers.tolist() for numbers in data.build_epoch_batches(1, 0, 3, "sentences")]
    places = [epoch.index(batch.sentence_numbers.tolist()) for batch in made]
    assert places == sorted(set(places)) and len(places) == 4
    all_words = sorted(sum(len(data.get_target(number)) for number in numbers) for numbers in epoch)
    parts = [part.tolist() for part in np.array_split(all_words, 4)]
    for batch, part in zip(sorted(made, key=lambda batch: batch.target_word_count), parts, strict=True):
        assert part[0] <= batch.target_word_count <= part[-1], "one of each quarter"
    for batch in made:
        ours = data.build_batch(batch.sentence_numbers)
        assert len(ours) == 3
        assert ours.source.tolist() == batch_file.pad_rows(batch.source, 0).tolist()
        assert ours.target is not None and ours.target.tolist() == batch_file.pad_rows(batch.target, 0).tolist()
        assert ours.target_lengths is not None and int(ours.target_lengths.sum()) == batch.target_word_count


def test_shuffled_batches_hold_the_same_pairs(
    setting: BenchmarkSettings, material: PackedCorpus, tmp_path: Path
) -> None:
    batch_selection.write_training_batches(material, setting, 4, tmp_path / "same.npz")
    batch_selection.write_shuffled_batches(tmp_path / "same.npz", tmp_path / "shuffled.npz")
    same, shuffled = (batch_file.read_batches(tmp_path / f"{name}.npz") for name in ("same", "shuffled"))

    def pairs(made: list[SentenceBatch]) -> Counter:
        return Counter(
            (int(number), tuple(source), tuple(target))
            for batch in made
            for number, source, target in zip(batch.sentence_numbers, batch.source, batch.target, strict=True)
        )

    assert pairs(shuffled) == pairs(same)
    assert [len(batch.source) for batch in shuffled] == [3, 3, 3, 3]
    assert [batch.sentence_numbers.tolist() for batch in shuffled] != [
        batch.sentence_numbers.tolist() for batch in same
    ]


def test_sources_of_all_lengths_are_translated_in_batches_of_similar_ones(
    setting: BenchmarkSettings, material: PackedCorpus, tmp_path: Path
) -> None:
    batch_selection.write_test_batches(material, setting, tmp_path / "test.npz")
    made = batch_file.read_batches(tmp_path / "test.npz")
    assert [len(batch.source) for batch in made] == [setting.together, 8]
    lengths = [len(row) for batch in made for row in batch.source]
    assert lengths == sorted(lengths) and lengths[0] < 20 < 30 < lengths[-1]
    numbers = [number for batch in made for number in batch.sentence_numbers.tolist()]
    assert len(set(numbers)) == len(numbers)
