"""A hundred sentences in the words of English treebanks, and three treebanks against their own text."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import conllu
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.syntax.words.english_words import find_english_words

SENTENCES = (Path(__file__).parent / "english_words.txt").read_text(encoding="utf-8").splitlines()
TREEBANKS = Path(__file__).parents[3] / "../shared/data/treebanks"


def words(text: str, hyphens: bool = True) -> list[str]:
    return [text[start:end] for start, end in find_english_words(text, hyphens)]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_words_of_a_hundred_sentences(sentence: str) -> None:
    text, expected = sentence.split("\t")
    assert words(text) == expected.split(" ")


def test_there_are_a_hundred() -> None:
    assert len(set(SENTENCES)) == len(SENTENCES) >= 100


@pytest.mark.parametrize("sentence", SENTENCES)
def test_words_are_those_of_the_lower_cased_text(sentence: str) -> None:
    """But for initials, which are known by their capitals."""
    text, expected = sentence.split("\t")
    if "J. R." not in text:
        assert words(text.lower()) == expected.lower().split(" ")


def test_compounds_stay_whole_where_the_treebank_has_them_so() -> None:
    assert words("My mother-in-law's well-known e-mail isn't 20 - 30", hyphens=False) == (
        ["My", "mother-in-law", "'s", "well-known", "e-mail", "is", "n't", "20", "-", "30"]
    )


def test_what_moses_has_torn_is_one_word() -> None:
    text = "i can 't go ; she isn 't , it 's the boys 'll say 't"
    assert words(text) == [
        *("i", "ca", "n 't", "go", ";", "she", "is", "n 't", ",", "it", "'s", "the", "boys", "'ll", "say", "'", "t")
    ]


@given(st.text(st.sampled_from(list("aAnt's ’.,-:/@#0 1$&ü\u0301👩\u200d\ufe0f\u00a0(\"…")), max_size=60))
def test_every_character_is_in_one_word_and_no_word_holds_white_space(text: str) -> None:
    spans = find_english_words(text)
    assert all(start < end for start, end in spans)
    assert "".join(text[start:end] for start, end in spans).replace(" ", "") == "".join(text.split())
    assert all(text[start:end].split() == [text[start:end]] or "n '" in text[start:end] for start, end in spans)


@pytest.mark.parametrize("text", ["a-", "1-", "a.", "'s", "a@", "1,", "www.", "don '", "etc. ", "-", "x.com/", "a b- "])
def test_long_text_of_one_kind_takes_no_longer_than_its_length(text: str) -> None:
    """Twenty thousand of each: with backtracking over the whole of them this would take minutes."""
    assert "".join(words(text * 20_000)).replace(" ", "") == (text * 20_000).replace(" ", "")


def gold(path: Path) -> Iterator[tuple[str, set[tuple[int, int]]]]:
    """The text of each sentence and where its words are; those of a token that they do not spell are in its place."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for sentence in conllu.parse_incr(file):
            text, spans, end, inside = sentence.metadata["text"], set(), 0, 0
            for row in sentence:
                if isinstance(row["id"], tuple) and row["id"][1] == "-":
                    start = text.index(row["form"], end)
                    end = start + len(row["form"])
                    inside = row["id"][2]
                    forms = [word["form"] for word in sentence if word["id"] in range(row["id"][0], inside + 1)]
                    spelt = "".join(forms) == row["form"]
                    for form in forms:
                        spans.add((start, start + len(form) if spelt else end))
                        start += len(form) if spelt else 0
                elif isinstance(row["id"], int) and row["id"] > inside:
                    start = text.index(row["form"], end)
                    end = start + len(row["form"])
                    spans.add((start, end))
            yield text, spans


@pytest.mark.parametrize(("treebank", "least"), [("en_ewt", 0.99), ("en_gum", 0.995), ("en_pud", 0.999)])
def test_words_of_a_treebank(treebank: str, least: float) -> None:
    path = TREEBANKS / treebank / "test.conllu.gz"
    if not path.exists():
        pytest.skip(f"the treebank {treebank} is not on this machine")
    right = found = known = 0
    for text, expected in gold(path):
        spans = set(find_english_words(text))
        right, found, known = right + len(spans & expected), found + len(spans), known + len(expected)
    assert 2 * right / (found + known) >= least


@pytest.mark.parametrize("treebank", ["en_ewt", "en_gum", "en_pud"])
def test_words_stay_what_they_are(treebank: str) -> None:
    """Text that is in the words of a treebank already keeps them."""
    path = TREEBANKS / treebank / "test.conllu.gz"
    if not path.exists():
        pytest.skip(f"the treebank {treebank} is not on this machine")
    changed = sentences = 0
    for text, expected in gold(path):
        forms = [text[start:end] for start, end in sorted(expected) if " " not in text[start:end]]
        sentences += 1
        changed += words(" ".join(forms)) != forms
    assert changed / sentences < 0.04
