"""Units of identifiers: words by the vocabulary, ε and "/" by identifiers that no word has."""

import json
from pathlib import Path

import numpy as np
import pytest

from pipeline_py.files.ragged_arrays import RaggedArrayFile, write_ragged_rows
from pipeline_py.run.errors import InputError
from pipeline_py.subword.inherit import inherit
from pipeline_py.subword.pack_units import pack_units


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two sentences; the words `/` and `ε` occur in the text and are words like any other."""
    (tmp_path / "tokens").write_text("ε / new\n\n", encoding="utf-8")
    (tmp_path / "vocabulary").write_text("</s> 0\n<unk> 0\n/ 3\nε 2\n", encoding="utf-8")
    rows = [[2, 1, 3, 0, *[-1] * 6], [0, *[-1] * 9], [0, 0, 0, *[-1] * 7], [1, 2, 3, 1, 2, 3, 1, 2, 3, 1]]
    write_ragged_rows(tmp_path / "units.arrow", [np.array(rows).ravel(), np.array(rows[2])], "int16")
    return tmp_path


def run(folder: Path, units: str = "units.arrow") -> list[list[list[int]]]:
    pack_units(
        units=folder / units,
        tokens=folder / "tokens",
        vocabulary=folder / "vocabulary",
        output=folder / "packed.arrow",
        counts_output=folder / "counts.json",
    )
    packed = RaggedArrayFile(folder / "packed.arrow")
    return [packed[row].reshape(-1, 10).tolist() for row in range(len(packed))]


def test_words_become_identifiers(folder: Path) -> None:
    first, second = run(folder)
    assert first == [
        [2, 3, 1, 0, 4, 4, 4, 4, 4, 4],
        [0, *[4] * 9],
        [0, 0, 0, *[4] * 7],
        [3, 2, 1, 3, 2, 1, 3, 2, 1, 3],
    ]
    assert second == [[0, 0, 0, *[4] * 7]]
    counts = json.loads((folder / "counts.json").read_text())
    assert counts == {"in": 2, "kept": 2, "dropped": {}, "noted": {"words in units": 13, "unknown words in units": 4}}


def test_pieces_inherit_the_unit_of_their_word(folder: Path) -> None:
    (folder / "pieces").write_text("ε / n@@ e@@ w\n\n", encoding="utf-8")
    inherit(kind="units", input=folder / "units.arrow", pieces=folder / "pieces", output=folder / "inherited.arrow")
    words, pieces = run(folder)[0], run(folder, "inherited.arrow")[0]
    assert pieces == [words[0], words[1], words[2], words[2], words[2], words[3]]


def test_units_of_another_text_are_refused(folder: Path) -> None:
    (folder / "tokens").write_text("ε / new\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"tokens: the file has 1 sentences and .*units.arrow has more"):
        run(folder)
