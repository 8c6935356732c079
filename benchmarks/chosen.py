"""Which of the packed sentences are trained on and translated, in which batches."""

from pathlib import Path

import numpy as np

from benchmarks.material import Material
from benchmarks.setting import Setting
from benchmarks.toolkits import batches
from benchmarks.toolkits.batches import Sentences
from pipeline_py.files.ragged import Ragged
from pipeline_py.nmt.data.dataset import Dataset

LONGEST = 80
"""Words; as in training by default."""


def training_batches(material: Material, setting: Setting, count: int, path: Path) -> None:
    """Write batches of an epoch as training arranges it: sentences of similar lengths together.

    They are an even choice from those with the fewest words to those with the most, since a few batches, taken as they
    come, may have much more padding than all, or less.
    """
    epoch = _epoch(material, setting, 0)
    whole = [batch for batch in epoch if len(batch.numbers) == setting.batch_size] or epoch
    count = min(count, len(whole))
    by_words = np.argsort([batch.words for batch in whole], kind="stable")
    even = by_words[((np.arange(count) + 0.5) / count * len(whole)).astype(int)]
    batches.write(path, [whole[place] for place in sorted(even)])  # in the order of the epoch


def epoch_batches(material: Material, setting: Setting, number: int, path: Path) -> int:
    """Write all batches of an epoch (from 1) in the order in which training takes them, and return their number."""
    epoch = _epoch(material, setting, number)
    batches.write(path, epoch)
    return len(epoch)


def shuffled(path: Path, output: Path) -> None:
    """Write the same sentences in as many batches, put together without regard to lengths."""
    given = batches.read(path)
    numbers = np.concatenate([batch.numbers for batch in given])
    source = [row for batch in given for row in batch.source]
    target = [row for batch in given for row in batch.target]
    order = np.random.default_rng(1).permutation(len(numbers))
    ends = np.cumsum([len(batch.source) for batch in given])[:-1]
    batches.write(
        output,
        [
            Sentences(numbers[places], [source[place] for place in places], [target[place] for place in places])
            for places in np.split(order, ends)
        ],
    )


def dev_batches(material: Material, setting: Setting, path: Path) -> None:
    """Write the sources of the development set, in batches of similar lengths."""
    source = Ragged(material.dev["source"])
    _write_sources(source, np.argsort(source.lengths, kind="stable"), setting, path)


def test_batches(material: Material, setting: Setting, path: Path) -> None:
    """Write sources to translate: an even choice of all lengths, in batches of similar lengths, as translation does."""
    source = Ragged(material.test)
    order = np.argsort(source.lengths, kind="stable")
    order = order[source.lengths[order] > 1]
    places = np.linspace(0, len(order) - 1, min(setting.sentences, len(order))).astype(int)
    _write_sources(source, order[places], setting, path)


def _epoch(material: Material, setting: Setting, number: int) -> list[Sentences]:
    """Make the batches of an epoch as training makes them."""
    files = material.packed["source"], material.packed["target"]
    source, target = map(Ragged, files)
    epoch = Dataset(*files, {}, material.sizes, LONGEST).epoch(1, number, setting.batch_size, "sentences")
    return [
        Sentences(numbers, [source[number] for number in numbers], [target[number] for number in numbers])
        for numbers in epoch
    ]


def _write_sources(source: Ragged, order: np.ndarray, setting: Setting, path: Path) -> None:
    parts = np.split(order, range(setting.together, len(order), setting.together))
    batches.write(path, [Sentences(numbers, [source[number] for number in numbers]) for numbers in parts])
