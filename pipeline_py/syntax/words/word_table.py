"""A table from tokens of a text to the words of a treebank: French `du` is `de le`, `aujourd' hui` is `aujourd'hui`.

Tokenizers and treebanks divide text differently. The table is learned from a treebank whose text was tokenized like the
text that is parsed: where tokens and words begin and end together, the tokens of such a block and its words are a
reading. Blocks that are always read as their tokens are left out. If the treebank reads a single token in several ways
(French `des` is a determiner or `de les`), the table also has its readings after the token before it, and after the
last letters of that token.

The file is a TSV with the columns tokens, before, words and count. In the column before, `^` is the beginning of a
sentence, `*ons` are last letters, and nothing stands for all cases. A space within a word is `_`.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice, tee
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pipeline_py.files.artifacts import writing
from pipeline_py.files.text import read_lines
from pipeline_py.syntax.words.parser_words import Divide, Word, visible_characters
from pipeline_py.syntax.words.token_alignment import WORD_SPACE, compose, spell_word

COLUMNS = ("tokens", "before", "words", "count")

CLEAR_SHARE = 2 / 3
"""A reading is clear if it has at least this share of what the treebank has of its tokens."""

MOST_TOKENS = 8
"""Longer blocks are not learned."""

ANYWHERE, BEGINNING = "", "^"
"""In the column before: all cases, and the beginning of a sentence."""

LAST_LETTERS = (3, 2)
"""Numbers of last letters of the token before that are tried if the whole token decides nothing."""

Forms: TypeAlias = tuple[str, ...]
Readings: TypeAlias = Mapping[tuple[Forms, str], Mapping[Forms, int]]
"""Counts of readings by tokens and what is before them."""

_DIGIT = re.compile(r"\d")


class TreebankToken(NamedTuple):
    """A token of a treebank: its form in the text, and its words."""

    form: str
    words: Forms


class DifferentTextError(Exception):
    """Tokens and treebank do not have the same characters."""


class WordTable:
    """Readings of tokens, and which of them is clear.

    Tokens with digits share the readings of all numbers of the same shape. Tokens that the treebank does not have in
    their case have the readings of their lower-cased forms. Tokens are looked up in NFC.
    """

    def __init__(self, readings: Readings) -> None:
        """Take counts of readings."""
        self._readings = {key: Counter(counts) for key, counts in readings.items()}
        self._lowercased: defaultdict[tuple[Forms, str], Counter[Forms]] = defaultdict(Counter)
        for (tokens, before), counts in self._readings.items():
            for words, count in counts.items():
                self._lowercased[_lower(tokens), before][_lower(words)] += count
        self._most_tokens = max((len(tokens) for tokens, _ in self._readings), default=0)

    @classmethod
    def read(cls, path: Path) -> "WordTable":
        """Read what `write` wrote."""
        readings: defaultdict[tuple[Forms, str], dict[Forms, int]] = defaultdict(dict)
        for line in islice(read_lines(path), 1, None):
            tokens, before, words, count = line.split("\t")
            readings[tuple(tokens.split(" ")), before][tuple(words.split(" "))] = int(count)
        return cls(readings)

    def write(self, path: Path) -> None:
        """Write a row for each reading: tokens in alphabetical order, frequent readings first."""
        with writing(path) as file:
            file.write("\t".join(COLUMNS) + "\n")
            for (tokens, before), counts in sorted(self._readings.items()):
                for words, count in sorted(counts.items(), key=lambda reading: (-reading[1], reading[0])):
                    file.write(f"{' '.join(tokens)}\t{before}\t{' '.join(words)}\t{count}\n")

    @property
    def entries(self) -> list[Forms]:
        """Tokens that have a reading other than themselves."""
        return [
            tokens
            for (tokens, before), counts in self._readings.items()
            if before == ANYWHERE and any(words != tokens for words in counts)
        ]

    def is_ambiguous(self, tokens: Forms, before: str | None = None) -> bool:
        """Whether none of several readings is clear.

        Args:
            tokens: of an entry.
            before: the token before them, empty at the beginning of a sentence; None: wherever they are.
        """
        return self._counts(tokens, ANYWHERE) is not None and self._clear_reading(tokens, before) is None

    def divide(self, texts: Iterable[str]) -> Iterator[list[Word]]:
        """Yield the words of tokenized sentences with single spaces, from left to right.

        The longest entry counts. Tokens without a clear reading stay as they are; a single one is marked.
        """
        return (self._words(tuple(text.split(" "))) if text else [] for text in texts)

    def expand_after(self, divide: Divide) -> Divide:
        """Return a function that divides text, and then expands multi-word tokens that their words do not spell.

        The function `divide` decides about all other tokens, since it sees the sentence. A multi-word token without a
        clear reading stays as it is, and is marked.
        """

        def divide_and_expand(texts: Iterable[str]) -> Iterator[list[Word]]:
            texts, texts_to_divide = tee(texts)
            for text, words in zip(texts, divide(texts_to_divide), strict=True):
                yield [*self._expand(text, words)]

        return divide_and_expand

    def _expand(self, text: str, words: Iterable[Word]) -> Iterator[Word]:
        before = ""
        for word in words:
            tokens = (text[word.start : word.end],)
            expansions = [form for form in self._counts(tokens, ANYWHERE) or () if not _is_spelt_by(_key(tokens), form)]
            reading = self._clear_reading(tokens, before) if expansions else None
            if reading in expansions:
                yield from _spans(tokens, reading, word.start)
            else:
                yield word._replace(is_ambiguous=bool(expansions) and reading is None)
            before = tokens[0]

    def _words(self, tokens: Forms) -> list[Word]:
        words: list[Word] = []
        starts = [0, *accumulate(len(token) + 1 for token in tokens)]
        place = 0
        while place < len(tokens):
            reading, end = self._longest_reading(tokens, place)
            if reading is None:
                is_ambiguous = self.is_ambiguous(tokens[place:end], tokens[place - 1] if place else "")
                words.append(Word(starts[place], starts[end] - 1, is_ambiguous=is_ambiguous))
            else:
                words += _spans(tokens[place:end], reading, starts[place])
            place = end
        return words

    def _longest_reading(self, tokens: Forms, start: int) -> tuple[Forms | None, int]:
        for end in range(min(start + self._most_tokens, len(tokens)), start, -1):
            reading = self._clear_reading(tokens[start:end], tokens[start - 1] if start else "")
            if reading is not None and reading != _key(tokens[start:end]):
                return reading, end
        return None, start + 1

    def _counts(self, tokens: Forms, before: str) -> Counter[Forms] | None:
        key = _key(tokens)
        if (key, ANYWHERE) in self._readings:
            return self._readings.get((key, before))
        return self._lowercased.get((_lower(key), before))

    def _clear_reading(self, tokens: Forms, before: str | None) -> Forms | None:
        contexts = _contexts(before) if before is not None and len(tokens) == 1 else []
        for context in (*contexts, ANYWHERE):
            counts = self._counts(tokens, context)
            if counts is not None:
                reading, count = max(counts.items(), key=lambda reading: (reading[1], reading[0]))
                if count >= CLEAR_SHARE * counts.total():
                    return reading
        return None


def learn_readings(
    sentences: Iterable[tuple[Sequence[str], Sequence[TreebankToken]]],
) -> dict[tuple[Forms, str], Counter[Forms]]:
    """Count the readings of all blocks that a treebank divides differently, at least once.

    Args:
        sentences: the tokens of a text, and those of the treebank in the same sentence.

    Raises:
        DifferentTextError: their characters differ; use `blocks` to check a sentence.
    """
    readings: defaultdict[Forms, Counter[Forms]] = defaultdict(Counter)
    in_context: defaultdict[tuple[Forms, str], Counter[Forms]] = defaultdict(Counter)
    divided: list[tuple[Forms, list[range]]] = []
    for tokens, treebank_tokens in sentences:
        forms = _key(tokens)
        spans = []
        for block, of_treebank in blocks(tokens, treebank_tokens):
            spans.append(block)
            words = [word for token in treebank_tokens[of_treebank.start : of_treebank.stop] for word in token.words]
            reading = _reading(tokens[block.start : block.stop], words)
            block_tokens = forms[block.start : block.stop]
            readings[block_tokens][reading] += 1
            if len(block_tokens) == 1:
                for context in _contexts(tokens[block.start - 1] if block.start else ""):
                    in_context[block_tokens, context][reading] += 1
        divided.append((forms, spans))
    divided_tokens = {tokens for tokens, counts in readings.items() if any(words != tokens for words in counts)}
    _count_unjoined(readings, divided, {tokens for tokens in divided_tokens if len(tokens) > 1})
    lowercased = {_lower(tokens) for tokens in divided_tokens}
    found = {
        (tokens, ANYWHERE): counts
        for tokens, counts in readings.items()
        if _lower(tokens) in lowercased and len(tokens) <= MOST_TOKENS
    }
    several = {tokens for (tokens, _), counts in found.items() if len(counts) > 1}
    return found | {key: counts for key, counts in in_context.items() if key[0] in several}


def _contexts(before: str) -> list[str]:
    """Return contexts that may decide a reading, most specific first: the token before, and its last letters."""
    before = _compose(before).lower()
    return [before, *(f"*{before[-letters:]}" for letters in LAST_LETTERS)] if before else [BEGINNING]


def blocks(tokens: Sequence[str], treebank_tokens: Sequence[TreebankToken]) -> list[tuple[range, range]]:
    """Divide a sentence into the shortest blocks that are whole tokens of the text and of the treebank.

    Returns:
        For each block the places of its tokens in the text and in the treebank.

    Raises:
        DifferentTextError: the visible characters differ, or a token has none.
    """
    parts = ["".join(visible_characters(token)) for token in tokens]
    treebank_parts = ["".join(visible_characters(token.form)) for token in treebank_tokens]
    if "".join(parts) != "".join(treebank_parts) or not all(parts) or not all(treebank_parts):
        raise DifferentTextError
    ends, treebank_ends = ([*accumulate(map(len, each))] for each in (parts, treebank_parts))
    found: list[tuple[range, range]] = []
    start = treebank_start = 0
    treebank_places = {end: place for place, end in enumerate(treebank_ends, start=1)}
    for place, end in enumerate(ends, start=1):
        if (treebank_place := treebank_places.get(end)) is not None:
            found.append((range(start, place), range(treebank_start, treebank_place)))
            start, treebank_start = place, treebank_place
    return found


def _count_unjoined(
    readings: Mapping[Forms, Counter[Forms]], divided: Iterable[tuple[Forms, list[range]]], several: set[Forms]
) -> None:
    """Count where neighboring tokens of an entry are several blocks of the treebank."""
    if not several:
        return
    most_tokens = min(max(map(len, several)), MOST_TOKENS)
    for forms, spans in divided:
        ends = {span.stop: number for number, span in enumerate(spans)}
        for number, span in enumerate(spans):
            for end in range(span.start + 2, min(span.start + most_tokens, len(forms)) + 1):
                tokens = forms[span.start : end]
                if tokens in several and ends.get(end, number) > number:
                    readings[tokens][tokens] += 1


def _reading(tokens: Sequence[str], words: Sequence[str]) -> Forms:
    """Spell a reading; one that the tokens spell too has every digit as 0."""
    spelt = tuple(_compose(spell_word(word)) for word in words)
    return _key(spelt) if _is_spelt_by(_key(tokens), _key(spelt)) else spelt


def _spans(tokens: Forms, reading: Forms, start: int) -> Iterator[Word]:
    """Yield the words of a block: side by side where its tokens spell them, else all in its place."""
    text, starts = compose(" ".join(tokens))
    if not _is_spelt_by(_key(tokens), reading):
        yield from (Word(start, start + starts[-1], form) for form in reading)
        return
    places = [place for place, character in enumerate(text) if character != " "]
    letters = iter(places)
    first = 0
    for word in reading:
        form = "".join(WORD_SPACE if character == WORD_SPACE else text[next(letters)] for character in word)
        end = first + len(word.replace(WORD_SPACE, ""))
        yield Word(start + starts[places[first]], start + starts[places[end - 1] + 1], form)
        first = end


def _is_spelt_by(tokens: Forms, words: Forms) -> bool:
    """Whether words have the letters of tokens, whatever their case and the spaces between and within them."""
    letters, spelt = "".join(tokens), "".join(words).replace(WORD_SPACE, "")
    return WORD_SPACE not in letters and len(letters) == len(spelt) and letters.lower() == spelt.lower()


def _key(tokens: Sequence[str]) -> Forms:
    return tuple(_DIGIT.sub("0", _compose(token)) for token in tokens)


def _compose(form: str) -> str:
    return unicodedata.normalize("NFC", form)


def _lower(forms: Forms) -> Forms:
    return tuple(form.lower() for form in forms)
