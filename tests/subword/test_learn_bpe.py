"""Learned merges against subword-nmt's own commands."""

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline_py.run.errors import InputError
from pipeline_py.subword.learn_bpe import learn_bpe

DICTIONARY = "low " * 5 + "lower " * 2 + "newest " * 6 + "widest " * 3


def subword_nmt(*arguments: object) -> None:
    command = [sys.executable, "-c", "from subword_nmt.subword_nmt import main; main()", *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True)


def test_the_worked_example_of_the_paper(tmp_path: Path) -> None:
    """The dictionary of Sennrich et al. 2016, algorithm 1, by hand: st 9, est 9, lo 7, west 6 (as are ew and ne)."""
    (tmp_path / "text").write_text(DICTIONARY + "\n")
    learn_bpe(input=[tmp_path / "text"], output=tmp_path / "codes", merges=4)
    lines = (tmp_path / "codes").read_text().splitlines()
    assert lines[0] == "#version: 0.2"
    assert [line.replace("</w>", "·") for line in lines[1:]] == ["s t·", "e st·", "l o", "w est·"]


@pytest.mark.parametrize(("frequency", "merges"), [(2, 300), (30, 5000), (100, 5000)])
def test_codes_of_one_language(generated_texts: list[Path], tmp_path: Path, frequency: int, merges: int) -> None:
    """Either the number of merges or their frequency ends the learning."""
    source = generated_texts[1]
    learn_bpe(input=[source], output=tmp_path / "ours", merges=merges, min_frequency=frequency)
    subword_nmt("learn-bpe", "-s", merges, "--min-frequency", frequency, "-i", source, "-o", tmp_path / "theirs")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert ((tmp_path / "ours").read_bytes().count(b"\n") == merges + 1) == (merges == 300)


def test_joint_codes(generated_texts: list[Path], tmp_path: Path) -> None:
    learn_bpe(input=generated_texts, output=tmp_path / "ours", merges=300)
    vocabularies = [tmp_path / "v0", tmp_path / "v1"]
    command: list[object] = ["learn-joint-bpe-and-vocab", "-s", 300, "-i", *generated_texts, "-o", tmp_path / "theirs"]
    subword_nmt(*command, "--write-vocabulary", *vocabularies)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_placeholders_are_not_learned_from(tmp_path: Path) -> None:
    (tmp_path / "without").write_text(DICTIONARY + "\n")
    (tmp_path / "with").write_text("$number " * 50 + DICTIONARY + "$time\n" + "$date\n" * 50)
    for name in ("with", "without"):
        learn_bpe(input=[tmp_path / name], output=tmp_path / f"{name}.codes", merges=30)
    assert (tmp_path / "with.codes").read_bytes() == (tmp_path / "without.codes").read_bytes()


def test_fewer_merges_where_no_pair_is_frequent(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("ab ab abc\n\n")
    learn_bpe(input=[tmp_path / "text"], output=tmp_path / "codes", merges=1000)
    assert (tmp_path / "codes").read_text() == "#version: 0.2\na b</w>\n"


@pytest.mark.parametrize("text", ["", "a b c\n", "ab cd\n", "$number $number a\n"])
def test_text_without_a_frequent_pair(tmp_path: Path, text: str) -> None:
    (tmp_path / "text").write_text(text)
    with pytest.raises(InputError, match="text: no two neighbouring characters occur 2 times"):
        learn_bpe(input=[tmp_path / "text"], output=tmp_path / "codes")
    assert not (tmp_path / "codes").exists()


def test_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"aa aa\n\xff\n")
    with pytest.raises(InputError, match="text, line 2: byte 0 is not UTF-8"):
        learn_bpe(input=[tmp_path / "text"], output=tmp_path / "codes")
