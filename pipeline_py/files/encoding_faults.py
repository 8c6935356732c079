"""Detection of text that is not UTF-8 or does not have one sentence per line."""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from itertools import islice
from pathlib import Path
from unicodedata import normalize

from pipeline_py.run.errors import InputError

MAX_FAULTY_SHARE = 0.01
"""Largest accepted share of lines that are not UTF-8, and of lines with NUL bytes."""

MAX_MEAN_LINE_BYTES = 10_000
"""Maximum mean length of lines; longer lines are not sentences."""

MAX_SAMPLE_LINES = 500
"""Number of faulty lines from which the encoding is guessed."""

MAX_SEARCHED_LINES = 200_000
"""Number of lines of a file that are searched for faulty lines."""

BYTE_ORDER_MARKS = {
    BOM_UTF32_LE: "UTF-32",  # begins with that of UTF-16
    BOM_UTF32_BE: "UTF-32",
    BOM_UTF16_LE: "UTF-16",
    BOM_UTF16_BE: "UTF-16",
}

WESTERN_CHARACTERS = "àáâãäåæçèéêëìíîïñòóôõöøùúûüýßÀÁÂÄÅÆÇÈÉÊËÍÎÑÓÔÖØÚÜ«»°§"
WESTERN_LOWERCASE_CHARACTERS = "".join(filter(str.islower, WESTERN_CHARACTERS))
CYRILLIC_CHARACTERS = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэ"
CENTRAL_EUROPEAN_CHARACTERS = "áčďéěíňóřšťúůýžąćęłńśźżőűăâîşţČŘŠŽŁŚŻ"
LATIN_ENCODINGS = {
    "Latin-1 (WINDOWS-1252)": WESTERN_CHARACTERS + "“”‘’„…–—€œ",
    "WINDOWS-1250": CENTRAL_EUROPEAN_CHARACTERS + "„“”…–—äöüß",
    "ISO-8859-2": CENTRAL_EUROPEAN_CHARACTERS + "äöüß",
    "WINDOWS-1254": WESTERN_CHARACTERS + "ığşİĞŞ",
    "MACINTOSH": WESTERN_LOWERCASE_CHARACTERS + "“”‘’„…–—œ",
    "CP850": WESTERN_LOWERCASE_CHARACTERS,
}
SINGLE_BYTE_ENCODINGS = {
    "WINDOWS-1251": CYRILLIC_CHARACTERS,
    "KOI8-R": CYRILLIC_CHARACTERS,
    "ISO-8859-5": CYRILLIC_CHARACTERS,
    "CP866": CYRILLIC_CHARACTERS,
    "WINDOWS-1253": "αοιετσνηυρπκμλςάέήίόύώ",
    "WINDOWS-1255": "יוהלאמתרבשנכפחדקצגטזס",
    "WINDOWS-1256": "اليمونرتبةعدسفهكقحجأشطصخ",
    "CP874": "านรกอเงมยลวดทสตะปบคหแจพชขใไโผ",
}
MULTIBYTE_ENCODINGS = {
    "GB18030": "的一是在不了有和人这中大为上个国我以要他时来用们到作，。",
    "BIG5": "的一是在不了有和人這中大為上個國我以要他時來用們到作，。",
    "SHIFT_JIS": "のにはをたがでてとしれさいなるっん、。",
    "EUC-JP": "のにはをたがでてとしれさいなるっん、。",
    "EUC-KR": "이다는의에을가고한하은로를지기도사서",
}
"""Frequent characters of text in an encoding, by its name; the last word of a name is the name for iconv.

Of two equally likely encodings, the first one wins. In Latin script, less than half of the bytes are outside ASCII; in
other scripts, more. Bytes of multibyte encodings are letters in single-byte encodings, but not vice versa.
"""

TYPOGRAPHIC_CHARACTERS = "“”‘’„‚…–—«»\xa0€"
FREQUENT_CHARACTERS = frozenset(
    TYPOGRAPHIC_CHARACTERS.join(
        [*LATIN_ENCODINGS.values(), *SINGLE_BYTE_ENCODINGS.values(), *MULTIBYTE_ENCODINGS.values()]
    )
)
MISREADING_ENCODINGS = ("WINDOWS-1252", "ISO-8859-1", "WINDOWS-1250", "WINDOWS-1251", "MACINTOSH", "CP850")
"""Encodings in which UTF-8 is often misread and then saved as UTF-8, sorted by priority."""

