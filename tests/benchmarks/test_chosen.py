"""All sides are given the same sentences in the same batches: those that training would make."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks import chosen
from benchmarks.material import Material, prepared
from benchmarks.setting import Corpus, Setting
from benchmarks.toolkits import batches
from benchmarks.toolkits.batches import Sentences
from pipeline_py.config.systems.composition import System
from pipeline_py.nmt.data.dataset import Dataset


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    work = tmp_path_factory.mktemp("work")
    return Setting(corpus=Corpus.RANDOM, vocabulary=40, batch_size=3, batches=4, sentences=40, work=work)


@pytest.fixture(scope="module")
def material(setting: Setting) -> Material:
    return prepared(setting)


def test_a_file_of_batches_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = [np.array([5, 0]), np.array([0]), np.array([7, 2, 0])]
    written = [Sentences(np.array([4, 1]), rows[:2], rows[1:]), Sentences(np.array([9]), rows[2:])]
    batches.write(tmp_path / "batches.npz", written)
    pair, alone = batches.read(tmp_path / "batches.npz")
    assert pair.numbers.tolist() == [4, 1] and alone.numbers.tolist() == [9]
    assert [row.tolist() for row in (*pair.source, *pair.target)] == [[5, 0], [0], [0], [7, 2, 0]]
    assert [row.tolist() for row in alone.source] == [[7, 2, 0]] and len(alone.target) == 0
    assert pair.words == 4 and alone.words == 0
    assert pair.longest_translation == 14 and alone.longest_translation == 16


def test_the_batches_are_those_that_training_makes(setting: Setting, material: Material, tmp_path: Path) -> None:
    chosen.training_batches(material, setting, 4, tmp_path / "batches.npz")
    made = batches.read(tmp_path / "batches.npz")
    system = System.model_validate({"contexts": [{"type": "syntax", "window": 4}]})
    syntax = {kind: material.packed[kind] for kind in system.syntax}
    data = Dataset(material.packed["source"], material.packed["target"], syntax, material.sizes, chosen.LONGEST)
    epoch = [numbers.tolist() for numbers in data.epoch(1, 0, 3, "sentences")]
    places = [epoch.index(batch.numbers.tolist()) for batch in made]
    assert places == sorted(set(places)) and len(places) == 4
    all_words = sorted(sum(len(data.target(number)) for number in numbers) for numbers in epoch)
    parts = [part.tolist() for part in np.array_split(all_words, 4)]
    for batch, part in zip(sorted(made, key=lambda batch: batch.words), parts, strict=True):
        assert part[0] <= batch.words <= part[-1], "one of each quarter"
    for batch in made:
        ours = data.batch(batch.numbers)
        assert len(ours) == 3
        assert ours.source.tolist() == batches.padded(batch.source, 0).tolist()
        assert ours.target is not None and ours.target.tolist() == batches.padded(batch.target, 0).tolist()
        assert ours.target_lengths is not None and int(ours.target_lengths.sum()) == batch.words


def test_shuffled_batches_hold_the_same_pairs(setting: Setting, material: Material, tmp_path: Path) -> None:
    chosen.training_batches(material, setting, 4, tmp_path / "same.npz")
    chosen.shuffled(tmp_path / "same.npz", tmp_path / "shuffled.npz")
    same, shuffled = (batches.read(tmp_path / f"{name}.npz") for name in ("same", "shuffled"))

    def pairs(made: list[Sentences]) -> Counter:
        return Counter(
            (int(number), tuple(source), tuple(target))
            for batch in made
            for number, source, target in zip(batch.numbers, batch.source, batch.target, strict=True)
        )

    assert pairs(shuffled) == pairs(same)
    assert [len(batch.source) for batch in shuffled] == [3, 3, 3, 3]
    assert [batch.numbers.tolist() for batch in shuffled] != [batch.numbers.tolist() for batch in same]


def test_sources_of_all_lengths_are_translated_in_batches_of_similar_ones(
    setting: Setting, material: Material, tmp_path: Path
) -> None:
    chosen.test_batches(material, setting, tmp_path / "test.npz")
    made = batches.read(tmp_path / "test.npz")
    assert [len(batch.source) for batch in made] == [setting.together, 8]
    lengths = [len(row) for batch in made for row in batch.source]
    assert lengths == sorted(lengths) and lengths[0] < 20 < 30 < lengths[-1]
    numbers = [number for batch in made for number in batch.numbers.tolist()]
    assert len(set(numbers)) == len(numbers)
