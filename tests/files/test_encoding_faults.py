"""Detection of text that is not UTF-8 with one sentence per line, and of its likely encoding."""

import re
from pathlib import Path

import pytest

from pipeline_py.files.encoding_faults import LineFaults, describe_encoding, describe_faults, iterate_checked_lines
from pipeline_py.files.text_files import read_byte_lines
from pipeline_py.run.errors import InputError

DATA = Path(__file__).parents[2] / "../shared/data"

TEXTS = {
    "fr": "L'élève a reçu une très belle lettre à Noël, où était déjà sa mère.",
    "de": "Die schöne Müllerin hört größere Bäche.",
    "tr": "İyi akşamlar, çocuğun ağacı kırmızı ışıkta güzel görünüyor.",
    "cs": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "ru": "Мама мыла раму, а потом ушла на работу.",
    "el": "Αυτή είναι μια ελληνική πρόταση.",
    "zh": "这是一个中文的句子，我们在这里。",
    "ja": "これは日本語の文です。私は学生でした。",
    "ko": "이것은 한국어 문장입니다. 나는 학생이다.",
    "th": "แมวนอนอยู่บนโต๊ะในบ้านของเรา",
}


@pytest.mark.parametrize(
    ("language", "codec", "name"),
    [
        ("fr", "iso-8859-1", "Latin-1 (WINDOWS-1252)"),
        ("de", "windows-1252", "Latin-1 (WINDOWS-1252)"),
        ("tr", "windows-1254", "WINDOWS-1254"),
        ("cs", "windows-1250", "WINDOWS-1250"),
        ("cs", "iso-8859-2", "ISO-8859-2"),
        ("ru", "windows-1251", "WINDOWS-1251"),
        ("ru", "koi8-r", "KOI8-R"),
        ("el", "windows-1253", "WINDOWS-1253"),
        ("zh", "gb18030", "GB18030"),
        ("ja", "shift_jis", "SHIFT_JIS"),
        ("ja", "euc-jp", "EUC-JP"),
        ("ko", "euc-kr", "EUC-KR"),
        ("fr", "macintosh", "MACINTOSH"),
        ("fr", "cp850", "CP850"),
        ("de", "macintosh", "MACINTOSH"),
        ("de", "cp850", "CP850"),
        ("ru", "cp866", "CP866"),
        ("ru", "iso-8859-5", "ISO-8859-5"),
        ("th", "cp874", "CP874"),
    ],
)
def test_the_likely_encoding_is_reported_with_the_remedy(language: str, codec: str, name: str) -> None:
    lines = [TEXTS[language].encode(codec), b"Hello ."] * 20
    command = name.split()[-1].strip("()")
    assert describe_faults(lines) == (
        f"20 of 40 lines are not UTF-8; the file looks like {name}; convert it: iconv -f {command} -t UTF-8 <FILE >NEW"
    )
    assert name in describe_encoding(lines)


@pytest.mark.parametrize("mark", [True, False])
@pytest.mark.parametrize("codec", ["UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"])
def test_wide_encodings_are_recognized(codec: str, mark: bool) -> None:
    text = ("\ufeff" if mark else "") + "A girl sleeps.\nÜber uns.\n" * 30
    fault = describe_faults(text.encode(codec).split(b"\n"))
    assert fault is not None and f"looks like {codec[:6] if mark else codec};" in fault


def test_the_share_of_bad_lines_decides() -> None:
    good = ["Größe".encode()] * 99
    assert describe_faults([*good, b"Gr\xf6\xdfe"]) is None
    assert describe_faults([*good[1:], b"Gr\xf6\xdfe", b"gr\xfcn"]).startswith("2 of 100 lines are not UTF-8")
    assert describe_faults([*good, b"a\0b"]) is None
    assert describe_faults([*good[1:], b"a\0b", b"\0"]) == (
        "2 of 100 lines contain NUL bytes; convert the file to UTF-8 with iconv, or remove the bytes that are not text"
    )


def test_decomposed_letters_are_rejected() -> None:
    composed, decomposed = "énergétique".encode(), "e\u0301nerge\u0301tique".encode()
    assert describe_faults([composed] * 99 + [decomposed]) is None
    assert describe_faults([composed] * 98 + [decomposed] * 2).startswith(
        "2 of 100 lines have decomposed letters (Unicode's NFD)"
    )
    assert describe_faults(["क़".encode()] * 100) is None, "NFC of this letter is longer"


VIETNAMESE = "Tôi đã đến Hà Nội vào buổi sáng, trời lạnh quá."
PORTUGUESE = "As informações não estão disponíveis à noite."


