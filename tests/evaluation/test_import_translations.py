"""Translations from elsewhere: line by line, in text or tokens, with what is wrong in one sentence."""

import gzip
import json
from pathlib import Path

import pytest

from pipeline_py.evaluation.import_translations import import_translations
from pipeline_py.input_error import InputError


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
    lines = ["„Ja“ , sagte er.", "  zwei  Leerzeichen ", "", "e\u0301 und \u200b \U0001f600", "$1 @-@ &amp; a@@ b"]
    assert imported(tmp_path, ("\ufeff" + "\n".join(lines)).encode(), 5, name) == lines
    counts = json.loads((tmp_path / "one.json").read_text())
    assert (counts["kept"], counts["noted"]) == (5, {"empty output": 1})


def test_odd_characters_do_not_move_lines(tmp_path):
    """What other tools take for the end of a line becomes a space, as in all text."""
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
    assert imported(tmp_path, b"Er sag@@ te", 1, form="words", detokenizer="none") == ["Er sag@@ te"]


@pytest.mark.parametrize(("lines", "sentences"), [(2, 3), (4, 3), (0, 1)])
def test_another_number_of_lines_is_told_with_the_remedy(tmp_path, lines, sentences):
    with pytest.raises(InputError) as error:
        imported(tmp_path, b"x\n" * lines, sentences)
    assert str(error.value).startswith(f"{tmp_path / 'theirs.de'}: the file has {lines} lines and the set `one` has")
    assert "give a line for each, in order, and an empty one where nothing was said" in str(error.value)
    assert not (tmp_path / "one.txt").exists()


def test_bytes_that_are_no_text_are_told_with_their_line(tmp_path):
    with pytest.raises(InputError, match=r"theirs\.de, line 2: byte 1 is not UTF-8"):
        imported(tmp_path, b"a\nb\xff\n", 2)