MIN_MISREAD_CHARACTERS = 3
"""Number of rare characters that show that a line was misread."""

ADJACENT_NON_ASCII_PATTERN = re.compile(rb"[\x80-\xbf][\xc2-\xf4]")
"""Two adjacent characters outside ASCII, which every misread line has."""

HTML_ENTITY_PATTERN = re.compile(r"&(?:[A-Za-z]{2,8}|#[0-9]{2,6}|#[xX][0-9A-Fa-f]{2,5});")
"""An HTML entity."""

ISO_2022_ESCAPE_PATTERN = re.compile(rb"\x1b[$(][@-J]")
"""An escape sequence of ISO-2022, whose other bytes are ASCII."""

SEGMENT_TAG_PATTERN = re.compile(rb"\s*<(?:seg|tuv)\b", re.IGNORECASE)
"""The beginning of a sentence in SGML, XML and TMX files of test sets and translation memories."""

MIN_LATIN_SHARE, MIN_NON_LATIN_SHARE = 0.6, 0.1
"""Minimum share of frequent characters among those outside ASCII for an encoding to be suggested."""

MIN_JUDGED_LINES = 100
"""Minimum number of lines for the faults that a short text may have by chance."""


@dataclass
class LineFaults:
    """Counts of faulty lines of a text.

    Attributes:
        line_count: lines read.
        byte_count: bytes of these lines.
        non_utf8_lines: lines that are not UTF-8.
        nul_lines: lines with NUL bytes.
        inner_carriage_returns: CRs within lines.
        decomposed_lines: lines with decomposed letters, which NFC composes.
        lossy_lines: lines with U+FFFD, the replacement of characters that a conversion lost.
        html_entity_lines: lines with letters outside ASCII as HTML entities.
        iso_2022_lines: lines with escape sequences of ISO-2022.
        segment_tag_lines: lines that begin a segment of SGML or XML.
        misread_lines_by_encoding: lines of UTF-8 that were misread in an encoding and saved as UTF-8 again.
        first_misread_line: the first of these lines.
        first_bytes: the first bytes of the text.
        non_utf8_sample: some lines that are not UTF-8.
    """

    line_count: int = 0
    byte_count: int = 0
    non_utf8_lines: int = 0
    nul_lines: int = 0
    inner_carriage_returns: int = 0
    decomposed_lines: int = 0
    lossy_lines: int = 0
    html_entity_lines: int = 0
    iso_2022_lines: int = 0
    segment_tag_lines: int = 0
    misread_lines_by_encoding: Counter[str] = field(default_factory=Counter)
    first_misread_line: str = ""
    first_bytes: bytes = b""
    non_utf8_sample: list[bytes] = field(default_factory=list)

    def add_line(self, line: bytes) -> None:
        """Count a line."""
        if not self.line_count:
            self.first_bytes = line[:MAX_MEAN_LINE_BYTES]
        self.line_count += 1
        self.byte_count += len(line)
        self.nul_lines += b"\0" in line
        self.inner_carriage_returns += line.rstrip(b"\r").count(b"\r")
        self.iso_2022_lines += ISO_2022_ESCAPE_PATTERN.search(line) is not None
        self.segment_tag_lines += SEGMENT_TAG_PATTERN.match(line) is not None
        try:
            text = line.decode("utf-8")
            self.lossy_lines += "\ufffd" in text
            self.html_entity_lines += "&" in text and any(map(_is_letter_entity, HTML_ENTITY_PATTERN.findall(text)))
            self.decomposed_lines += not text.isascii() and len(normalize("NFC", text)) < len(text)
            if ADJACENT_NON_ASCII_PATTERN.search(line) and (encodings := _find_misreading_encodings(text)):
                self.misread_lines_by_encoding.update(encodings)
                self.first_misread_line = self.first_misread_line or text
        except UnicodeDecodeError:
            self.non_utf8_lines += 1
            if len(self.non_utf8_sample) < MAX_SAMPLE_LINES:
                self.non_utf8_sample.append(line[:MAX_MEAN_LINE_BYTES])

    def describe_fault(self) -> str | None:
        """Return an error message for the text as a whole; None if it is well-formed."""
        max_lines = MAX_FAULTY_SHARE * self.line_count
        if self.nul_lines > max_lines:
            return f"{self._format_line_share(self.nul_lines)} contain NUL bytes; {self.describe_encoding()}"
        if self.non_utf8_lines > max_lines:
            return f"{self._format_line_share(self.non_utf8_lines)} are not UTF-8; {self.describe_encoding()}"
        if self.inner_carriage_returns and self.inner_carriage_returns >= self.line_count:
            return "lines end in CR (as in classic Mac OS) and not in LF; convert the file: tr '\\r' '\\n' <FILE >NEW"
        if self.iso_2022_lines > max_lines:
            return (
                f"{self._format_line_share(self.iso_2022_lines)} have escape sequences of ISO-2022 (Japanese: "
                "ISO-2022-JP); convert the file: iconv -f ISO-2022-JP -t UTF-8 <FILE >NEW"
            )
        if self.segment_tag_lines > max_lines:
            return (
                f"{self._format_line_share(self.segment_tag_lines)} begin with a tag of SGML or XML (`<seg`); write "
                "the text of each segment on a line, without tags and entities"
            )
        if self.lossy_lines > max_lines and self.line_count >= MIN_JUDGED_LINES:
            return (
                f"{self._format_line_share(self.lossy_lines)} have lost characters (U+FFFD is in their place); "
                "fetch the original, and convert it from its own encoding with iconv"
            )
        if self.html_entity_lines > max_lines and self.line_count >= MIN_JUDGED_LINES:
            return (
                f"{self._format_line_share(self.html_entity_lines)} have letters as HTML entities (`&eacute;` for "
                "`é`); convert the file: python -c 'import html, sys; "
                "sys.stdout.writelines(map(html.unescape, sys.stdin))' <FILE >NEW"
            )
        if self.decomposed_lines > max_lines and self.line_count >= MIN_JUDGED_LINES:
            return (
                f"{self._format_line_share(self.decomposed_lines)} have decomposed letters (Unicode's NFD), which "
                "tokenizers split; convert the file to NFC, e.g. with uconv -x nfc"
            )
        for encoding, lines in self.misread_lines_by_encoding.most_common(1):
            if lines > max_lines and self.line_count >= MIN_JUDGED_LINES:
                wrong, right = _find_misreading_example(self.first_misread_line, encoding)
                return (
                    f"{self._format_line_share(lines)} are UTF-8 that was read as {encoding} and saved again "
                    f"(`{wrong}` for `{right}`); fetch the original, or convert the file back: "
                    f"iconv -f UTF-8 -t {encoding} <FILE >NEW"
                )
        if self.byte_count > MAX_MEAN_LINE_BYTES * self.line_count:
            return (
                f"the lines have {self.byte_count // self.line_count:,} bytes on average (there are "
                f"{self.line_count:,}); give one sentence a line, and end it with LF"
            )
        return None

    def describe_encoding(self) -> str:
        """Return the likely encoding of the faulty lines, and the command that converts them."""
        encoding = self._guess_encoding()
        if encoding is None:
            return "convert the file to UTF-8 with iconv, or remove the bytes that are not text"
        return f"the file looks like {encoding}; convert it: iconv -f {_get_iconv_name(encoding)} -t UTF-8 <FILE >NEW"

    def _format_line_share(self, faulty_lines: int) -> str:
        return f"{faulty_lines:,} of {self.line_count:,} lines"

    def _guess_encoding(self) -> str | None:
        for mark, name in BYTE_ORDER_MARKS.items():
            if self.first_bytes.startswith(mark):
                return name
        if self.nul_lines > self.line_count / 2:
            return _guess_wide_encoding(self.first_bytes)
        sample = b"\n".join(self.non_utf8_sample)
        non_ascii_count = sum(byte >= 0x80 for byte in sample)
        if non_ascii_count < len(sample) / 2:
            return _find_likeliest_encoding(sample, LATIN_ENCODINGS, MIN_LATIN_SHARE)
        return _find_likeliest_encoding(sample, MULTIBYTE_ENCODINGS, MIN_NON_LATIN_SHARE) or _find_likeliest_encoding(
            sample, SINGLE_BYTE_ENCODINGS, MIN_NON_LATIN_SHARE
        )