@pytest.mark.parametrize(
    ("text", "encoding", "example"),
    [
        (TEXTS["fr"], "ISO-8859-1", "`Ã©` for `é`"),
        ("Das „große“ Haus kostet 5 €", "WINDOWS-1252", "`â€ž` for `„`"),
        (PORTUGUESE, "WINDOWS-1252", "`Ã§` for `ç`"),
        ("It’s a dog", "WINDOWS-1252", "`â€™` for `’`"),
        (TEXTS["ja"], "ISO-8859-1", "for `こ`"),
        ("ไทย", "ISO-8859-1", "for `ไ`"),
        ("Žlutý kůrovec", "WINDOWS-1250", "`Ĺ˝` for `Ž`"),
        ("Мама мыла раму", "WINDOWS-1251", "`Рњ` for `М`"),
        (VIETNAMESE, "ISO-8859-1", "for `ô`"),
        (TEXTS["el"], "ISO-8859-1", "for `Α`"),
        (TEXTS["fr"], "MACINTOSH", "`√©` for `é`"),
        (TEXTS["de"], "CP850", "`├Â` for `ö`"),
    ],
)
def test_misread_utf8_is_rejected(text: str, encoding: str, example: str) -> None:
    misread = text.encode().decode(encoding).encode()
    fault = describe_faults([b"Hello ."] * 90 + [misread] * 10)
    assert fault is not None
    expected = "ISO-8859-1|WINDOWS-1252" if encoding == "ISO-8859-1" else encoding
    assert re.match(f"10 of 100 lines are UTF-8 that was read as ({expected}) and saved again", fault)
    assert example in fault and "fetch the original, or convert the file back: iconv -f UTF-8 -t" in fault
    assert describe_faults([b"Hello ."] * 99 + [misread]) is None, "1 %"
    assert describe_faults([misread] * 99) is None, "too few lines to judge"


@pytest.mark.parametrize(
    "line",
    [
        *TEXTS.values(),
        VIETNAMESE,
        PORTUGUESE,
        "NÃO É SÓ A MANHÃ",
        "Ela disse “amanhã”…",
        "VOCÊ…",
        "Spaß…",
        "„Das macht Spaß“",
        "Il est passé…\xa0»",
        "«\xa0jusqu’à…\xa0»",
        "Ça va\xa0?",
        "Ñandú “Ó”",
        "Річ — це «рік»",
        "Ђорђе Ћ…",
        "Ä–Ö",
        "£5 — ©2020 ½",
        "ÄÖÜ ß",
        "Tiếng Việt Ã Â",
        "한국어 “말”",
        "שלום “עולם”",
        "😀 “ok”",
    ],
)
def test_valid_text_is_not_reported_as_misread(line: str) -> None:
    assert describe_faults([line.encode()] * 100) is None


@pytest.mark.parametrize(
    "name",
    [
        *(f"multi30k/train.{language}" for language in ("fr", "de", "en")),
        *(f"{corpus}/train.{language}" for corpus in ("tatoeba_enzh", "pydocs_enzh") for language in ("en", "zh")),
        "small_parallel_enja/train.ja",
        *(f"docs_ende/train.{language}" for language in ("en", "de")),
        *(f"newstest_ende/newstest2014.{language}" for language in ("en", "de")),
    ],
)
def test_no_line_of_valid_text_is_reported_as_misread(name: str) -> None:
    path = DATA / f"{name}.gz"
    if not path.exists():
        pytest.skip(f"{name} is not on this machine")
    faults = LineFaults()
    for line in read_byte_lines(path):
        faults.add_line(line)
    assert faults.line_count > 1000 and not faults.misread_lines_by_encoding
    assert faults.describe_fault() is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Une fen\ufffdtre", "have lost characters"),
        ("Une fen&ecirc;tre", "have letters as HTML entities"),
        ("Une fen&#234;tre", "have letters as HTML entities"),
        ("Une fen&#xEA;tre", "have letters as HTML entities"),
        ('<seg id="1">Une fenêtre</seg>', "begin with a tag of SGML or XML"),
        ('  <tuv xml:lang="fr"><seg>Une fenêtre</seg></tuv>', "begin with a tag of SGML or XML"),
        (TEXTS["ja"].encode("iso-2022-jp").decode("ascii"), "have escape sequences of ISO-2022"),
    ],
)
def test_text_with_foreign_markup_is_rejected(line: str, message: str) -> None:
    fault = describe_faults([b"Hello ."] * 98 + [line.encode()] * 2)
    assert fault is not None and fault.startswith(f"2 of 100 lines {message}")
    assert describe_faults([b"Hello ."] * 99 + [line.encode()]) is None


@pytest.mark.parametrize(
    "line", ["&quot; &apos; &amp; &#124; &lt; &gt; &#91;", "R&D; AT&T;", "a segment", "x &nbsp; y"]
)
def test_moses_escapes_are_accepted(line: str) -> None:
    assert describe_faults([line.encode()] * 100) is None


def test_no_encoding_is_suggested_for_unknown_bytes() -> None:
    assert describe_encoding([bytes(range(0xA0, 0xC0)) + b" text of a kind that is long enough"]) == (
        "convert the file to UTF-8 with iconv, or remove the bytes that are not text"
    )


def test_wrong_line_ends_and_long_lines_are_rejected() -> None:
    assert describe_faults([b"a\r", b"b\r", b"c\rd"]) is None
    assert describe_faults([b"a\rb\rc\r"]).startswith("lines end in CR")
    assert describe_faults([b"word " * 3000]).startswith("the lines have 15,000 bytes on average (there are 1);")
    assert describe_faults([b"word " * 3000, b"word"]) is None
    assert describe_faults([]) is None


def test_lines_are_yielded_before_the_text_is_checked() -> None:
    lines = iterate_checked_lines([b"a", b"\xff"], Path("mine.de"))
    assert [next(lines), next(lines)] == [b"a", b"\xff"]
    with pytest.raises(InputError, match=r"^mine\.de: 1 of 2 lines are not UTF-8"):
        next(lines)
