"""Tests of the alignment of words with tokens, partly against exhaustive search."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.syntax.trees.dependency import MultiwordToken
from pipeline_py.syntax.words.token_alignment import (
    DifferentWordsError,
    WordTokenMatch,
    align_words_with_tokens,
    normalize_spelling,
)

DONT = MultiwordToken(2, 3, "don't")


def spans(matches: list[WordTokenMatch]) -> list[tuple[str, list[int], list[int]]]:
    return [(match.form, list(match.word_range), list(match.token_range)) for match in matches]


def test_text_decides_for_each_multiword_token() -> None:
    words = ["I", "do", "n't", "or", "ca", "n't"]
    multiword = [DONT, MultiwordToken(5, 6, "can't")]
    assert spans(align_words_with_tokens(words, ["I", "don't", "or", "ca", "n't"], multiword)) == [
        ("I", [0], [0]),
        ("don't", [1, 2], [1]),
        ("or", [3], [2]),
        ("ca", [4], [3]),
        ("n't", [5], [4]),
    ]
    assert [match.form for match in align_words_with_tokens(words, words, multiword)] == words
    assert len(align_words_with_tokens(words, ["I", "don't", "or", "can't"], multiword)) == 4


def test_word_with_a_space_may_be_several_tokens() -> None:
    words = ["10\u00a0000", "Leute", "z.\u00a0B."]
    assert spans(align_words_with_tokens(words, ["10", "000", "Leute", "z.\u00a0B."])) == [
        ("10\u00a0000", [0], [0, 1]),
        ("Leute", [1], [2]),
        ("z.\u00a0B.", [2], [3]),
    ]


@pytest.mark.parametrize("space", ["\u00a0", "\u2009", "\u202f", "\u3000", "\u200b", "\u200b\u00a0"])
def test_any_white_space_may_divide_a_word(space: str) -> None:
    assert spans(align_words_with_tokens([f"10{space}000", "x"], ["10", "000", "x"])) == [
        (f"10{space}000", [0], [0, 1]),
        ("x", [1], [2]),
    ]
    assert len(align_words_with_tokens([f"a{space}b"], [f"a{space}b"])) == 1
    with pytest.raises(DifferentWordsError):
        align_words_with_tokens([f"a{space}b"], ["ab"])


def test_space_within_a_word_may_be_an_underscore() -> None:
    assert spans(align_words_with_tokens(["10\u00a0000", "x"], ["10_000", "x"])) == [
        ("10\u00a0000", [0], [0]),
        ("x", [1], [1]),
    ]


@pytest.mark.parametrize("form", ["Zeile\u00adn", "\ufeffZeilen", "Zeilen\u200f", "Zei\u2060len", "\u200bZeilen"])
def test_invisible_characters_are_ignored(form: str) -> None:
    assert len(align_words_with_tokens([form], ["Zeilen"])) == len(align_words_with_tokens([form], [form])) == 1
    assert len(align_words_with_tokens(["x", "y"], ["zeilen"], [MultiwordToken(1, 2, form)], ignore_case=True)) == 1
    assert (
        len(align_words_with_tokens([f"{form}\u00a0x"], ["Zeilen", "x"]))
        == len(align_words_with_tokens([f"{form}\u202fx"], [form, "x"]))
        == 1
    )
    with pytest.raises(DifferentWordsError):
        align_words_with_tokens([form], ["Zeile"])


def test_apparent_multiword_token_may_be_a_word() -> None:
    # "a" could be the token a = b + c, but then the rest would not fit.
    words, multiword = ["a", "b"], [MultiwordToken(1, 2, "a")]
    assert [match.form for match in align_words_with_tokens(words, ["a", "b"], multiword)] == ["a", "b"]
    assert [match.form for match in align_words_with_tokens(words, ["a"], multiword)] == ["a"]


def test_words_have_priority_if_both_readings_fit() -> None:
    assert len(align_words_with_tokens(["a", "b"], ["a", "b"], [MultiwordToken(1, 2, "a\u00a0b")])) == 2
    assert [match.form for match in align_words_with_tokens(["("], ["("], [MultiwordToken(1, 1, "-LRB-")])] == ["("]


def test_spelling_and_case_may_differ() -> None:
    assert len(align_words_with_tokens(["-LSB-", "``", "A\\/B"], ["[", '"', "A/B"])) == 3
    assert len(align_words_with_tokens(["(", '"', "A/B"], ["-LRB-", "''", "A\\/B"])) == 3
    with pytest.raises(DifferentWordsError):
        align_words_with_tokens(["The"], ["the"])
    assert len(align_words_with_tokens(["The", "-LRB-"], ["the", "-lrb-"], ignore_case=True)) == 2
    assert (
        len(align_words_with_tokens(["do", "N'T"], ["Don't"], [MultiwordToken(1, 2, "dON'T")], ignore_case=True)) == 1
    )


@pytest.mark.parametrize(
    ("words", "tokens", "message"),
    [
        (["a", "b"], ["a", "c"], "word 2 of the tree is 'b' and of the text 'c'"),
        (["a", "b"], ["a"], "word 2 of the tree is 'b' and the text ends after 1 words"),
        (["a"], ["a", "b"], "the tree ends after 1 words and the text goes on with 'b'"),
        ([], ["a"], "the tree ends after 0 words and the text goes on with 'a'"),
        (["a"], [], "word 1 of the tree is 'a' and the text ends after 0 words"),
        (["a", "do", "n't", "x"], ["a", "don't", "y"], "word 4 of the tree is 'x' and of the text 'y'"),
        (["a", "do", "n't", "x"], ["a", "do", "not", "x"], "word 3 of the tree is \"n't\" and of the text 'not'"),
    ],
)
def test_error_names_the_first_difference(words: list[str], tokens: list[str], message: str) -> None:
    with pytest.raises(DifferentWordsError, match=f"^{message}$"):
        align_words_with_tokens(words, tokens, [DONT] if len(words) == 4 else [])


def readings(words: list[str], multiword: list[MultiwordToken], place: int = 0) -> Iterator[list[str]]:
    """Yield every way to write the words from `place` on."""
    if place == len(words):
        yield []
        return
    choices = [(words[place], place + 1)]
    choices += [(token.form, token.last_word) for token in multiword if token.first_word == place + 1]
    for form, after in choices:
        for tokens in ([form], form.split("\u00a0")):
            for rest in readings(words, multiword, after):
                yield [*tokens, *rest]


FORMS = st.sampled_from(["a", "b", "a\u00a0b", "b\u00a0a"])


@st.composite
def sentences(draw: st.DrawFn) -> tuple[list[str], list[MultiwordToken]]:
    words = draw(st.lists(FORMS, max_size=5))
    multiword: list[MultiwordToken] = []
    first = 1
    while first <= len(words):
        last = draw(st.integers(first - 1, min(first + 2, len(words))))
        if last >= first:
            multiword.append(MultiwordToken(first, last, draw(FORMS)))
        first = max(last, first) + 1
    return words, multiword


@given(sentences(), st.lists(st.sampled_from(["a", "b", "a\u00a0b"]), max_size=6), st.data())
def test_alignment_is_found_if_there_is_one(
    sentence: tuple[list[str], list[MultiwordToken]], random_tokens: list[str], data: st.DataObject
) -> None:
    words, multiword = sentence
    possible = list(readings(words, multiword))
    tokens = data.draw(st.one_of(st.just(random_tokens), st.sampled_from(possible)))
    if tokens not in possible:
        with pytest.raises(DifferentWordsError):
            align_words_with_tokens(words, tokens, multiword)
        return
    matches = align_words_with_tokens(words, tokens, multiword)
    assert [place for match in matches for place in match.word_range] == list(range(len(words)))
    assert [place for match in matches for place in match.token_range] == list(range(len(tokens)))
    forms = {(place, place + 1): {word} for place, word in enumerate(words)}
    for token in multiword:
        forms.setdefault((token.first_word - 1, token.last_word), set()).add(token.form)
    for match in matches:
        assert match.form in forms[match.word_range.start, match.word_range.stop]
        assert match.form == "\u00a0".join(tokens[place] for place in match.token_range)


@pytest.mark.parametrize(
    ("escaped", "plain"),
    [
        ("-LRB-", "("),
        ("-RRB-", ")"),
        ("-LSB-", "["),
        ("-RSB-", "]"),
        ("-LCB-", "{"),
        ("-RCB-", "}"),
        ("-lrb-", "("),
        ("&apos;s", "'s"),
        ("&#91;", "["),
        (":--RRB-", ":-)"),
        ("-LRB-s-RRB-", "(s)"),
        ("``", '"'),
        ("''", '"'),
        ("1\\/2", "1/2"),
        ("\\*\\*", "**"),
        ("and\\/or", "and/or"),
    ],
)
def test_escapes_are_undone(escaped: str, plain: str) -> None:
    assert normalize_spelling(escaped) == plain
    assert normalize_spelling(plain) == plain


@pytest.mark.parametrize("word", ["-LXB-", "LRB", "'", "`", "rock''n", "\\", "\\n", "\u00a0x", "-Lſb-", "ﬁ", "İ"])
def test_other_spellings_are_unchanged(word: str) -> None:
    assert normalize_spelling(word) == word


def test_case_can_be_ignored() -> None:
    assert normalize_spelling("The") == "The"
    assert normalize_spelling("The", ignore_case=True) == "the"
    assert normalize_spelling("-LRB-ΟΔΌΣ", ignore_case=True) == "(οδός"
