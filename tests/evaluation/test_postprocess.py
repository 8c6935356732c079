"""Pieces become text: worked examples, and every sentence accounted for."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesTokenizer

from pipeline_py.evaluation.chinese import join_chinese
from pipeline_py.evaluation.postprocess import postprocess
from pipeline_py.evaluation.unknown_words import words_of
from pipeline_py.stage import InputError
from pipeline_py.text import tokens_of


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def run(tmp_path: Path, *lines: str, **options: object) -> list[str]:
    output = tmp_path / "out.txt"
    postprocess(pieces=write(tmp_path / "pieces", *lines), output=output, **options)  # type: ignore[arg-type]
    return output.read_text(encoding="utf-8").split("\n")[:-1]


def test_german_sentence_is_joined_recased_and_detokenized(tmp_path: Path) -> None:
    lines = ["ein Mann fäh@@ rt ( lang@@ sam ) , &amp; singt : „ ja ! “", ""]
    ledger = tmp_path / "ledger.json"
    text = run(tmp_path, *lines, language="de", truecased=True, ledger_output=ledger)
    assert text[0].startswith("Ein Mann fährt (langsam), &amp; singt:")
    assert text[1] == ""
    assert json.loads(ledger.read_text()) == {"in": 2, "kept": 2, "dropped": {}, "noted": {"empty output": 1}}


@pytest.mark.parametrize("sentence", ["The dog isn't here, is it?", "In 1995 (or so) we paid 5 dollars.", "A & B"])
def test_moses_detokenizer_undoes_moses_tokenizer(tmp_path: Path, sentence: str) -> None:
    tokens = MosesTokenizer("en").tokenize(sentence, return_str=True, escape=False)
    assert run(tmp_path, tokens, language="en", joiner="none") == [sentence]


def test_words_keep_their_joiners_when_there_are_none(tmp_path: Path) -> None:
    assert run(tmp_path, "a@@ b c@@", joiner="none", detokenizer="none") == ["a@@ b c@@"]


def test_chinese_keeps_only_the_space_that_separates_words_of_other_scripts() -> None:
    words = ["我", "在", "New", "York", "买", "了", "3", "本", "Python", "3.5", "书", "，", "ok", "。"]
    assert join_chinese(words) == "我在New York买了3本Python 3.5书，ok。"
    assert join_chinese([]) == ""


@given(st.lists(st.text(alphabet="ab@", min_size=1, max_size=4), max_size=6))
def test_joining_is_what_subword_nmt_documents(pieces: list[str]) -> None:
    line = " ".join(pieces)
    documented = re.sub(r"(@@ )|(@@ ?$)", "", line)
    if "@@@" not in line:  # there the documented expression eats the text's own @
        assert "".join(words_of(tokens_of(line), "bpe")) == documented.replace(" ", "")
        assert words_of(tokens_of(line), "bpe") == documented.split()


def test_unknown_words_take_the_joined_source_word_they_attended_to(tmp_path: Path) -> None:
    source = write(tmp_path / "source", "the mar@@ mo@@ t sleeps", "a b")
    alignment = write(tmp_path / "alignment", "0 2 4 4", "2 1")
    ledger = tmp_path / "ledger.json"
    text = run(
        tmp_path,
        "das <unk> <unk> !",
        "un@@ <unk>",
        detokenizer="none",
        replace_unknown=True,
        alignment=alignment,
        source_pieces=source,
        ledger_output=ledger,
    )
    assert text == ["das marmot sleeps !", "unb"]
    assert json.loads(ledger.read_text())["noted"] == {"unknown word replaced": 3}


def test_unknown_word_that_attended_to_the_end_leaves_nothing(tmp_path: Path) -> None:
    options = {"alignment": write(tmp_path / "a", "0 2", "0"), "source_pieces": write(tmp_path / "s", "x y", "")}
    ledger = tmp_path / "ledger.json"
    text = run(tmp_path, "u <unk>", "<unk>", detokenizer="none", replace_unknown=True, ledger_output=ledger, **options)
    assert text == ["u", ""]
    noted = json.loads(ledger.read_text())["noted"]
    assert noted == {"empty output": 1, "unknown word dropped: it attended to the end of the source": 2}


def test_unknown_words_stay_without_the_switch(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.json"
    assert run(tmp_path, "<unk> b <unk>", detokenizer="none", ledger_output=ledger) == ["<unk> b <unk>"]
    assert json.loads(ledger.read_text())["noted"] == {"unknown word left": 2}


@pytest.mark.parametrize(
    ("alignment", "source", "message"),
    [
        (["0 0"], ["x", "y"], "the file has 1 lines and .* has more"),
        (["0 0", "0"], ["x", "y"], "line 2: 1 positions for 2 output pieces"),
        (["0 0", "0 2"], ["x", "y"], "line 2: position 2 is outside the source of 1 pieces"),
        (["0 0", "0 -1"], ["x", "y"], "line 2: position -1 is outside"),
        (["0 0", "0 b"], ["x", "y"], "line 2: invalid literal .* 'b'"),
    ],
)
def test_alignment_must_fit(tmp_path: Path, alignment: list[str], source: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(
            tmp_path,
            "a <unk>",
            "b c",
            replace_unknown=True,
            alignment=write(tmp_path / "alignment", *alignment),
            source_pieces=write(tmp_path / "source", *source),
        )
    assert not (tmp_path / "out.txt").exists()


def test_command_line_says_in_one_sentence_what_is_missing(tmp_path: Path) -> None:
    pieces = write(tmp_path / "pieces", "a")
    command = [sys.executable, "-m", "pipeline_py.evaluation.postprocess", "--pieces", str(pieces)]
    command += ["--output", str(tmp_path / "out"), "--replace-unknown"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "error: --replace-unknown needs --alignment and --source-pieces; give both or leave it out\n"
