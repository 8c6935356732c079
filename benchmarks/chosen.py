"""Which of the packed sentences are trained on and translated, in which batches."""

from pathlib import Path

import numpy as np
from pipeline_py.ragged import Ragged

from benchmarks.material import Material
from benchmarks.setting import Setting
from benchmarks.toolkits import batches
from benchmarks.toolkits.batches import Sentences
from pipeline_py.nmt.data.dataset import Dataset

LONGEST = 80
"""Words; as in training by default."""


def training_batches(material: Material, setting: Setting, count: int, path: Path) -> None:
    """Write batches of an epoch as training arranges it: sentences of similar lengths together.

    They are an even choice from those with the fewest words to those with the most, since a few batches, taken as they
    come, may have much more padding than all, or less.
    """
    data = Dataset(material.packed["source"], material.packed["target"], {}, material.sizes, LONGEST)
    source, target = Ragged(material.packed["source"]), Ragged(material.packed["target"])
    epoch = data.epoch(1, 0, setting.batch_size, "sentences")
    whole = [numbers for numbers in epoch if len(numbers) == setting.batch_size] or epoch
    by_words = np.argsort([target.lengths[numbers].sum() for numbers in whole], kind="stable")
    even = by_words[((np.arange(min(count, len(whole))) + 0.5) / min(count, len(whole)) * len(whole)).astype(int)]
    chosen = [whole[place] for place in sorted(even)]  # in the order of the epoch
    batches.write(path, [_pairs(numbers, source, target) for numbers in chosen])


def epoch_batches(material: Material, setting: Setting, number: int, path: Path) -> int:
    """Write all batches of an epoch (from 1) in the order in which training takes them, and say how many they are."""
    data = Dataset(material.packed["source"], material.packed["target"], {}, material.sizes, LONGEST)
    source, target = Ragged(material.packed["source"]), Ragged(material.packed["target"])
    epoch = data.epoch(1, number, setting.batch_size, "sentences")
    batches.write(path, [_pairs(numbers, source, target) for numbers in epoch])
    return len(epoch)


def dev_batches(material: Material, setting: Setting, path: Path) -> None:
    """Write the sources of the development set, in batches of similar lengths."""
    source = Ragged(material.dev["source"])
    order = np.argsort(source.lengths, kind="stable")
    parts = np.split(order, range(setting.together, len(order), setting.together))
    batches.write(path, [Sentences(numbers, [source[number] for number in numbers]) for numbers in parts])


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


def test_batches(material: Material, setting: Setting, path: Path) -> None:
    """Write sources to translate: an even choice of all lengths, in batches of similar lengths, as translation does."""
    source = Ragged(material.test)
    order = np.argsort(source.lengths, kind="stable")
    order = order[source.lengths[order] > 1]
    places = np.linspace(0, len(order) - 1, min(setting.sentences, len(order))).astype(int)
    chosen = order[places]
    parts = np.split(chosen, range(setting.together, len(chosen), setting.together))
    batches.write(path, [Sentences(numbers, [source[number] for number in numbers]) for numbers in parts])


def _pairs(numbers: np.ndarray, source: Ragged, target: Ragged) -> Sentences:
    return Sentences(numbers, [source[number] for number in numbers], [target[number] for number in numbers])
