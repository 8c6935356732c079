"""Comparison of sentences by what a network sees of them."""

from collections.abc import Callable
from hashlib import blake2b

from pipeline_py.corpus.characters import without_invisible, without_joiners
from pipeline_py.corpus.moses import unescape
from pipeline_py.corpus.normalize_punctuation import punctuation_normalizer


def fingerprint(text: str) -> int:
    """Hash a text to 64 bits; surrogates in it stand for bytes that are not UTF-8."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).digest(), "little")


def sentence_hasher(
    is_tokenized: bool = False, ignores_case: bool = False, punctuation_language: str | None = None
) -> Callable[[str], int]:
    """Return a function that hashes a clean sentence; sentences that become the same tokens have the same hash.

    The tokenizer of a text that is not tokenized removes invisible characters, and sets spaces. So such a sentence is
    compared without both: `Hello , world` is `Hello, world`, and also `any one` is `anyone`.

    Args:
        is_tokenized: The text is tokenized: words are compared, with all their characters but the escapes of Moses.
        ignores_case: The text is lower-cased or truecased later.
        punctuation_language: The language by whose rules punctuation is normalized later; None: it is kept.
    """
    normalize = None if punctuation_language is None else punctuation_normalizer(punctuation_language)

    def hash_sentence(sentence: str) -> int:
        if normalize is not None:
            sentence = normalize(sentence)
        sentence = unescape(sentence) if is_tokenized else without_joiners(without_invisible(sentence))
        words = (" " if is_tokenized else "").join(sentence.split())
        # Lower-casing makes a sigma at the end of a word another letter, and ends are not known without spaces.
        return fingerprint(words.lower().replace("ς", "σ") if ignores_case else words)

    return hash_sentence
