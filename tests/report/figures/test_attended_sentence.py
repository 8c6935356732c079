"""Tests of reading the attention of one sentence, and of selecting steps."""

import numpy as np
import pytest

from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.report.figures.attended_sentence import (
    AttendedSentence,
    read_attended_sentence,
    select_informative_steps,
)
from pipeline_py.run.errors import InputError


@pytest.fixture
def folder(tmp_path):
    """Three sentences: two pieces and a word, an empty one, and one without a parse."""
    (tmp_path / "source").write_text("capa@@ citor (\n\n能源 x\u00a0y\n", encoding="utf-8")
    (tmp_path / "translation").write_text("コンデンサ 。\n\nz\n", encoding="utf-8")
    (tmp_path / "trees").write_text("(NP (NN (NN capa@@) (NN citor)) (X -LRB-))\n\n(FAILED (X 能源) (X x\u00a0y))\n")
    weights = [np.arange(18), [], np.arange(6)]
    write_ragged_rows(tmp_path / "attention", [np.array(row, dtype=np.float32) / 18 for row in weights], "float32")
    gates = [[0.25, 0.5, 1.0], [], []]
    write_ragged_rows(tmp_path / "gates", [np.array(row, dtype=np.float32) for row in gates], "float32")
    return tmp_path


def read(folder, number, **changes):
    files = {
        "source_pieces": folder / "source",
        "translation": folder / "translation",
        "attention": folder / "attention",
        "tree": folder / "trees",
        "gates": folder / "gates",
    }
    return read_attended_sentence(number, **{**files, **changes})


def test_read_attended_sentence_returns_words_phrases_and_weights(folder):
    attended = read(folder, 1)
    assert attended.words == ["capa@@", "citor", "(", "</s>"]
    assert attended.translation == ["コンデンサ", "。", "</s>"]
    assert [(phrase.label, phrase.children) for phrase in attended.phrases] == [("NN", (0, 1)), ("NP", (4, 2))]
    assert attended.weights[1, 4] == np.float32(10 / 18)
    assert attended.gates.tolist() == [0.25, 0.5, 1.0]


def test_failed_parse_has_no_phrases(folder):
    attended = read(folder, 3)
    assert attended.words == ["能源", "x y", "</s>"] and attended.phrases == []
    assert attended.weights.shape == (2, 3)
    assert attended.gates is None
    assert read(folder, 3, tree=None, gates=None).phrases == []


def test_lexical_trees_cover_split_words(folder):
    write_ragged_rows(folder / "attention", [np.zeros(15, dtype=np.float32)], "float32")
    attended = read(folder, 1, tree=None, lexical=True)
    assert [(phrase.label, phrase.children) for phrase in attended.phrases] == [("", (0, 1))]
    assert attended.weights.shape == (3, 5)


def fewer_trees(folder):
    (folder / "trees").write_text("")


@pytest.mark.parametrize(
    ("number", "spoil", "message"),
    [
        (4, None, r"source: there is no sentence 4; give the number of a sentence, from 1"),
        (2, None, r"attention, line 2: the sentence has no attention; run nmt.attend on sentence 2, unless"),
        (1, fewer_trees, r"trees: there is no sentence 1"),
    ],
)
def test_inconsistent_files_raise_error(folder, number, spoil, message):
    if spoil is not None:
        spoil(folder)
    with pytest.raises(InputError, match=message):
        read(folder, number)


def test_short_attention_file_raises_error(folder):
    write_ragged_rows(folder / "attention", [np.zeros(18, dtype=np.float32)], "float32")
    with pytest.raises(InputError, match=r"attention: there is no sentence 3"):
        read(folder, 3)


def sentence(weights):
    weights = np.array(weights)
    return AttendedSentence(["a", "</s>"], [], ["w"] * (len(weights) - 1) + ["</s>"], weights, None)


def test_select_informative_steps_prefers_phrases():
    # Two positions and one phrase; the last row predicts EOS.
    weights = [[0.9, 0.1, 0.0], [0.3, 0.3, 0.4], [0.0, 1.0, 0.0], [0.2, 0.0, 0.8], [0.6, 0.2, 0.2], [0.0, 0.0, 1.0]]
    assert select_informative_steps(sentence(weights), 1) == [3]
    assert select_informative_steps(sentence(weights), 2) == [1, 3]
    assert select_informative_steps(sentence(weights), 4) == [0, 1, 2, 3]
    assert select_informative_steps(sentence(weights), 9) == [0, 1, 2, 3, 4]


def test_select_informative_steps_of_empty_translation_returns_eos():
    assert select_informative_steps(sentence([[0.5, 0.5]]), 4) == [0]
