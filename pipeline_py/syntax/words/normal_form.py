"""Text in Unicode's NFC, and the place of each of its characters in the original text."""

import unicodedata
from collections.abc import Iterator, Sequence


def compose(text: str) -> tuple[str, Sequence[int]]:
    """Return text in NFC, and for each of its characters the first original one; the last number is the text's length.

    A character and the marks that follow it are one unit: a boundary between two units has the same place in both.
    """
    if unicodedata.is_normalized("NFC", text):
        return text, range(len(text) + 1)
    composed = ""
    starts: list[int] = []
    for start, end in _units(text):
        unit = unicodedata.normalize("NFC", text[start:end])
        composed += unit
        starts += (min(start + place, end - 1) for place in range(len(unit)))
    return composed, [*starts, len(text)]


def _units(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the shortest stretches that NFC composes independently of each other."""
    start = 0
    for place in range(1, len(text)):
        unit = unicodedata.normalize("NFC", text[start:place])
        joined = unicodedata.normalize("NFC", text[start : place + 1])
        is_mark = unicodedata.combining(text[place]) != 0
        if not is_mark and joined == unit + unicodedata.normalize("NFC", text[place]):
            yield start, place
            start = place
    if text:
        yield start, len(text)
