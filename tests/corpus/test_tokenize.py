"""Tests of tokenization: worked examples, unusual characters and errors."""

import gzip
import marshal
import sys
import tempfile
import types
from itertools import islice
from pathlib import Path
from typing import Any

import jieba
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline_py.corpus.tokenize import tokenize
from pipeline_py.run.errors import InputError

MULTI30K = Path(__file__).parents[2].parent / "shared" / "data" / "multi30k"

WEIRD = [
    "a\u00a0b\u3000c",
    "line\u2028separator\u2029here\x85and\x1chere",
    "lone\rreturn \x0b\x0c",
    "\ufeffmark first",
    "family 👨\u200d👩\u200d👧 and ❤\ufe0f",
    "cafe\u0301 e\u0301",
    "שלום\u200f עולם! \u202bembedded\u202c",
    "zero\u200bwidth Schiff\u00adfahrt \u2060x",
    "می\u200cخواهم",
    "\u200b\u200d\u2060",
    "",
    "   ",
    "ends with @@ and foo@@",
]


def run(tmp_path: Path, lines: list[str], **options: Any) -> list[list[str]]:
    (tmp_path / "in").write_bytes("".join(line + "\n" for line in lines).encode())
    tokenize(input=tmp_path / "in", output=tmp_path / "out", **options)
    *output_lines, end = (tmp_path / "out").read_bytes().decode().split("\n")
    assert end == ""
    return [line.split(" ") if line else [] for line in output_lines]


@pytest.mark.parametrize(("language", "tokenizer"), [("en", "moses"), ("de", "moses"), ("zh", "jieba"), ("en", "none")])
def test_unusual_characters_break_no_line_and_hide_in_no_token(tmp_path: Path, language: str, tokenizer: str) -> None:
    sentences = run(tmp_path, WEIRD, language=language, tokenizer=tokenizer)
    assert len(sentences) == len(WEIRD)
    for tokens in sentences:
        assert all(tokens)
        assert tokens == " ".join(tokens).split()
        if tokenizer != "none":
            assert not any(set(token) <= set("\u200b\u200c\u200d\u2060\ufeff\ufe0f") for token in tokens)


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("en", "Mr. Smith doesn't pay $3.50.", "Mr. Smith doesn 't pay $ 3.50 ."),
        ("en", "A & <b>, [c]|d.", "A & < b > , [ c ] | d ."),
        ("en", "A well-known “quote”... e.g. 1,000!", "A well-known “ quote ” ... e.g. 1,000 !"),
        ("de", "Er kam z.B. am 3. Mai: Größe", "er kam z.b. am 3. mai : größe"),
    ],
)
def test_moses_splits_worked_examples(tmp_path: Path, language: str, text: str, tokens: str) -> None:
    assert run(tmp_path, [text], language=language, lowercase=language == "de") == [tokens.split()]


STOPS = ["z.B.", "U.S.", "No.", "Mr.", ".", "..", "ß.", "É.", "中.", "ª.", "ǅ.", "Ⅳ."]
NEIGHBORS = ["a", "B", "1", ",", "'", "ähnlich", "½", "ⓐ", ""]
FULL_STOPS = st.lists(st.sampled_from([*STOPS, *NEIGHBORS]), max_size=9)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(FULL_STOPS.map(" ".join), max_size=20), st.sampled_from(["en", "de", "fr"]))
def test_moses_tokens_are_those_of_sacremoses(tmp_path: Path, lines: list[str], language: str) -> None:
    from sacremoses import MosesTokenizer

    moses = MosesTokenizer(lang=language)
    assert run(tmp_path, lines, language=language) == [moses.tokenize(line, escape=False) for line in lines]


def test_invisible_characters_do_not_split_words(tmp_path: Path) -> None:
    lines = ["\ufeffSchiff\u00adfahrt zero\u200bwidth", "שלום\u200f עולם", "👨\u200d👩"]
    assert run(tmp_path, lines, language="de") == [["Schifffahrt", "zero", "width"], ["שלום", "עולם"], ["👨", "👩"]]


def test_tokenized_text_keeps_every_character_but_whitespace(tmp_path: Path) -> None:
    lines = ["  a\u200db  \u2060 &amp; \t foo@@\u00a0x "]
    assert run(tmp_path, lines, language="en", tokenizer="none") == [["a\u200db", "\u2060", "&amp;", "foo@@", "x"]]


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n")))
def test_none_splits_like_python(tmp_path: Path, text: str) -> None:
    assert run(tmp_path, [text + "."], language="xx", tokenizer="none") == [(text + ".").split()]


