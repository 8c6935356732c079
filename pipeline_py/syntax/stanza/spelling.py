"""The spelling in which Stanza's parsers learn and read words."""

from unicodedata import normalize


def parser_spelling(word: str) -> str:
    """Return a word in NFC, the form of treebanks and word vectors: `é` is one character and not `e` with an accent."""
    return normalize("NFC", word)
