"""Translations from elsewhere: line by line, in text or tokens, with what is wrong in one sentence."""

import gzip
import json
from pathlib import Path

import pytest

from pipeline_py.evaluation.import_translations import import_translations
from pipeline_py.run.errors import InputError


def imported(folder: Path, content: bytes, sentences: int, name: str = "theirs.de", **options: str) -> list[str]:
    translations, source = folder / name, folder / "one.source"
    translations.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    source.write_text("a sentence .\n" * sentences)
    import_translations(
        translations=translations,
        source=source,
        name="one",
        output=folder / "one.txt",
        counts_output=folder / "one.json",
        **options,
    )
    text = (folder / "one.txt").read_text(encoding="utf-8")
    assert text.endswith("\n")
    return text.split("\n")[:-1]


@pytest.mark.parametrize("name", ["theirs.de", "theirs.de.gz"])
def test_text_stays_as_it_is(tmp_path, name):
    lines = ["„Ja“ , sagte er.", "  zwei  Leerzeichen ", "", "e\u0301 und \u200b \U0001f600", "$1 @-@ &amp; @@ b"]
    assert imported(tmp_path, ("\ufeff" + "\n".join(lines)).encode(), 5, name) == lines
    counts = json.loads((tmp_path / "one.json").read_text())
    assert (counts["kept"], counts["noted"]) == (5, {"empty output": 1})


def test_odd_characters_do_not_move_lines(tmp_path):
    """Characters that other tools treat as line ends become spaces."""
    content = "a\u2028b\tc\r\n\x0b\u0085d\re\n".encode()
    assert imported(tmp_path, content, 2) == ["a b c", "  d e"]
    assert json.loads((tmp_path / "one.json").read_text())["noted"] == {"control characters replaced by spaces": 2}


def test_tokens_and_pieces_are_joined(tmp_path):
    words = 'Er sagte : " Ja , Herr Müller . "'.encode()
    joined = ['Er sagte: "Ja, Herr Müller."']
    assert imported(tmp_path, words, 1, form="words", language="de") == joined
    pieces = 'Er sag@@ te : " Ja , Herr Mül@@ ler . "'.encode()
    assert imported(tmp_path, pieces, 1, form="bpe", language="de") == joined
    assert imported(tmp_path, "我 在 这里 。".encode(), 1, form="words", detokenizer="chinese") == ["我在这里。"]
    assert imported(tmp_path, b"Er sag te", 1, form="words", detokenizer="none") == ["Er sag te"]


ESCAPED = "It &apos;s &quot; A &amp; B &quot; , &#91; c &#93; &#124; &lt; d &gt; &amp;amp; <unk> ."
TEXT = 'It\'s "A & B", [c] | < d > &amp; <unk>.'


@pytest.mark.parametrize(
    ("tokens", "form"), [(ESCAPED, "words"), (ESCAPED, "bpe"), (ESCAPED.replace("&apos;s", "&ap@@ os;s"), "bpe")]
)
def test_escapes_of_moses_are_undone(tmp_path, tokens, form):
    assert imported(tmp_path, f"{tokens}\nNo .\n".encode(), 2, form=form) == [TEXT, "No."]
    assert json.loads((tmp_path / "one.json").read_text())["noted"] == {"escapes of Moses undone": 1}


def test_text_about_escapes_keeps_them(tmp_path):
    """If a character that Moses escapes is not escaped, the escapes in the text are literal."""
    lines = ["Write &amp; , not & .", "It 's < p > ' &lt; ' ."]
    joined = ["Write &amp;, not &.", "It's < p > '&lt;'."]
    assert imported(tmp_path, "\n".join(lines).encode(), 2, form="words") == joined
    assert json.loads((tmp_path / "one.json").read_text())["noted"] == {}


@pytest.mark.parametrize(
    ("line", "forms", "words"),
    [
        ("▁Er ▁sag te ▁: ▁ja", ["text", "words", "bpe"], "pieces of SentencePiece .*; join them: spm_decode"),
        ("0 ||| Er sagte : ja ||| LM= -3 ||| -2.5", ["text", "words", "bpe"], "an n-best list .*; give the best"),
        ("0 ||| Er sagte : ja ||| -2.5", ["text", "words", "bpe"], "an n-best list"),
        ("D-0\t-0.3\tEr sagte", ["text", "words", "bpe"], "a log of fairseq-generate"),
        ("Er sag ##te", ["text", "words", "bpe"], "pieces of WordPiece"),
        ("Er sagte￭ : ja", ["text", "words", "bpe"], "tokens with the joiners of OpenNMT"),
        ("Er sag@@ te", ["text", "words"], "subwords .*; say `form: bpe`"),
        ("Er sagte : &quot; ja &quot;", ["text"], "tokens with the escapes of Moses .*; say `form: words`"),
        ("It &apos;s", ["text"], "tokens with the escapes of Moses .*; say `form: words`"),
    ],
)
def test_wrong_form_is_reported_with_line_and_remedy(tmp_path, line, forms, words):
    content = f"\nGut .\n{line}\n".encode()
    for form in forms:
        for sentences in (3, 5):  # the form is told first, which may be why there are more lines
            with pytest.raises(InputError, match=rf"theirs\.de, line 3: the line looks like {words}"):
                imported(tmp_path, content, sentences, form=form)
    if "@@" in line or "&" in line:
        assert all(len(imported(tmp_path, content, 3, form=form)) == 3 for form in {"words", "bpe"} - {*forms})
    rare = "Gut .\n" * 19 + f"{line}\n"
    assert len(imported(tmp_path, rare.encode(), 20, form=forms[0])) == 20, "a few lines may be anything"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("größer\n".encode("utf-16"), "line 1: byte 0 is not UTF-8 .*; the file looks like UTF-16"),
        ("so\nso\n".encode("utf-16-le"), "contain NUL bytes; the file looks like UTF-16LE"),
        ("größer\nkleiner\n".encode("latin-1"), "line 1: byte 2 is not UTF-8 .*; the file looks like Latin-1"),
        (b"a\rb\rc\r", "lines end in CR"),
    ],
)
def test_a_wrong_encoding_is_named(tmp_path, content, words):
    with pytest.raises(InputError, match=rf"theirs\.de(: .*|, ){words}"):
        imported(tmp_path, content, 2)


@pytest.mark.parametrize(("lines", "sentences"), [(2, 3), (4, 3), (0, 1)])
def test_wrong_number_of_lines_is_reported(tmp_path, lines, sentences):
    with pytest.raises(InputError) as error:
        imported(tmp_path, b"x\n" * lines, sentences)
    assert str(error.value).startswith(f"{tmp_path / 'theirs.de'}: the file has {lines} lines and the set `one` has")
    assert "give a line for each, in order, and an empty one where nothing was said" in str(error.value)
    assert not (tmp_path / "one.txt").exists()


def test_invalid_utf8_is_reported_with_its_line(tmp_path):
    with pytest.raises(InputError, match=r"theirs\.de, line 2: byte 1 is not UTF-8"):
        imported(tmp_path, b"a\nb\xff\n", 2)
