"""Tests of word tables in several languages."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.syntax.words.parser_words import (
    AMBIGUOUS_TOKENS_NOTE,
    SEVERAL_WORDS_NOTE,
    ParserSentence,
    WordSpan,
    build_parser_sentence,
)
from pipeline_py.syntax.words.word_table import (
    TokenTextMismatchError,
    TreebankToken,
    WordTable,
    count_readings,
    divide_into_blocks,
)


def treebank(notation: str) -> list[TreebankToken]:
    """Build tokens from `du=de+le pain` (token=words); `~` is a space within a word."""
    tokens = [token.partition("=") for token in notation.split(" ")]
    return [
        TreebankToken(form.replace("~", "\u00a0"), tuple((words or form).replace("~", "\u00a0").split("+")))
        for form, _, words in tokens
    ]


def table(*sentences: tuple[str, str]) -> WordTable:
    """Learn a table from pairs of tokenized text and treebank notation."""
    return WordTable(count_readings([(tokens.split(" "), treebank(notation)) for tokens, notation in sentences]))


def read(learned: WordTable, tokens: str) -> ParserSentence:
    (words,) = learned.divide_sentences([tokens])
    return build_parser_sentence(tuple(tokens.split(" ")), tokens, words)


@pytest.mark.parametrize(
    ("tokens", "notation", "text", "words"),
    [
        # French: contractions, a word that Moses divides, words within a token.
        ("du pain", "du=de+le pain", "le goût du vin", "le goût de le vin"),
        ("aujourd' hui", "aujourd'hui", "venez aujourd' hui", "venez aujourd'hui"),
        ("a-t-il dormi", "a -t-il dormi", "où a-t-il mangé", "où a -t-il mangé"),
        # Italian and Spanish: articles, and pronouns behind the verb.
        ("nella casa", "nella=in+la casa", "è nella scuola", "è in la scuola"),
        ("portarlo via", "portarlo=portar+lo via", "vuole portarlo qui", "vuole portar lo qui"),
        ("dámelo ya", "dámelo=da+me+lo ya", "no , dámelo", "no , da me lo"),
        # German: a preposition with an article.
        ("zum Haus", "zum=zu+dem Haus", "er geht zum Arzt", "er geht zu dem Arzt"),
        # Turkish: a copula, and a suffix that Moses separates.
        ("ABD 'deki dönüşüm", "ABD'deki=ABD'de+ki dönüşüm", "ABD 'deki kriz", "ABD'de ki kriz"),
        ("evdeydi", "evdeydi=evde+ydi", "Ali evdeydi", "Ali evde ydi"),
        # Arabic: prefixes and pronouns.
        ("وقال له", "وقال=و+قال له=ل+ه", "ثم وقال له", "ثم و قال ل ه"),
        # Chinese: words that a segmenter divides or joins otherwise.
        ("这 本书", "这 本 书", "我 看 本书", "我 看 本 书"),
        ("中华 人民 好", "中华人民 好", "在 中华 人民 中", "在 中华人民 中"),
        # Vietnamese: words with spaces.
        ("chủ tịch nói", "chủ~tịch nói", "ông chủ tịch", "ông chủ_tịch"),
        # Numbers of the same shape.
        ("10 000 euros", "10~000 euros", "coûte 25 300 francs", "coûte 25_300 francs"),
    ],
)
def test_tokens_are_divided_as_in_the_treebank(tokens: str, notation: str, text: str, words: str) -> None:
    learned = table((tokens, notation))
    assert read(learned, text).words == tuple(words.split(" "))
    unknown = "tokens without entries ."
    assert read(learned, unknown).placement is None


def test_words_are_placed_in_tokens() -> None:
    sentence = read(table(("au jour", "au=à+le jour")), "au parc")
    assert sentence.placement is not None and sentence.placement.word_tokens == (0, 0, 1)
    assert [(token.first_word, token.last_word, token.form) for token in sentence.multiword_tokens] == [(1, 2, "au")]
    assert sentence.difference_counts == {SEVERAL_WORDS_NOTE: 1}


def test_only_clear_readings_are_used() -> None:
    divided, undivided = ("des jours", "des=de+les jours"), ("des jours", "des jours")
    assert read(table(*[divided] * 2, undivided), "des").words == ("de", "les")
    assert read(table(divided, *[undivided] * 2), "des").words == ("des",)
    unclear = table(*[divided] * 3, *[undivided] * 2)
    assert read(unclear, "des").difference_counts == {AMBIGUOUS_TOKENS_NOTE: 1}
    assert read(unclear, "des").words == ("des",)
    assert unclear.is_ambiguous(("des",)) and unclear.entries == [("des",)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("la fin des jours", "la fin de les jours"),
        ("il voit des jours", "il voit des jours"),
        ("la fonction des jours", "la fonction de les jours"),  # last letters
        ("il boit des jours", "il boit des jours"),
        ("avec des jours", "avec des jours"),  # the treebank does not know: no reading is clear
        ("des jours", "des jours"),
    ],
)
def test_previous_token_decides_between_readings(text: str, words: str) -> None:
    learned = table(
        ("fin des jours", "fin des=de+les jours"),
        ("nation des jours", "nation des=de+les jours"),
        ("voit des jours", "voit des jours"),
        ("des jours", "des jours"),
    )
    assert read(learned, text).words == tuple(words.split(" "))


def test_separate_words_count_against_joining_tokens() -> None:
    joined, apart = ("một số người", "một~số người"), ("một số người", "một số người")
    assert read(table(*[joined] * 2, apart), "có một số").words == ("có", "một_số")
    assert read(table(joined, apart), "có một số").words == ("có", "một", "số")


def test_case_decides_if_the_treebank_has_it() -> None:
    learned = table(("Au est un métal", "Au est un métal"), *[("au jour", "au=à+le jour")] * 3)
    assert read(learned, "Au").words == ("Au",)
    assert read(learned, "AU jour").words == ("à", "le", "jour")
    learned = table(("Du pain", "Du=De+le pain"))
    assert read(learned, "du pain").words == ("de", "le", "pain")


def test_longest_entry_has_priority() -> None:
    learned = table(("a b c", "a~b~c"), ("a b", "a~b"), ("b d", "b~d"))
    assert read(learned, "a b c").words == ("a_b_c",)
    assert read(learned, "a b d").words == ("a_b", "d")


def test_words_have_the_case_of_the_text() -> None:
    learned = table(("aujourd' hui", "aujourd'hui"))
    assert read(learned, "AUJOURD' HUI").words == ("AUJOURD'HUI",)


def test_table_round_trip(tmp_path: Path) -> None:
    learned = table(("du pain à 10 000", "du=de+le pain à 10~000"), ("du vin", "du vin"))
    learned.write(tmp_path / "table")
    assert (tmp_path / "table").read_text(encoding="utf-8") == (
        "tokens\tbefore\twords\tcount\n00 000\t\t00_000\t1\n"
        "du\t\tde le\t1\ndu\t\tdu\t1\ndu\t^\tde le\t1\ndu\t^\tdu\t1\n"
    )
    again = WordTable.read(tmp_path / "table")
    assert read(again, "il y a 20 000 du").words == ("il", "y", "a", "20_000", "du")


def test_empty_table_keeps_tokens() -> None:
    assert read(WordTable({}), "a b").placement is None
    assert list(WordTable({}).divide_sentences(["", "a"])) == [[], [(0, 1, None, False)]]


def test_blocks_of_different_texts_are_rejected() -> None:
    with pytest.raises(TokenTextMismatchError):
        divide_into_blocks(["a", "b"], treebank("a c"))
    with pytest.raises(TokenTextMismatchError):
        divide_into_blocks(["a", "\u200d"], treebank("a"))


@given(st.text("ab", min_size=1, max_size=9), st.sets(st.integers(1, 8)), st.sets(st.integers(1, 8)))
def test_blocks_cover_tokens_and_words(text: str, cuts: set[int], treebank_cuts: set[int]) -> None:
    def cut(places: set[int]) -> Sequence[str]:
        edges = [0, *sorted(place for place in places if place < len(text)), len(text)]
        return [text[start:end] for start, end in pairwise(edges)]

    tokens, words = cut(cuts), cut(treebank_cuts)
    blocks = divide_into_blocks(tokens, [TreebankToken(word, (word,)) for word in words])
    assert ["".join(tokens[a.start : a.stop]) for a, _ in blocks] == [
        "".join(words[b.start : b.stop]) for _, b in blocks
    ]
    assert sum(len(a) for a, _ in blocks) == len(tokens) and sum(len(b) for _, b in blocks) == len(words)


@pytest.mark.parametrize(
    ("tokens", "notation", "words"),
    [
        ("à côté", "à côté=cô+té", ["à", "cô", "té"]),
        ("dès", "dès=de+lès", ["de", "lès"]),
        ("chủ tịch", "chủ~tịch", ["chủ_tịch"]),
    ],
)
@pytest.mark.parametrize("forms", [("NFC", "NFD"), ("NFD", "NFC"), ("NFD", "NFD")])
def test_entries_match_any_normal_form(
    tokens: str, notation: str, words: list[str], forms: tuple[Literal["NFC", "NFD"], Literal["NFC", "NFD"]]
) -> None:
    learned = table(tuple(normalize(forms[0], side) for side in (tokens, notation)))
    text = normalize(forms[1], tokens)
    (words_of_text,) = learned.divide_sentences([text])
    spans = [(word.start, word.end) for word in words_of_text]
    sentence = build_parser_sentence(tuple(text.split(" ")), text, words_of_text)
    assert [normalize("NFC", word) for word in sentence.words] == words
    assert sentence.tokens == tuple(text.split(" ")), "tokens stay as they are"
    assert all(normalize("NFC", text[start:end]).replace(" ", "_") in {*words, tokens} for start, end in spans)


def test_multiword_tokens_are_expanded_after_a_tokenizer() -> None:
    """`evdeydi` stays undivided, since its characters spell its words."""
    learned = table(
        ("du jour", "du=de+le jour"), ("evdeydi", "evdeydi=evde+ydi"), ("des", "des=de+les"), ("des", "des")
    )
    text = "evdeydi du des"
    divide = learned.build_expanding_divider(
        lambda texts: ([WordSpan(0, 7), WordSpan(8, 10), WordSpan(11, 14)] for _ in texts)
    )
    assert [*divide([text])] == [
        [WordSpan(0, 7), WordSpan(8, 10, "de"), WordSpan(8, 10, "le"), WordSpan(11, 14, is_ambiguous=True)],
    ]
