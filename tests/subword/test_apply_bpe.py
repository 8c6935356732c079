"""Pieces against subword-nmt's own command, and the round trip of every word."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.files.text_files import split_tokens
from pipeline_py.run.errors import InputError
from pipeline_py.subword import pieces
from pipeline_py.subword.apply_bpe import Segmenter, apply_bpe
from pipeline_py.subword.learn_bpe import learn_bpe
from pipeline_py.subword.vocabulary import vocabulary

CODES = "#version: 0.2\n@ @\n@ @</w>\na @\na@ @</w>\nl o\nlo w</w>\n< /\n</ w\n</w >\n\u200d a\n"


@pytest.fixture
def text(generated_texts: list[Path], tmp_path: Path) -> Path:
    """German text with an empty line, and codes of it."""
    lines = generated_texts[1].read_bytes().splitlines(keepends=True)
    (tmp_path / "text").write_bytes(b"".join(lines[:1500]) + b"\n" + b"".join(lines[1500:]))
    learn_bpe(input=[tmp_path / "text"], output=tmp_path / "codes", merges=500)
    return tmp_path / "text"


def theirs(folder: Path, *options: object) -> bytes:
    command = [
        sys.executable,
        "-c",
        "from subword_nmt.subword_nmt import main; main()",
        "apply-bpe",
        "-i",
        folder / "text",
    ]
    command += ["-c", folder / "codes", "-o", folder / "theirs", *options]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
    return (folder / "theirs").read_bytes()


def test_pieces_are_those_of_subword_nmt(text: Path, tmp_path: Path) -> None:
    apply_bpe(input=text, codes=tmp_path / "codes", output=tmp_path / "ours")
    assert (tmp_path / "ours").read_bytes() == theirs(tmp_path)


def test_cache_is_bounded_and_does_not_change_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "codes").write_text(CODES, encoding="utf-8")
    words = ["low", "lower", "low", "$time", "a@@", "slow", "lower", "slow", "$time"]
    expected = Segmenter(tmp_path / "codes").split_sentence(words)
    assert expected[:2] == ["low", "lo@@"]
    monkeypatch.setattr("pipeline_py.subword.apply_bpe.MAX_CACHED_WORDS", 4)
    segmenter = Segmenter(tmp_path / "codes")
    assert segmenter.split_sentence(words) == expected == segmenter.split_sentence(words)
    assert set(segmenter._pieces_by_word) == {"$time", "$date", "$number", "low"}
    assert not segmenter._bpe.cache


def test_pieces_held_to_a_vocabulary(text: Path, tmp_path: Path) -> None:
    apply_bpe(input=text, codes=tmp_path / "codes", output=tmp_path / "free")
    vocabulary(input=[tmp_path / "free"], output=tmp_path / "vocabulary")
    apply_bpe(
        input=text,
        codes=tmp_path / "codes",
        output=tmp_path / "ours",
        vocabulary=tmp_path / "vocabulary",
        vocabulary_threshold=20,
    )
    options = ("--vocabulary", tmp_path / "vocabulary", "--vocabulary-threshold", 20)
    assert (tmp_path / "ours").read_bytes() == theirs(tmp_path, *options) != (tmp_path / "free").read_bytes()


@given(st.lists(st.text(st.sampled_from("@alow</w>\u00a0\u200d\u0301"), min_size=1), max_size=6))
def test_any_word_is_restored_by_joining(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "codes"
    path.write_text(CODES)
    segmented = Segmenter(path).split_sentence(words)
    assert pieces.join_pieces(segmented) == words
    assert pieces.join_pieces(split_tokens(" ".join(segmented))) == words


def test_a_word_that_ends_like_a_piece_is_no_part_of_the_next(tmp_path: Path) -> None:
    (tmp_path / "codes").write_text(CODES)
    (tmp_path / "text").write_text("a@@ low\n\n@@\n")
    apply_bpe(input=tmp_path / "text", codes=tmp_path / "codes", output=tmp_path / "pieces")
    assert (tmp_path / "pieces").read_text() == "a@@ @@@ @ low\n\n@@@ @\n"


def test_placeholders_are_never_split(tmp_path: Path) -> None:
    """Not by merges that know none of their characters, nor by a vocabulary without them; other words are."""
    (tmp_path / "codes").write_text(CODES)
    (tmp_path / "vocabulary").write_text("low 3\n")
    segmenter = Segmenter(tmp_path / "codes", tmp_path / "vocabulary")
    pieces_by_word = segmenter.split_sentence(["$number", "low", "$date", "$time", "$times", "$"])
    assert pieces_by_word == ["$number", "low", "$date", "$time", "$@@", "t@@", "i@@", "m@@", "e@@", "s", "$"]


def test_a_vocabulary_without_frequent_pieces_is_refused(tmp_path: Path) -> None:
    (tmp_path / "codes").write_text(CODES)
    (tmp_path / "vocabulary").write_text("low 3\n")
    with pytest.raises(InputError, match="vocabulary: no piece occurs 4 times"):
        Segmenter(tmp_path / "codes", tmp_path / "vocabulary", vocabulary_threshold=4)