def _is_letter_entity(entity: str) -> bool:
    """Return whether an HTML entity is a letter outside ASCII; Moses' escapes are not."""
    character = unescape(entity)
    return character.isalpha() and not character.isascii()


def _find_misreading_encodings(text: str) -> list[str]:
    """Return the encodings in which a line of UTF-8 may have been misread.

    All characters of the line must be bytes of UTF-8, with at least three characters outside ASCII or a frequent one.
    """
    encodings = []
    for encoding in MISREADING_ENCODINGS:
        try:
            original = text.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        non_ascii = [character for character in original if not character.isascii()]
        if len(non_ascii) >= MIN_MISREAD_CHARACTERS or not FREQUENT_CHARACTERS.isdisjoint(non_ascii):
            encodings.append(encoding)
    return encodings


def _find_misreading_example(line: str, encoding: str) -> tuple[str, str]:
    """Return the first misread character of a line, and the original character."""
    original = line.encode(encoding, errors="replace").decode("utf-8", errors="replace")
    right = next(character for character in original if not character.isascii())
    return right.encode("utf-8").decode(encoding, errors="replace"), right


def _find_likeliest_encoding(sample: bytes, frequent_characters: Mapping[str, str], min_share: float) -> str | None:
    """Return the encoding with the largest share of frequent characters, if it is at least `min_share`."""
    shares = {
        name: _compute_frequent_share(sample, name, characters) for name, characters in frequent_characters.items()
    }
    best = max(shares, key=lambda name: round(shares[name], 1))
    return best if shares[best] >= min_share else None


