"""Shares of attention: counted by hand, and by a naive count of the five highest weights."""

from pathlib import Path

import numpy as np
import pytest

from pipeline_py.evaluation.count_attention_shares import count_attention_shares, count_high_weights
from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.run.errors import InputError
from tests.nested_files import group_by_system

HEADER = "system\tthreshold\twords\tphrases\tgenerated_words"


def write(folder: Path, name: str, attention: list, lengths: list[int], pieces: list[str]) -> None:
    write_ragged_rows(
        folder / f"{name}.arrow", [np.array(row, dtype=np.float32).ravel() for row in attention], "float32"
    )
    write_ragged_rows(folder / f"{name}.source", [np.array([*range(2, length + 1), 0]) for length in lengths], "int32")
    (folder / f"{name}.pieces").write_text("".join(line + "\n" for line in pieces), encoding="utf-8")


def arguments(folder: Path, files: dict[str, str]) -> dict:
    return {
        "systems": group_by_system(
            {
                name: {
                    "attention": folder / f"{file}.arrow",
                    "source": folder / f"{file}.source",
                    "pieces": folder / f"{file}.pieces",
                }
                for name, file in files.items()
            }
        ),
        "output": folder / "shares.tsv",
    }


def rows(folder: Path) -> list[list[str]]:
    header, *lines = (folder / "shares.tsv").read_text(encoding="utf-8").splitlines()
    assert header == HEADER
    return [line.split("\t") for line in lines]


@pytest.fixture
def folder(tmp_path):
    # Two words, EOS and one phrase; the row of the target's EOS does not count.
    trees = [
        [[0.85, 0.05, 0.05, 0.05], [0.1, 0.0, 0.25, 0.65], [0.9, 0.0, 0.0, 0.1]],
        [],
        [[0.45, 0.55], [0.0, 1.0]],  # one word and EOS, no phrase
        [[0.0, 1.0, 0.0]],  # nothing was said
    ]
    write(tmp_path, "trees", trees, [3, 1, 2, 3], ["是 w", "", "w", ""])
    write(tmp_path, "words", [[[0.2, 0.8], [1.0, 0.0]]], [2], ["w"])
    return tmp_path


def test_counted_by_hand(folder):
    count_attention_shares(**arguments(folder, {"Tree-to-Sequence": "trees", "Seq=Seq": "words"}))
    # Of 5 · 3 destinations: words .85 .25 .45 .55, phrases .65; neither .2 nor .8 is above itself.
    assert rows(folder) == [
        ["Tree-to-Sequence", "0.2", "26.67", "6.67", "3"],
        ["Tree-to-Sequence", "0.4", "20.00", "6.67", "3"],
        ["Tree-to-Sequence", "0.6", "6.67", "6.67", "3"],
        ["Tree-to-Sequence", "0.8", "6.67", "0.00", "3"],
        ["Seq=Seq", "0.2", "20.00", "0.00", "1"],
        ["Seq=Seq", "0.4", "20.00", "0.00", "1"],
        ["Seq=Seq", "0.6", "20.00", "0.00", "1"],
        ["Seq=Seq", "0.8", "0.00", "0.00", "1"],
    ]


def test_runs_are_counted_together(folder):
    count_attention_shares(**arguments(folder, {"T:seed1": "trees", "T:seed2": "words"}))
    # 5 of 15 + 1 of 5 destinations above .2.
    assert rows(folder)[0] == ["T", "0.2", "25.00", "5.00", "4"]
    assert len(rows(folder)) == 4


def test_empty_outputs_score_zero(folder):
    write(folder, "empty", [[[0.5, 0.5]]], [2], [""])
    count_attention_shares(**arguments(folder, {"empty": "empty"}))
    assert rows(folder)[0] == ["empty", "0.2", "0.00", "0.00", "0"]


@pytest.mark.parametrize("columns", [2, 5, 30])
def test_of_the_five_highest_as_a_naive_count_finds_them(columns):
    random = np.random.default_rng(columns)
    weights = random.dirichlet(np.full(columns, 1 / columns), size=200).astype(np.float32)
    positions = (columns + 1) // 2
    words, phrases = [0] * 4, [0] * 4
    for step in weights.tolist():
        for column in sorted(range(columns), key=lambda column: -step[column])[:5]:
            for place, threshold in enumerate((0.2, 0.4, 0.6, 0.8)):
                if step[column] > threshold:
                    (words if column < positions else phrases)[place] += 1
    on_words, on_phrases = count_high_weights(weights, positions)
    assert (on_words.tolist(), on_phrases.tolist()) == (words, phrases)
    assert words[0] > words[3] > 0 < phrases[3]


@pytest.mark.parametrize(
    ("lengths", "pieces", "message"),
    [
        (None, ["w", "", "w"], r"trees.arrow: the file has 4 sentences and .*trees.pieces has 3"),
        ([3, 1], None, r"trees.arrow: the file has 4 sentences and .*trees.source has 2"),
    ],
)
def test_files_that_do_not_belong_together(folder, lengths, pieces, message):
    if lengths is not None:
        write_ragged_rows(folder / "trees.source", [np.arange(length, 0, -1) - 1 for length in lengths], "int32")
    if pieces is not None:
        (folder / "trees.pieces").write_text("".join(line + "\n" for line in pieces))
    with pytest.raises(InputError, match=message):
        count_attention_shares(**arguments(folder, {"T": "trees"}))
    assert not (folder / "shares.tsv").exists()
