"""Words of a parallel text to which generated sentences are limited."""

import gzip
from pathlib import Path

from embedded_grammar.vocabulary import read_vocabulary


def test_frequent_words_are_counted_without_case_and_punctuation(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("The dog, the man.\n", encoding="utf-8")
    (tmp_path / "b.en.gz").write_bytes(gzip.compress(b"A dog!\nThe cat\n"))
    (tmp_path / "a.de").write_text("Der Hund über dem Hund\n", encoding="utf-8")
    vocabulary = read_vocabulary([tmp_path / "a.en", tmp_path / "b.en.gz"], [tmp_path / "a.de"], 2)
    assert vocabulary is not None
    assert (vocabulary.english, vocabulary.german) == ({"the", "dog"}, {"hund"})
    assert vocabulary.has_words("The dog .", "Hund .", "hund") and not vocabulary.has_words("The cat .", "Hund .")
    assert not vocabulary.has_words("The dog .", "Hund .", "der Hund .")


def test_all_words_may_occur_by_default() -> None:
    assert read_vocabulary([], [], 0) is None
