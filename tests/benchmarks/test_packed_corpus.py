"""The workflow prepares text once, and what it packs fits together."""

from pathlib import Path

import pytest

from benchmarks import batch_selection
from benchmarks.packed_corpus import PackedCorpus, prepare_corpus
from benchmarks.settings import BenchmarkSettings, CorpusName
from benchmarks.toolkits import batch_file
from pipeline_py.nmt.data.dataset import ParallelDataset
from pipeline_py.nmt.data.packed_files import open_sentences
from pipeline_py.run.errors import InputError


def check(material: PackedCorpus, setting: BenchmarkSettings, folder: Path) -> None:
    """Open all files as training does, which refuses what does not belong together, and choose batches of them."""
    syntax = {kind: file for kind, file in material.train_files.items() if kind not in ("source", "target")}
    assert sorted(syntax) == ["distances", "heads", "labels", "parents", "trees", "units"]
    data = ParallelDataset(
        material.train_files["source"], material.train_files["target"], syntax, material.vocabulary_sizes
    )
    open_sentences(material.test_file, material.vocabulary_sizes["source"])
    batch_selection.write_training_batches(material, setting, 2, folder / "batches.npz")
    for batch in batch_file.read_batches(folder / "batches.npz"):
        assert data.count_target_words(batch.sentence_numbers) + len(batch.sentence_numbers) == batch.target_word_count


def test_random_sentences_have_the_lengths_and_the_vocabulary_that_were_asked_for(tmp_path: Path) -> None:
    setting = BenchmarkSettings(corpus=CorpusName.RANDOM, vocabulary=70, batch_size=30, work=tmp_path)
    material = prepare_corpus(setting)
    check(material, setting, tmp_path)
    source = open_sentences(material.train_files["source"], 70)
    lengths = source.row_lengths - 1
    assert len(source) == 600 and 12 == lengths.min() < lengths.mean() < lengths.max() == 36
    assert prepare_corpus(setting) == material


@pytest.mark.slow
def test_the_embedded_corpus_is_prepared_where_there_is_no_other(tmp_path: Path) -> None:
    setting = BenchmarkSettings(data=tmp_path / "nowhere", work=tmp_path)
    material = prepare_corpus(setting)
    assert material.name.startswith("embedded corpus")
    check(material, setting, tmp_path)
    written = material.train_files["trees"].stat().st_mtime_ns
    assert prepare_corpus(setting) == material and material.train_files["trees"].stat().st_mtime_ns == written


def test_multi30k_that_is_not_there_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no multi30k/train\.en\.gz; name its directory with --data"):
        prepare_corpus(BenchmarkSettings(corpus=CorpusName.MULTI30K, data=tmp_path, work=tmp_path))
