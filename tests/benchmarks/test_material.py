"""The workflow prepares text once, and what it packs fits together."""

from pathlib import Path

import pytest

from benchmarks import chosen
from benchmarks.material import Material, prepared
from benchmarks.setting import Corpus, Setting
from benchmarks.toolkits import batches
from pipeline_py.nmt.data.dataset import Dataset
from pipeline_py.nmt.data.packed import open_sentences
from pipeline_py.run.errors import InputError


def check(material: Material, setting: Setting, folder: Path) -> None:
    """Open all files as training does, which refuses what does not belong together, and choose batches of them."""
    syntax = {kind: file for kind, file in material.packed.items() if kind not in ("source", "target")}
    assert sorted(syntax) == ["distances", "heads", "labels", "parents", "trees", "units"]
    data = Dataset(material.packed["source"], material.packed["target"], syntax, material.sizes)
    open_sentences(material.test, material.sizes["source"])
    chosen.training_batches(material, setting, 2, folder / "batches.npz")
    for batch in batches.read(folder / "batches.npz"):
        assert data.words(batch.numbers) + len(batch.numbers) == batch.words


def test_random_sentences_have_the_lengths_and_the_vocabulary_that_were_asked_for(tmp_path: Path) -> None:
    setting = Setting(corpus=Corpus.RANDOM, vocabulary=70, batch_size=30, work=tmp_path)
    material = prepared(setting)
    check(material, setting, tmp_path)
    source = open_sentences(material.packed["source"], 70)
    lengths = source.lengths - 1
    assert len(source) == 600 and 12 == lengths.min() < lengths.mean() < lengths.max() == 36
    assert prepared(setting) == material


@pytest.mark.slow
def test_the_embedded_corpus_is_prepared_where_there_is_no_other(tmp_path: Path) -> None:
    setting = Setting(data=tmp_path / "nowhere", work=tmp_path)
    material = prepared(setting)
    assert material.name.startswith("embedded corpus")
    check(material, setting, tmp_path)
    written = material.packed["trees"].stat().st_mtime_ns
    assert prepared(setting) == material and material.packed["trees"].stat().st_mtime_ns == written


def test_multi30k_that_is_not_there_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no multi30k/train\.en\.gz; name its directory with --data"):
        prepared(Setting(corpus=Corpus.MULTI30K, data=tmp_path, work=tmp_path))