def test_jieba_splits_chinese(tmp_path: Path) -> None:
    assert run(tmp_path, ["我来到 北京清华大学。", "价格3.14元"], language="zh", tokenizer="jieba") == [
        ["我", "来到", "北京", "清华大学", "。"],
        ["价格", "3.14", "元"],
    ]


def test_the_cache_of_jieba_is_neither_read_nor_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    frequencies = {word: 10 for word in ("北", "北京", "清", "清华", "大", "大学")}
    cache = marshal.dumps((frequencies, 60))
    (folder / "jieba.cache").write_bytes(cache)
    assert "清华大学" not in jieba.Tokenizer().lcut("北京清华大学"), "the cache would change the words"
    assert run(tmp_path, ["北京清华大学"], language="zh", tokenizer="jieba") == [["北京", "清华大学"]]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"jieba.cache": cache}


def test_tokens_of_multi30k_have_the_same_lines_and_characters(tmp_path: Path) -> None:
    if not MULTI30K.is_dir():
        pytest.skip(f"the Multi30k data is not at {MULTI30K}")
    with gzip.open(MULTI30K / "train.de.gz", "rt", encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n") for line in islice(file, 500)]
    sentences = run(tmp_path, lines, language="de")
    assert ["".join(tokens) for tokens in sentences] == ["".join(line.split()) for line in lines]


def test_stanza_gets_complete_lines_and_its_tokens_are_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build_sentence(text: str) -> types.SimpleNamespace:
        return types.SimpleNamespace(tokens=[types.SimpleNamespace(text=token) for token in text])

    class Pipeline:
        """A replacement for Stanza, whose tokens are characters."""

        def __init__(self, language: str, **options: Any) -> None:
            assert (language, options["dir"], options["download_method"]) == ("zh", str(tmp_path), None)
            assert options["tokenize_no_ssplit"]

        def bulk_process(self, texts: list[str]) -> list[types.SimpleNamespace]:
            assert all(texts)
            halves = [(text[: len(text) // 2], text[len(text) // 2 :]) for text in texts]
            return [types.SimpleNamespace(sentences=[build_sentence(half) for half in pair]) for pair in halves]

    monkeypatch.setitem(sys.modules, "stanza", types.SimpleNamespace(Pipeline=Pipeline))
    lines = ["你好 吗", "", "好"] * 400
    sentences = run(tmp_path, lines, language="zh", tokenizer="stanza", stanza_directory=tmp_path)
    assert sentences == [["你", "好", "吗"], [], ["好"]] * 400


@pytest.mark.parametrize(
    ("language", "tokenizer", "message"),
    [
        ("zh-hans", "moses", "use jieba"),
        ("ja", "moses", "use stanza"),
        ("th", "moses", "use stanza"),
        ("de", "jieba", "of Chinese"),
    ],
)
def test_a_tokenizer_for_another_language_is_rejected(
    tmp_path: Path, language: str, tokenizer: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        run(tmp_path, ["x"], language=language, tokenizer=tokenizer)


def test_invalid_utf8_is_reported_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(InputError, match="in, line 2: byte 3 is not UTF-8"):
        tokenize(input=tmp_path / "in", output=tmp_path / "out", language="en", tokenizer="none")
    assert not (tmp_path / "out").exists()


def test_a_configured_package_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(language: str, **options: Any) -> None:
        assert (language, options["package"]) == ("zh", "gsd") and "download_method" not in options
        raise OSError("no network")

    monkeypatch.setitem(sys.modules, "stanza", types.SimpleNamespace(Pipeline=download))
    with pytest.raises(InputError, match=r"cannot download its tokenizer of zh \(package gsd\)"):
        run(tmp_path, ["x"], language="zh", tokenizer="stanza", stanza_package="gsd")


def test_nothing_is_downloaded_by_default(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no model for Stanza's tokenizer of zh; give `stanza_directory` or"):
        run(tmp_path, ["x"], language="zh", tokenizer="stanza")


@pytest.mark.slow
def test_a_directory_without_stanza_models_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    with pytest.raises(InputError, match="models: Stanza has no tokenizer of zh here"):
        run(tmp_path, ["x"], language="zh", tokenizer="stanza", stanza_directory=tmp_path / "models")