def _get_iconv_name(encoding: str) -> str:
    return encoding.split()[-1].strip("()")


def _guess_wide_encoding(first_bytes: bytes) -> str | None:
    """Distinguish UTF-16 and UTF-32 without a byte order mark by the positions of NUL bytes."""
    zeros = [first_bytes[place::4].count(0) for place in range(4)]
    if sum(zeros) < len(first_bytes) / 8:  # few ASCII characters
        return "UTF-16"
    if min(zeros[1:]) > 2 * zeros[0]:
        return "UTF-32LE"
    if min(zeros[:3]) > 2 * zeros[3]:
        return "UTF-32BE"
    even, odd = zeros[0] + zeros[2], zeros[1] + zeros[3]
    return "UTF-16LE" if odd > 2 * even else "UTF-16BE" if even > 2 * odd else None


def _compute_frequent_share(sample: bytes, encoding: str, frequent_characters: str) -> float:
    """Return the share of frequent characters among those of a sample outside ASCII."""
    text = sample.decode(_get_iconv_name(encoding), errors="replace")
    non_ascii = [character for character in text if not character.isascii()]
    return sum(character in frequent_characters for character in non_ascii) / max(len(non_ascii), 1)


def find_surrogate_fault(text: str) -> str | None:
    """Return an error message for text that no encoding can represent, because a character of it lacks a half."""
    surrogates = [character for character in text if "\ud800" <= character <= "\udfff"]
    return f"has half a character, {surrogates[0]!r}; correct it" if surrogates else None


def describe_encoding(lines: Iterable[bytes]) -> str:
    """Return the likely encoding of a text that is not UTF-8, and the command that converts it."""
    faults = LineFaults()
    for line in islice(lines, MAX_SEARCHED_LINES):
        faults.add_line(line)
        if len(faults.non_utf8_sample) == MAX_SAMPLE_LINES:
            break
    return faults.describe_encoding()


def describe_faults(lines: Iterable[bytes]) -> str | None:
    """Return an error message for a text as a whole; None if it is well-formed."""
    faults = LineFaults()
    for line in lines:
        faults.add_line(line)
    return faults.describe_fault()


def iterate_checked_lines(lines: Iterable[bytes], path: Path) -> Iterator[bytes]:
    """Yield the lines of a text, and check the text as a whole after the last line.

    Raises:
        InputError: more than 1 % of the lines are not UTF-8, have NUL bytes, lost characters, HTML entities or segment
            tags, are not in NFC or were misread in another encoding; lines end in CR; or lines are far longer than
            sentences.
    """
    faults = LineFaults()
    for line in lines:
        faults.add_line(line)
        yield line
    if message := faults.describe_fault():
        raise InputError(message, path)
