"""Recognition of text in a wrong encoding: not UTF-8, or not one sentence a line."""

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

LARGEST_SHARE = 0.01
"""Largest accepted share of lines that are not UTF-8, and of lines with NUL bytes."""

LONGEST_MEAN = 10_000
"""Bytes of a line on average; longer lines are not sentences."""

SAMPLE_LINES = 500
"""Lines that are not UTF-8 by which an encoding is recognized."""

SEARCHED_LINES = 200_000
"""Lines of a file in which these are looked for."""

BYTE_ORDER_MARKS = {
    BOM_UTF32_LE: "UTF-32",  # begins with that of UTF-16
    BOM_UTF32_BE: "UTF-32",
    BOM_UTF16_LE: "UTF-16",
    BOM_UTF16_BE: "UTF-16",
}

WESTERN = "àáâãäåæçèéêëìíîïñòóôõöøùúûüýßÀÁÂÄÅÆÇÈÉÊËÍÎÑÓÔÖØÚÜ«»°§"
WESTERN_SMALL = "".join(filter(str.islower, WESTERN))
CYRILLIC = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэ"
CENTRAL = "áčďéěíňóřšťúůýžąćęłńśźżőűăâîşţČŘŠŽŁŚŻ"
LATIN_ENCODINGS = {
    "Latin-1 (WINDOWS-1252)": WESTERN + "“”‘’„…–—€œ",
    "WINDOWS-1250": CENTRAL + "„“”…–—äöüß",
    "ISO-8859-2": CENTRAL + "äöüß",
    "WINDOWS-1254": WESTERN + "ığşİĞŞ",
    "MACINTOSH": WESTERN_SMALL + "“”‘’„…–—œ",
    "CP850": WESTERN_SMALL,
}
SINGLE_BYTE_ENCODINGS = {
    "WINDOWS-1251": CYRILLIC,
    "KOI8-R": CYRILLIC,
    "ISO-8859-5": CYRILLIC,
    "CP866": CYRILLIC,
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
"""Frequent characters of text in an encoding, by its name; the last word of a name is that for iconv. Of two encodings
that are as likely the first is named.

In Latin script less than half of the bytes are outside ASCII, in other scripts more. Bytes of the multibyte encodings
are letters in every other one, and not the other way round.
"""

TYPOGRAPHIC = "“”‘’„‚…–—«»\xa0€"
FREQUENT_CHARACTERS = frozenset(
    TYPOGRAPHIC.join([*LATIN_ENCODINGS.values(), *SINGLE_BYTE_ENCODINGS.values(), *MULTIBYTE_ENCODINGS.values()])
)
MISREADING_ENCODINGS = ("WINDOWS-1252", "ISO-8859-1", "WINDOWS-1250", "WINDOWS-1251", "MACINTOSH", "CP850")
"""Encodings in which UTF-8 is often misread and then saved as UTF-8; of two that are as likely the first is named."""

FEWEST_CHARACTERS = 3
"""Characters of a line that was misread if none of them is a frequent one."""

ADJACENT_CHARACTERS = re.compile(rb"[\x80-\xbf][\xc2-\xf4]")
"""Two adjacent characters outside ASCII, as in every line that was misread."""

ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#[0-9]{2,6}|#[xX][0-9A-Fa-f]{2,5});")
"""A character as HTML spells it."""

ESCAPE_SEQUENCE = re.compile(rb"\x1b[$(][@-J]")
"""Change of the character set in ISO-2022, whose bytes are those of ASCII."""

SEGMENT = re.compile(rb"\s*<(?:seg|tuv)\b", re.IGNORECASE)
"""The beginning of a sentence in SGML, XML and TMX files of test sets and translation memories."""

SMALLEST_SHARE_OF_LATIN, SMALLEST_SHARE_OF_OTHERS = 0.6, 0.1
"""Frequent characters among those outside ASCII, for an encoding to be named."""

FEWEST_JUDGED_LINES = 100
"""A shorter text may have letters apart from their accents."""


@dataclass
class LineFaults:
    """Faults of the lines of a text.

    Attributes:
        lines: lines read.
        size: their bytes.
        invalid: lines that are not UTF-8.
        zeros: lines with NUL bytes.
        returns: CRs within lines.
        decomposed: lines with letters apart from their accents, which NFC composes.
        lossy: lines with U+FFFD, which stands for characters that a conversion did not know.
        escaped: lines with letters outside ASCII as entities of HTML.
        shifted: lines with escape sequences of ISO-2022.
        segments: lines that begin a segment of SGML or XML.
        misread: lines of UTF-8 that was read in another encoding and saved as UTF-8 again, by this encoding.
        misread_line: the first of these lines.
        beginning: the first bytes of the text.
        sample: some lines that are not UTF-8.
    """

    lines: int = 0
    size: int = 0
    invalid: int = 0
    zeros: int = 0
    returns: int = 0
    decomposed: int = 0
    lossy: int = 0
    escaped: int = 0
    shifted: int = 0
    segments: int = 0
    misread: Counter[str] = field(default_factory=Counter)
    misread_line: str = ""
    beginning: bytes = b""
    sample: list[bytes] = field(default_factory=list)

    def add(self, line: bytes) -> None:
        """Count a line."""
        if not self.lines:
            self.beginning = line[:LONGEST_MEAN]
        self.lines += 1
        self.size += len(line)
        self.zeros += b"\0" in line
        self.returns += line.rstrip(b"\r").count(b"\r")
        self.shifted += ESCAPE_SEQUENCE.search(line) is not None
        self.segments += SEGMENT.match(line) is not None
        try:
            text = line.decode("utf-8")
            self.lossy += "\ufffd" in text
            self.escaped += "&" in text and any(map(_is_letter, ENTITY.findall(text)))
            self.decomposed += not text.isascii() and len(normalize("NFC", text)) < len(text)
            if ADJACENT_CHARACTERS.search(line) and (encodings := _find_misreading(text)):
                self.misread.update(encodings)
                self.misread_line = self.misread_line or text
        except UnicodeDecodeError:
            self.invalid += 1
            if len(self.sample) < SAMPLE_LINES:
                self.sample.append(line[:LONGEST_MEAN])

    def describe(self) -> str | None:
        """Return what is wrong with the text as a whole, with the remedy, or None."""
        many = LARGEST_SHARE * self.lines
        if self.zeros > many:
            return f"{self._share(self.zeros)} contain NUL bytes; {self.describe_encoding()}"
        if self.invalid > many:
            return f"{self._share(self.invalid)} are not UTF-8; {self.describe_encoding()}"
        if self.returns and self.returns >= self.lines:
            return "lines end in CR (as in classic Mac OS) and not in LF; convert the file: tr '\\r' '\\n' <FILE >NEW"
        if self.shifted > many:
            return (
                f"{self._share(self.shifted)} have escape sequences of ISO-2022 (Japanese: ISO-2022-JP); convert the "
                "file: iconv -f ISO-2022-JP -t UTF-8 <FILE >NEW"
            )
        if self.segments > many:
            return (
                f"{self._share(self.segments)} begin with a tag of SGML or XML (`<seg`); write the text of each "
                "segment on a line, without tags and entities"
            )
        if self.lossy > many and self.lines >= FEWEST_JUDGED_LINES:
            return (
                f"{self._share(self.lossy)} have lost characters (U+FFFD is in their place); fetch the original, and "
                "convert it from its own encoding with iconv"
            )
        if self.escaped > many and self.lines >= FEWEST_JUDGED_LINES:
            return (
                f"{self._share(self.escaped)} have letters as entities of HTML (`&eacute;` for `é`); convert the "
                "file: python -c 'import html, sys; sys.stdout.writelines(map(html.unescape, sys.stdin))' <FILE >NEW"
            )
        if self.decomposed > many and self.lines >= FEWEST_JUDGED_LINES:
            return (
                f"{self._share(self.decomposed)} have letters apart from their accents (Unicode's NFD), which "
                "tokenizers divide; convert the file to NFC, e.g. with uconv -x nfc"
            )
        for encoding, lines in self.misread.most_common(1):
            if lines > many and self.lines >= FEWEST_JUDGED_LINES:
                wrong, right = _example_of_misreading(self.misread_line, encoding)
                return (
                    f"{self._share(lines)} are UTF-8 that was read as {encoding} and saved again (`{wrong}` for "
                    f"`{right}`); fetch the original, or convert the file back: iconv -f UTF-8 -t {encoding} <FILE >NEW"
                )
        if self.size > LONGEST_MEAN * self.lines:
            return (
                f"the lines have {self.size // self.lines:,} bytes on average (there are {self.lines:,}); give one "
                "sentence a line, and end it with LF"
            )
        return None

    def describe_encoding(self) -> str:
        """Return which encoding the faulty lines look like, and how to convert them."""
        encoding = self._encoding()
        if encoding is None:
            return "convert the file to UTF-8 with iconv, or remove the bytes that are not text"
        return f"the file looks like {encoding}; convert it: iconv -f {_name_for_iconv(encoding)} -t UTF-8 <FILE >NEW"

    def _share(self, lines: int) -> str:
        return f"{lines:,} of {self.lines:,} lines"

    def _encoding(self) -> str | None:
        for mark, name in BYTE_ORDER_MARKS.items():
            if self.beginning.startswith(mark):
                return name
        if self.zeros > self.lines / 2:
            return _wide_encoding(self.beginning)
        sample = b"\n".join(self.sample)
        others = sum(byte >= 0x80 for byte in sample)
        if others < len(sample) / 2:
            return _most_likely_encoding(sample, LATIN_ENCODINGS, SMALLEST_SHARE_OF_LATIN)
        return _most_likely_encoding(sample, MULTIBYTE_ENCODINGS, SMALLEST_SHARE_OF_OTHERS) or _most_likely_encoding(
            sample, SINGLE_BYTE_ENCODINGS, SMALLEST_SHARE_OF_OTHERS
        )


def _is_letter(entity: str) -> bool:
    """Return whether an entity of HTML is a letter outside ASCII; the escapes of Moses are none."""
    character = unescape(entity)
    return character.isalpha() and not character.isascii()


def _find_misreading(text: str) -> list[str]:
    """Return the encodings in which a line of UTF-8 may have been read before it was saved as UTF-8 again.

    All characters of the line have to be bytes of UTF-8, which they seldom are by chance: three adjacent ones, or two
    that stand for a frequent character.
    """
    encodings = []
    for encoding in MISREADING_ENCODINGS:
        try:
            original = text.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        others = [character for character in original if not character.isascii()]
        if len(others) >= FEWEST_CHARACTERS or not FREQUENT_CHARACTERS.isdisjoint(others):
            encodings.append(encoding)
    return encodings


def _example_of_misreading(line: str, encoding: str) -> tuple[str, str]:
    """Return the first misread character of a line, and what it stands for."""
    original = line.encode(encoding, errors="replace").decode("utf-8", errors="replace")
    right = next(character for character in original if not character.isascii())
    return right.encode("utf-8").decode(encoding, errors="replace"), right


def _most_likely_encoding(sample: bytes, encodings: Mapping[str, str], smallest_share: float) -> str | None:
    """Return the encoding in which most characters outside ASCII are frequent ones, if enough are."""
    shares = {name: _share_of_frequent(sample, name, characters) for name, characters in encodings.items()}
    best = max(shares, key=lambda name: round(shares[name], 1))
    return best if shares[best] >= smallest_share else None


def _name_for_iconv(encoding: str) -> str:
    return encoding.split()[-1].strip("()")


def _wide_encoding(beginning: bytes) -> str | None:
    """Tell UTF-16 and UTF-32 without a byte order mark apart by the places of NUL bytes."""
    zeros = [beginning[place::4].count(0) for place in range(4)]
    if sum(zeros) < len(beginning) / 8:  # not of ASCII
        return "UTF-16"
    if min(zeros[1:]) > 2 * zeros[0]:
        return "UTF-32LE"
    if min(zeros[:3]) > 2 * zeros[3]:
        return "UTF-32BE"
    even, odd = zeros[0] + zeros[2], zeros[1] + zeros[3]
    return "UTF-16LE" if odd > 2 * even else "UTF-16BE" if even > 2 * odd else None


def _share_of_frequent(sample: bytes, encoding: str, frequent: str) -> float:
    """Return which part of a sample's characters outside ASCII is frequent in text in an encoding."""
    text = sample.decode(_name_for_iconv(encoding), errors="replace")
    others = [character for character in text if not character.isascii()]
    return sum(character in frequent for character in others) / max(len(others), 1)


def describe_encoding(lines: Iterable[bytes]) -> str:
    """Return which encoding a text that is not UTF-8 looks like, and how to convert it."""
    faults = LineFaults()
    for line in islice(lines, SEARCHED_LINES):
        faults.add(line)
        if len(faults.sample) == SAMPLE_LINES:
            break
    return faults.describe_encoding()


def describe_faults(lines: Iterable[bytes]) -> str | None:
    """Return what is wrong with a text as a whole, with the remedy, or None."""
    faults = LineFaults()
    for line in lines:
        faults.add(line)
    return faults.describe()


def checked_lines(lines: Iterable[bytes], path: Path) -> Iterator[bytes]:
    """Yield the lines of a text, and judge the text as a whole after the last.

    Raises:
        InputError: more than 1 % of the lines are not UTF-8, have NUL bytes, lost characters, entities for letters or
            tags of segments, are not in NFC or were misread before they were saved as UTF-8, lines end in CR, or lines
            are far longer than sentences.
    """
    faults = LineFaults()
    for line in lines:
        faults.add(line)
        yield line
    if message := faults.describe():
        raise InputError(message, path)
