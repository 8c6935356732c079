"""Tests of the English tokenizer on a hundred sentences and on three treebanks."""

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
def test_words_of_a_sentence(sentence: str) -> None:
    text, expected = sentence.split("\t")
    assert words(text) == expected.split(" ")


def test_there_are_a_hundred_different_sentences() -> None:
    assert len(set(SENTENCES)) == len(SENTENCES) >= 100


@pytest.mark.parametrize("sentence", SENTENCES)
def test_lower_cased_text_has_the_same_words(sentence: str) -> None:
    """Initials are an exception, since they are recognized by their capitals."""
    text, expected = sentence.split("\t")
    if "J. R." not in text:
        assert words(text.lower()) == expected.lower().split(" ")


def test_compounds_can_be_kept_whole() -> None:
    assert words("My mother-in-law's well-known e-mail isn't 20 - 30", hyphens=False) == (
        ["My", "mother-in-law", "'s", "well-known", "e-mail", "is", "n't", "20", "-", "30"]
    )


def test_clitics_that_moses_divided_are_one_word() -> None:
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
def test_repetitive_text_takes_linear_time(text: str) -> None:
    """With backtracking, 20,000 repetitions would take minutes."""
    assert "".join(words(text * 20_000)).replace(" ", "") == (text * 20_000).replace(" ", "")


def gold(path: Path) -> Iterator[tuple[str, set[tuple[int, int]]]]:
    """Yield text and word spans of each sentence; words that do not spell their token have its span."""
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


@pytest.mark.parametrize(("treebank", "min_f1"), [("en_ewt", 0.99), ("en_gum", 0.995), ("en_pud", 0.999)])
def test_words_agree_with_a_treebank(treebank: str, min_f1: float) -> None:
    path = TREEBANKS / treebank / "test.conllu.gz"
    if not path.exists():
        pytest.skip(f"the treebank {treebank} is not on this machine")
    matches = total = 0
    for text, expected in gold(path):
        spans = set(find_english_words(text))
        matches, total = matches + len(spans & expected), total + len(spans) + len(expected)
    assert 2 * matches / total >= min_f1


@pytest.mark.parametrize("treebank", ["en_ewt", "en_gum", "en_pud"])
def test_tokenized_text_is_unchanged(treebank: str) -> None:
    path = TREEBANKS / treebank / "test.conllu.gz"
    if not path.exists():
        pytest.skip(f"the treebank {treebank} is not on this machine")
    changed = sentences = 0
    for text, expected in gold(path):
        forms = [text[start:end] for start, end in sorted(expected) if " " not in text[start:end]]
        sentences += 1
        changed += words(" ".join(forms)) != forms
    assert changed / sentences < 0.04
