"""The spelling in which Stanza's parsers learn and read words."""

from unicodedata import normalize

from pipeline_py.syntax.words.treebank_spelling import WORD_SPACE, spell_word


def parser_spelling(word: str, word_space: str = WORD_SPACE) -> str:
    """Return a word in NFC, the form of treebanks and word vectors: `é` is one character and not `e` with an accent.

    Args:
        word: of a treebank or a text.
        word_space: takes the place of white space within the word; `_` for parsers that are trained here.
    """
    return normalize("NFC", spell_word(word, word_space=word_space))
