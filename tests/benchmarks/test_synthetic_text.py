"""Made-up text has the sizes and frequencies that were asked for."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks.synthetic_text import synthetic_text
from pipeline_py.run.errors import InputError


def made(folder: Path, **sizes: int) -> tuple[list[str], list[str]]:
    folder.mkdir(exist_ok=True)
    source, target = folder / "source", folder / "target"
    synthetic_text(**sizes, source_output=source, target_output=target)
    return source.read_text(encoding="utf-8").splitlines(), target.read_text(encoding="utf-8").splitlines()


def test_lengths_and_frequencies(tmp_path: Path) -> None:
    source, target = made(tmp_path, sentences=12_000, words=20, vocabulary=300)
    assert len(source) == len(target) == 12_000
    lengths = np.array([len(line.split()) for line in source])
    assert lengths.min() >= 4 and lengths.max() <= 36 and abs(lengths.mean() - 20) < 0.5
    words = [word.strip(",.") for line in source for word in line.split()[1:]]
    counts = Counter(word for word in words if word.isalpha())
    assert 200 < len(counts) <= 300
    most, second, *_, tenth = (count for _, count in counts.most_common(10))
    assert most / second == pytest.approx(2, rel=0.1) and most / tenth == pytest.approx(10, rel=0.2)
    numbers = [word for word in words if any(letter.isdigit() for letter in word)]
    assert len(numbers) / len(words) == pytest.approx(0.02, rel=0.2)
    repeated = sum(source[k] == source[k - 1] and target[k] == target[k - 1] for k in range(1, 12_000))
    assert 20 < repeated < 120


def test_the_seed_decides(tmp_path: Path) -> None:
    sizes = {"sentences": 30, "words": 8, "vocabulary": 50}
    first, again, other = (made(tmp_path / name, **sizes, seed=seed) for name, seed in [("a", 1), ("b", 1), ("c", 2)])
    assert first == again != other


def test_sizes_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--words at least 5"):
        made(tmp_path, sentences=1, words=4)
