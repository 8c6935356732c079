"""Frequencies are those that counting word by word gives."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pipeline_py.nmt.data.frequencies import frequencies
from pipeline_py.ragged import ROWS_PER_BLOCK, Ragged, write_rows


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_frequencies_of_sentences_that_are_kept(tmp_path: Path, share: float) -> None:
    random = np.random.default_rng(5)
    # More than one block of the file; 9 … 11 occur nowhere.
    sentences = [np.append(random.integers(1, 9, random.integers(0, 5)), 0) for _ in range(ROWS_PER_BLOCK + 700)]
    write_rows(tmp_path / "rows.arrow", sentences, "int32")
    kept = np.flatnonzero(random.random(len(sentences)) < share)
    counted = Counter(int(word) for number in kept for word in sentences[number])
    found = frequencies(Ragged(tmp_path / "rows.arrow"), kept, 12)
    assert found.tolist() == [max(counted[word], 1) for word in range(12)]
    assert found[0] == max(len(kept), 1)
    assert found.dtype == np.int64


def test_no_sentences(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.arrow", [], "int32")
    assert frequencies(Ragged(tmp_path / "rows.arrow"), np.zeros(0, dtype=np.int64), 3).tolist() == [1, 1, 1]
