"""The workflow prepares text once, and its packed files fit together."""

from pathlib import Path

import pytest

from benchmarks import batch_selection
from benchmarks.packed_corpus import PackedCorpus, prepare_corpus
from benchmarks.settings import BenchmarkSettings, CorpusName
from benchmarks.toolkits import batch_file
from pipeline_py.nmt.data.dataset import ParallelDataset
from pipeline_py.nmt.data.packed_files import open_sentences
from pipeline_py.run.errors import InputError


def check_corpus(corpus: PackedCorpus, settings: BenchmarkSettings, folder: Path) -> None:
    """Open all files as training does, which rejects files that do not fit together, and select batches."""
    syntax = {kind: file for kind, file in corpus.train_files.items() if kind not in ("source", "target")}
    assert sorted(syntax) == ["distances", "heads", "labels", "parents", "trees", "units"]
    data = ParallelDataset(corpus.train_files["source"], corpus.train_files["target"], syntax, corpus.vocabulary_sizes)
    open_sentences(corpus.test_file, corpus.vocabulary_sizes["source"])
    batch_selection.write_training_batches(corpus, settings, 2, folder / "batches.npz")
    for batch in batch_file.read_batches(folder / "batches.npz"):
        assert data.count_target_words(batch.sentence_numbers) + len(batch.sentence_numbers) == batch.target_word_count


def test_random_sentences_have_the_lengths_and_the_vocabulary_that_were_asked_for(tmp_path: Path) -> None:
    settings = BenchmarkSettings(corpus=CorpusName.RANDOM, vocabulary=70, batch_size=30, work=tmp_path)
    corpus = prepare_corpus(settings)
    check_corpus(corpus, settings, tmp_path)
    source = open_sentences(corpus.train_files["source"], 70)
    lengths = source.row_lengths - 1
    assert len(source) == 600 and 12 == lengths.min() < lengths.mean() < lengths.max() == 36
    assert prepare_corpus(settings) == corpus


@pytest.mark.slow
def test_the_embedded_corpus_is_the_fallback(tmp_path: Path) -> None:
    settings = BenchmarkSettings(data=tmp_path / "nowhere", work=tmp_path)
    corpus = prepare_corpus(settings)
    assert corpus.name.startswith("embedded corpus")
    check_corpus(corpus, settings, tmp_path)
    modification_time = corpus.train_files["trees"].stat().st_mtime_ns
    assert prepare_corpus(settings) == corpus and corpus.train_files["trees"].stat().st_mtime_ns == modification_time


def test_missing_multi30k_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no multi30k/train\.en\.gz; name its directory with --data"):
        prepare_corpus(BenchmarkSettings(corpus=CorpusName.MULTI30K, data=tmp_path, work=tmp_path))
