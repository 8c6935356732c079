"""Tests of parser sentences: placement of words in tokens, counts and mismatches."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.constituency import PhraseNode, PhraseTree, Preterminal
from pipeline_py.syntax.trees.dependency import DependencyTree, MultiwordToken, find_head_error
from pipeline_py.syntax.words.english_words import find_english_words
from pipeline_py.syntax.words.parser_words import (
    OTHER_WORDS_NOTE,
    SEVERAL_WORDS_NOTE,
    SHARED_WORD_NOTE,
    WORD_PART_NOTE,
    ParserSentence,
    WordPlacementError,
    WordSpan,
    build_parser_sentence,
    build_parser_sentence_of_tokens,
    read_parser_sentences,
    select_word_difference_counts,
)
from pipeline_py.syntax.words.retokenize import WordPlacement, retokenize_dependency_tree, retokenize_phrase_tree


def divide_english(texts: Iterable[str]) -> Iterator[list[WordSpan]]:
    return ([WordSpan(*span) for span in find_english_words(text)] for text in texts)


Read = Callable[..., list[ParserSentence]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    return partial(read_from_folder, tmp_path)


def read_from_folder(
    folder: Path, tokens: str, text: str, counts: SentenceCounts | None = None, **part: int
) -> list[ParserSentence]:
    for name, content in (("tokens", tokens), ("text", text)):
        (folder / name).write_text("".join(f"{line}\n" for line in content.split("\n")), encoding="utf-8")
    first, sentences = part.get("first", 0), part.get("sentences")
    return list(
        read_parser_sentences(
            folder / "tokens", folder / "text", first, sentences, divide_english, counts or SentenceCounts()
        )
    )


def english(tokens: str, text: str) -> ParserSentence:
    return build_parser_sentence(tuple(tokens.split(" ")), text, [WordSpan(*span) for span in find_english_words(text)])


def test_clitics_are_divided_differently_from_moses() -> None:
    assert english("I don 't know .", "I don't know.") == ParserSentence(
        ("I", "don", "'t", "know", "."),
        ("I", "do", "n't", "know", "."),
        WordPlacement((0, 1, 2, 3, 4), (0, 1, 2, 3, 4)),
        {SHARED_WORD_NOTE: 1, WORD_PART_NOTE: 1},
    )


def test_token_of_several_words_and_word_of_several_tokens() -> None:
    assert english("We cannot meet at 10 : 30 .", "We cannot meet at 10:30.") == ParserSentence(
        ("We", "cannot", "meet", "at", "10", ":", "30", "."),
        ("We", "can", "not", "meet", "at", "10:30", "."),
        WordPlacement((0, 1, 1, 2, 3, 4, 7), (0, 1, 2, 3, 4, 4, 4, 7)),
        {SEVERAL_WORDS_NOTE: 1, WORD_PART_NOTE: 3},
    )


def test_word_is_placed_in_its_longest_part() -> None:
    assert english("the ' 90s", "the '90s").placement == WordPlacement((0, 2), (0, 2, 2))


def test_tokens_that_equal_the_words_are_parsed() -> None:
    assert english("It 's fine .", "It's fine.") == build_parser_sentence_of_tokens(("It", "'s", "fine", "."))


@pytest.mark.parametrize(
    ("tokens", "text", "words"),
    [
        ("we don 't know İstanbul , straße", "We DON'T know İstanbul, Straße", "we do n't know İstanbul , straße"),
        ("i̇stanbul isn 't", "İstanbul isn't", "i̇stanbul is n't"),
        ("ΟΔΟΣ can 't".lower(), "ΟΔΟΣ can't", "οδος ca n't"),
        ("co\u00adoperate can 't", "co\u00adoperate\u200b can't", "co\u00adoperate ca n't"),
        (
            "cafés 👩\u200d🚀 ❤\ufe0f can 't ❤\ufe0f",
            "cafés 👩\u200d🚀 ❤\ufe0f can't ❤\ufe0f",
            "cafés 👩\u200d🚀 ❤\ufe0f ca n't ❤\ufe0f",
        ),
        ("10 000 can 't", "10\u00a0000 can't", "10 000 ca n't"),
        ("i don 't", "i don 't", "i do n't"),
    ],
)
def test_words_have_the_spelling_of_the_tokens(read: Read, tokens: str, text: str, words: str) -> None:
    (sentence,) = read(tokens, text)
    assert sentence.tokens == tuple(tokens.split(" "))
    assert sentence.words == tuple(words.split(" "))


def test_multiword_token_has_the_forms_of_the_treebank() -> None:
    text = "Du pain du jour"
    words = [
        WordSpan(0, 2, "De"),
        WordSpan(0, 2, "le"),
        WordSpan(3, 7),
        WordSpan(8, 10, "de"),
        WordSpan(8, 10, "le"),
        WordSpan(11, 15),
    ]
    sentence = build_parser_sentence(("du", "pain", "du", "jour"), text, words)
    assert sentence == ParserSentence(
        ("du", "pain", "du", "jour"),
        ("de", "le", "pain", "de", "le", "jour"),
        WordPlacement((0, 0, 1, 2, 2, 3), (0, 1, 2, 3)),
        {SEVERAL_WORDS_NOTE: 2},
        (MultiwordToken(1, 2, "du"), MultiwordToken(4, 5, "du")),
    )


def test_mismatches_are_parsed_as_tokens_and_counted(read: Read) -> None:
    counts = SentenceCounts()
    sentences = read("a b\n\ndon 't\n\u200d\nx", "a c\n\ndon't\n\u200d\n", counts)
    assert sentences[0] == build_parser_sentence_of_tokens(("a", "b"))
    assert sentences[1] == build_parser_sentence_of_tokens(())
    assert sentences[2].words == ("do", "n't")
    assert sentences[3] == build_parser_sentence_of_tokens(("\u200d",))
    assert sentences[4] == build_parser_sentence_of_tokens(("x",))
    assert counts.noted_by_reason == {
        OTHER_WORDS_NOTE: 0,
        SEVERAL_WORDS_NOTE: 0,
        WORD_PART_NOTE: 0,
        SHARED_WORD_NOTE: 0,
        "parsed in its tokens: its text has other characters": 2,
        "parsed in its tokens: nothing to be seen": 1,
    }
    assert list(select_word_difference_counts(counts.noted_by_reason)) == [
        *(OTHER_WORDS_NOTE, SEVERAL_WORDS_NOTE, WORD_PART_NOTE, SHARED_WORD_NOTE),
        *list(counts.noted_by_reason)[4:],
    ]
    assert select_word_difference_counts({"empty line": 1}) == {}


def test_slice_has_the_lines_of_both_files(read: Read) -> None:
    tokens, text = "a\nb c\ndon 't\nd", "a\nb c\ndon't\nd"
    sentences = read(tokens, text)
    assert read(tokens, text, first=1, sentences=2) == sentences[1:3]
    assert read(tokens, text, first=3, sentences=5) == sentences[3:]
    assert read(tokens, text, first=4, sentences=5) == []


def test_tab_is_rejected(read: Read) -> None:
    with pytest.raises(InputError, match="tokens, line 2: a tab"):
        read("a\nb\tc", "a\nb c")


def test_counts_are_of_parsed_sentences() -> None:
    counts = SentenceCounts()
    english("I don 't know .", "I don't know.").add_to_counts(counts)
    english("I know .", "I know.").add_to_counts(counts)
    assert counts.noted_by_reason == {OTHER_WORDS_NOTE: 1, SHARED_WORD_NOTE: 1, WORD_PART_NOTE: 1}


@st.composite
def two_divisions(draw: st.DrawFn) -> tuple[tuple[str, ...], str, list[WordSpan]]:
    """Draw tokens and words of the same letters; some words have the same span."""
    letters = "abcdefghijklmnop"[: draw(st.integers(1, 16))]
    token_ends = sorted({*draw(st.sets(st.integers(1, len(letters)))), len(letters)})
    word_ends = sorted({*draw(st.sets(st.integers(1, len(letters)))), len(letters)})
    tokens = tuple(letters[a:b] for a, b in zip([0, *token_ends], token_ends, strict=False))
    words: list[WordSpan] = []
    for span in zip([0, *word_ends], word_ends, strict=False):
        number = draw(st.sampled_from([1, 1, 1, 2]))
        words += [WordSpan(*span)] if number == 1 else [WordSpan(*span, "x"), WordSpan(*span, "y")]
    return tokens, letters, words


@given(two_divisions(), st.integers(0, 2**32))
def test_any_tree_over_words_can_be_converted_to_tokens(
    divided: tuple[tuple[str, ...], str, list[WordSpan]], seed: int
) -> None:
    random, sentence = Random(seed), build_parser_sentence(*divided)
    number = len(sentence.words)
    order = list(range(1, number + 1))
    random.shuffle(order)
    heads = [0] * number
    for place, word in enumerate(order):
        heads[word - 1] = random.choice([0, *order[:place]])
    if sentence.placement is None:
        assert sentence.words == sentence.tokens
        return
    assert len(sentence.placement.word_tokens) == number
    assert list(sentence.placement.word_tokens) == sorted(sentence.placement.word_tokens)
    tree = DependencyTree(sentence.words, tuple(heads), ("l",) * number, ("U",) * number)
    converted_tree = retokenize_dependency_tree(tree, sentence.tokens, sentence.placement)
    assert converted_tree.words == sentence.tokens
    assert len(converted_tree.heads) == len(converted_tree.labels) == len(converted_tree.upos)
    assert find_head_error(converted_tree.heads) is None
    nodes: list[PhraseNode | Preterminal] = [Preterminal("T", word) for word in sentence.words]
    while len(nodes) > 1:
        first = random.randrange(len(nodes))
        last = random.randrange(first, len(nodes)) + 1
        nodes[first:last] = [PhraseNode("P", tuple(nodes[first:last]))]
        if len(nodes) > 1 and random.random() < 0.3:
            nodes = [PhraseNode("S", tuple(nodes))]
    assert retokenize_phrase_tree(PhraseTree(nodes[0]), sentence.tokens, sentence.placement).words == sentence.tokens


def test_different_characters_are_rejected() -> None:
    with pytest.raises(WordPlacementError, match="other characters"):
        english("& amp ;", "&")
