"""Tests of the replacement of rare times, dates and numbers by placeholders."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.corpus.generalise import generalise
from pipeline_py.run.errors import InputError
from tests.text_files import read_lines, write_lines

TRAIN = [
    "at 14:30 he paid 17 dollars , she paid 17 , we 17",
    "on 2004-05-12 at 14:30 : 3.5 % of 1,234",
    "",
    "B2B 3D $number 12%",
]


def run(folder: Path, lines: list[str], train: list[str], min_count: int) -> tuple[list[str], dict[str, object]]:
    generalise(
        input=write_lines(folder / "input", lines),
        train=write_lines(folder / "train", train),
        min_count=min_count,
        output=folder / "output",
        counts_output=folder / "counts",
    )
    return read_lines(folder / "output"), json.loads((folder / "counts").read_text(encoding="utf-8"))


def test_rare_expressions_of_the_training_text_are_replaced(tmp_path: Path) -> None:
    """17 occurs three times, 14:30 twice, all others once."""
    output, counts = run(tmp_path, TRAIN, TRAIN, 3)
    assert output == [
        "at $time he paid 17 dollars , she paid 17 , we 17",
        "on $date at $time : $number % of $number",
        "",
        "B2B 3D $number $number",
    ]
    assert counts == {
        "in": 4,
        "kept": 4,
        "dropped": {},
        "noted": {"sentence generalised": 3, "sentence with a placeholder of its own": 1},
        "words": {"$date": 1, "$number": 3, "$time": 2},
        # at 14:30 he paid 17 dollars , she we on 2004-05-12 : 3.5 % of 1,234 B2B 3D $number 12%: 20 before; 14:30 and
        # the date have two placeholders, 3.5, 1,234 and 12% the one that was there.
        "types": {"before": 20, "after": 17},
    }
    output, _ = run(tmp_path, TRAIN, TRAIN, 2)
    assert output[0] == TRAIN[0] and output[1] == "on $date at 14:30 : $number % of $number"
    output, counts = run(tmp_path, TRAIN, TRAIN, 1)
    assert output == TRAIN and counts["words"] == {"$date": 0, "$number": 0, "$time": 0}


def test_frequencies_are_those_of_the_training_text(tmp_path: Path) -> None:
    output, counts = run(tmp_path, ["17 18 18 18 14:30 2004-05-13 1998年5月3日 三百 words"], TRAIN, 2)
    assert output == ["17 $number $number $number 14:30 $date $date $number words"]
    assert counts["types"] == {"before": 7, "after": 5}
    assert counts["words"] == {"$date": 2, "$number": 4, "$time": 0}


def test_chinese_and_japanese_expressions_are_replaced(tmp_path: Path) -> None:
    text = [
        "他 下午3点30分 买 了 １７ 本 书 ， 共 1.2万 元 。",
        "平成16年 5月 、 約 三百 人 が 9時 に 来 た",
        "万一 千万 第3 一时",
    ]
    output, _ = run(tmp_path, text, ["一"], 1)
    assert output == [
        "他 $time 买 了 $number 本 书 ， 共 $number 元 。",
        "$date $date 、 約 $number 人 が $time に 来 た",
        text[2],
    ]


WORDS = ["17", "3,5", "12:30", "5月", "$time", "$", "a", "..", "2004-05-12", "\u00a0", "三百", "1\u202f234"]


@given(st.lists(st.lists(st.sampled_from(WORDS))))
def test_one_word_becomes_one_word(tmp_path_factory: pytest.TempPathFactory, sentences: list[list[str]]) -> None:
    lines = [" ".join(sentence) for sentence in sentences]
    output, counted = run(tmp_path_factory.getbasetemp(), lines, ["17 17 word"], 2)
    counts = Counter()
    for old, new in zip(lines, output, strict=True):
        for before, after in zip(old.split(" "), new.split(" "), strict=True):
            assert after == before or (
                after in ("$time", "$date", "$number") and before not in ("17", "$", "a", "..", "\u00a0")
            )
            counts[after] += after != before
    assert counted["words"] == {name: counts[name] for name in ("$date", "$number", "$time")}


def test_a_training_text_without_words_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="train: no word in the file; give the tokenized training text"):
        run(tmp_path, ["17"], ["", ""], 2)
    assert not (tmp_path / "output").exists() and not (tmp_path / "counts").exists()


def test_invalid_utf8_is_reported(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"17\n\xff\n")
    files = {name: tmp_path / name for name in ("output", "counts_output")}
    with pytest.raises(InputError, match="text, line 2: byte 0 is not UTF-8"):
        generalise(input=tmp_path / "text", train=tmp_path / "text", min_count=2, **files)
