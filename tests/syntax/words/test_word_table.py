"""Tables from tokens to the words of a treebank, in languages that divide words differently."""

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
    build_word_sentence,
)
from pipeline_py.syntax.words.word_table import (
    TokenTextMismatchError,
    TreebankToken,
    WordTable,
    count_readings,
    divide_into_blocks,
)


def treebank(written: str) -> list[TreebankToken]:
    """`du=de+le pain`: tokens of a treebank, and the words of those that have several; `~` is a space within a word."""
    tokens = [each.partition("=") for each in written.split(" ")]
    return [
        TreebankToken(form.replace("~", "\u00a0"), tuple((words or form).replace("~", "\u00a0").split("+")))
        for form, _, words in tokens
    ]


def table(*sentences: tuple[str, str]) -> WordTable:
    """A table from sentences of tokens, as a tokenizer makes them, and of the treebank."""
    return WordTable(count_readings([(tokens.split(" "), treebank(written)) for tokens, written in sentences]))


def read(learned: WordTable, tokens: str) -> ParserSentence:
    (words,) = learned.divide_sentences([tokens])
    return build_word_sentence(tuple(tokens.split(" ")), tokens, words)


@pytest.mark.parametrize(
    ("tokens", "written", "text", "words"),
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
def test_tokens_are_read_as_the_words_of_the_treebank(tokens: str, written: str, text: str, words: str) -> None:
    learned = table((tokens, written))
    assert read(learned, text).words == tuple(words.split(" "))
    unknown = "tokens without entries ."
    assert read(learned, unknown).placement is None


def test_trees_go_to_the_tokens() -> None:
    found = read(table(("au jour", "au=à+le jour")), "au parc")
    assert found.placement is not None and found.placement.word_tokens == (0, 0, 1)
    assert [(token.first_word, token.last_word, token.form) for token in found.multiword_tokens] == [(1, 2, "au")]
    assert found.difference_counts == {SEVERAL_WORDS_NOTE: 1}


def test_a_reading_counts_if_it_is_clear() -> None:
    split, whole = ("des jours", "des=de+les jours"), ("des jours", "des jours")
    assert read(table(*[split] * 2, whole), "des").words == ("de", "les")
    assert read(table(split, *[whole] * 2), "des").words == ("des",)
    unclear = table(*[split] * 3, *[whole] * 2)
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
def test_the_token_before_decides_between_readings(text: str, words: str) -> None:
    learned = table(
        ("fin des jours", "fin des=de+les jours"),
        ("nation des jours", "nation des=de+les jours"),
        ("voit des jours", "voit des jours"),
        ("des jours", "des jours"),
    )
    assert read(learned, text).words == tuple(words.split(" "))


def test_neighbors_that_are_words_of_their_own_count_against_joining_them() -> None:
    joined, apart = ("một số người", "một~số người"), ("một số người", "một số người")
    assert read(table(*[joined] * 2, apart), "có một số").words == ("có", "một_số")
    assert read(table(joined, apart), "có một số").words == ("có", "một", "số")


def test_case_decides_where_the_treebank_knows_it() -> None:
    learned = table(("Au est un métal", "Au est un métal"), *[("au jour", "au=à+le jour")] * 3)
    assert read(learned, "Au").words == ("Au",)
    assert read(learned, "AU jour").words == ("à", "le", "jour")
    learned = table(("Du pain", "Du=De+le pain"))
    assert read(learned, "du pain").words == ("de", "le", "pain")


def test_the_longest_entry_counts() -> None:
    learned = table(("a b c", "a~b~c"), ("a b", "a~b"), ("b d", "b~d"))
    assert read(learned, "a b c").words == ("a_b_c",)
    assert read(learned, "a b d").words == ("a_b", "d")


def test_characters_of_the_text_are_kept() -> None:
    learned = table(("aujourd' hui", "aujourd'hui"))
    assert read(learned, "AUJOURD' HUI").words == ("AUJOURD'HUI",)


def test_files(tmp_path: Path) -> None:
    learned = table(("du pain à 10 000", "du=de+le pain à 10~000"), ("du vin", "du vin"))
    learned.write(tmp_path / "table")
    assert (tmp_path / "table").read_text(encoding="utf-8") == (
        "tokens\tbefore\twords\tcount\n00 000\t\t00_000\t1\n"
        "du\t\tde le\t1\ndu\t\tdu\t1\ndu\t^\tde le\t1\ndu\t^\tdu\t1\n"
    )
    again = WordTable.read(tmp_path / "table")
    assert read(again, "il y a 20 000 du").words == ("il", "y", "a", "20_000", "du")


def test_an_empty_table_leaves_tokens_as_they_are() -> None:
    assert read(WordTable({}), "a b").placement is None
    assert list(WordTable({}).divide_sentences(["", "a"])) == [[], [(0, 1, None, False)]]


def test_blocks_of_other_texts() -> None:
    with pytest.raises(TokenTextMismatchError):
        divide_into_blocks(["a", "b"], treebank("a c"))
    with pytest.raises(TokenTextMismatchError):
        divide_into_blocks(["a", "\u200d"], treebank("a"))


@given(st.text("ab", min_size=1, max_size=9), st.sets(st.integers(1, 8)), st.sets(st.integers(1, 8)))
def test_what_is_learned_from_a_sentence_divides_it_like_the_treebank(
    text: str, cuts: set[int], treebank_cuts: set[int]
) -> None:
    def cut(places: set[int]) -> Sequence[str]:
        edges = [0, *sorted(place for place in places if place < len(text)), len(text)]
        return [text[start:end] for start, end in pairwise(edges)]

    tokens, words = cut(cuts), cut(treebank_cuts)
    found = divide_into_blocks(tokens, [TreebankToken(word, (word,)) for word in words])
    assert ["".join(tokens[a.start : a.stop]) for a, _ in found] == ["".join(words[b.start : b.stop]) for _, b in found]
    assert sum(len(a) for a, _ in found) == len(tokens) and sum(len(b) for _, b in found) == len(words)


@pytest.mark.parametrize(
    ("tokens", "written", "words"),
    [
        ("à côté", "à côté=cô+té", ["à", "cô", "té"]),
        ("dès", "dès=de+lès", ["de", "lès"]),
        ("chủ tịch", "chủ~tịch", ["chủ_tịch"]),
    ],
)
@pytest.mark.parametrize("forms", [("NFC", "NFD"), ("NFD", "NFC"), ("NFD", "NFD")])
def test_entries_are_found_in_any_normal_form(
    tokens: str, written: str, words: list[str], forms: tuple[Literal["NFC", "NFD"], Literal["NFC", "NFD"]]
) -> None:
    learned = table(tuple(normalize(forms[0], side) for side in (tokens, written)))
    text = normalize(forms[1], tokens)
    (found,) = learned.divide_sentences([text])
    spans = [(word.start, word.end) for word in found]
    sentence = build_word_sentence(tuple(text.split(" ")), text, found)
    assert [normalize("NFC", word) for word in sentence.words] == words
    assert sentence.tokens == tuple(text.split(" ")), "tokens stay as they are"
    assert all(normalize("NFC", text[start:end]).replace(" ", "_") in {*words, tokens} for start, end in spans)


def test_multiword_tokens_are_expanded_after_a_tokenizer() -> None:
    """It has decided on `evdeydi`; only what no characters spell comes from the table."""
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
