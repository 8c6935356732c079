"""A table from tokens of a text to the words of a treebank: French `du` is `de le`, `aujourd' hui` is `aujourd'hui`.

The table is learned from a treebank whose text was tokenized like the text to parse. A block is a shortest span in
which tokens and words begin and end together; its words are a reading of its tokens. Blocks with no reading other than
their tokens are omitted. If a single token has several readings (French `des` is a determiner or `de les`), the table
also has readings for the token before it and for the last letters of that token.

The file is a TSV with the columns tokens, before, words and count. In the column before, `^` is the beginning of a
sentence, `*ons` are last letters, and an empty value stands for all contexts. A space within a word is `_`.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice, tee
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.text_files import read_lines
from pipeline_py.syntax.words.parser_words import WordDivider, WordSpan, casefold_visible_characters
from pipeline_py.syntax.words.token_alignment import WORD_SPACE, compose_with_offsets, spell_word

WORD_TABLE_COLUMNS = ("tokens", "before", "words", "count")

MIN_CLEAR_SHARE = 2 / 3
"""Minimum share of a clear reading among all readings of its tokens."""

MAX_BLOCK_TOKENS = 8
"""Maximum length of blocks that are learned."""

ANY_CONTEXT, SENTENCE_START = "", "^"
"""Values of the column before: all contexts, and the beginning of a sentence."""

SUFFIX_LENGTHS = (3, 2)
"""Numbers of last letters of the token before, which are tried if the token itself gives no clear reading."""

WordForms: TypeAlias = tuple[str, ...]
ReadingCounts: TypeAlias = Mapping[tuple[WordForms, str], Mapping[WordForms, int]]
"""Counts of readings by tokens and context."""

_DIGIT_PATTERN = re.compile(r"\d")


class TreebankToken(NamedTuple):
    """A token of a treebank: its form in the text, and its words."""

    form: str
    words: WordForms


class TokenTextMismatchError(Exception):
    """Tokens and treebank do not have the same characters."""


class WordTable:
    """A table of the readings of tokens.

    Tokens are looked up in NFC with every digit as 0, and lower-cased if the treebank lacks them in their case.
    """

    def __init__(self, reading_counts: ReadingCounts) -> None:
        self._reading_counts = {key: Counter(counts) for key, counts in reading_counts.items()}
        self._lowercased_counts: defaultdict[tuple[WordForms, str], Counter[WordForms]] = defaultdict(Counter)
        for (tokens, before), counts in self._reading_counts.items():
            for words, count in counts.items():
                self._lowercased_counts[_lowercase_forms(tokens), before][_lowercase_forms(words)] += count
        self._max_entry_tokens = max((len(tokens) for tokens, _ in self._reading_counts), default=0)

    @classmethod
    def read(cls, path: Path) -> "WordTable":
        """Read a table from a file that `write` wrote."""
        readings: defaultdict[tuple[WordForms, str], dict[WordForms, int]] = defaultdict(dict)
        for line in islice(read_lines(path), 1, None):
            tokens, before, words, count = line.split("\t")
            readings[tuple(tokens.split(" ")), before][tuple(words.split(" "))] = int(count)
        return cls(readings)

    def write(self, path: Path) -> None:
        """Write a row for each reading: tokens in alphabetical order, frequent readings first."""
        with open_atomic_text_file(path) as file:
            file.write("\t".join(WORD_TABLE_COLUMNS) + "\n")
            for (tokens, before), counts in sorted(self._reading_counts.items()):
                for words, count in sorted(counts.items(), key=lambda reading: (-reading[1], reading[0])):
                    file.write(f"{' '.join(tokens)}\t{before}\t{' '.join(words)}\t{count}\n")

    @property
    def entries(self) -> list[WordForms]:
        """Tokens with a reading that differs from them."""
        return [
            tokens
            for (tokens, before), counts in self._reading_counts.items()
            if before == ANY_CONTEXT and any(words != tokens for words in counts)
        ]

    def is_ambiguous(self, tokens: WordForms, previous_token: str | None = None) -> bool:
        """Return true if an entry has readings, but no clear one.

        Args:
            tokens: Tokens of an entry.
            previous_token: The token before them, empty at the beginning of a sentence; None: any context.
        """
        return (
            self._get_reading_counts(tokens, ANY_CONTEXT) is not None
            and self._find_clear_reading(tokens, previous_token) is None
        )

    def divide_sentences(self, texts: Iterable[str]) -> Iterator[list[WordSpan]]:
        """Yield the words of tokenized sentences with single spaces, from left to right.

        Longer entries have priority. Tokens without a clear reading are words; a single token is marked as ambiguous.
        """
        return (self._divide_tokens(tuple(text.split(" "))) if text else [] for text in texts)

    def build_expanding_divider(self, divide_words: WordDivider) -> WordDivider:
        """Return a function that divides text with `divide_words` and then expands multi-word tokens with this table.

        Only multi-word tokens that their words do not spell are expanded. A token without a clear reading remains a
        word and is marked as ambiguous.
        """

        def divide_and_expand(texts: Iterable[str]) -> Iterator[list[WordSpan]]:
            texts, texts_to_divide = tee(texts)
            for text, words in zip(texts, divide_words(texts_to_divide), strict=True):
                yield [*self._expand_multiword_tokens(text, words)]

        return divide_and_expand

    def _expand_multiword_tokens(self, text: str, words: Iterable[WordSpan]) -> Iterator[WordSpan]:
        before = ""
        for word in words:
            tokens = (text[word.start : word.end],)
            expansions = [
                form
                for form in self._get_reading_counts(tokens, ANY_CONTEXT) or ()
                if not _has_same_letters(_normalize_tokens(tokens), form)
            ]
            reading = self._find_clear_reading(tokens, before) if expansions else None
            if reading in expansions:
                yield from _locate_reading_words(tokens, reading, word.start)
            else:
                yield word._replace(is_ambiguous=bool(expansions) and reading is None)
            before = tokens[0]

    def _divide_tokens(self, tokens: WordForms) -> list[WordSpan]:
        words: list[WordSpan] = []
        starts = [0, *accumulate(len(token) + 1 for token in tokens)]
        place = 0
        while place < len(tokens):
            reading, end = self._find_longest_reading(tokens, place)
            if reading is None:
                is_ambiguous = self.is_ambiguous(tokens[place:end], tokens[place - 1] if place else "")
                words.append(WordSpan(starts[place], starts[end] - 1, is_ambiguous=is_ambiguous))
            else:
                words += _locate_reading_words(tokens[place:end], reading, starts[place])
            place = end
        return words

    def _find_longest_reading(self, tokens: WordForms, start: int) -> tuple[WordForms | None, int]:
        for end in range(min(start + self._max_entry_tokens, len(tokens)), start, -1):
            reading = self._find_clear_reading(tokens[start:end], tokens[start - 1] if start else "")
            if reading is not None and reading != _normalize_tokens(tokens[start:end]):
                return reading, end
        return None, start + 1

    def _get_reading_counts(self, tokens: WordForms, context: str) -> Counter[WordForms] | None:
        key = _normalize_tokens(tokens)
        if (key, ANY_CONTEXT) in self._reading_counts:
            return self._reading_counts.get((key, context))
        return self._lowercased_counts.get((_lowercase_forms(key), context))

    def _find_clear_reading(self, tokens: WordForms, previous_token: str | None) -> WordForms | None:
        contexts = _list_contexts(previous_token) if previous_token is not None and len(tokens) == 1 else []
        for context in (*contexts, ANY_CONTEXT):
            counts = self._get_reading_counts(tokens, context)
            if counts is not None:
                reading, count = max(counts.items(), key=lambda reading: (reading[1], reading[0]))
                if count >= MIN_CLEAR_SHARE * counts.total():
                    return reading
        return None


def count_readings(
    sentences: Iterable[tuple[Sequence[str], Sequence[TreebankToken]]],
) -> dict[tuple[WordForms, str], Counter[WordForms]]:
    """Count the readings of all blocks that a treebank divides differently, at least once.

    Args:
        sentences: For each sentence, the tokens of the text and those of the treebank.

    Raises:
        TokenTextMismatchError: Their characters differ; use `divide_into_blocks` to check a sentence.
    """
    readings: defaultdict[WordForms, Counter[WordForms]] = defaultdict(Counter)
    in_context: defaultdict[tuple[WordForms, str], Counter[WordForms]] = defaultdict(Counter)
    divided: list[tuple[WordForms, list[range]]] = []
    for tokens, treebank_tokens in sentences:
        forms = _normalize_tokens(tokens)
        spans = []
        for block, gold_block in divide_into_blocks(tokens, treebank_tokens):
            spans.append(block)
            words = [word for token in treebank_tokens[gold_block.start : gold_block.stop] for word in token.words]
            reading = _spell_reading(tokens[block.start : block.stop], words)
            block_tokens = forms[block.start : block.stop]
            readings[block_tokens][reading] += 1
            if len(block_tokens) == 1:
                for context in _list_contexts(tokens[block.start - 1] if block.start else ""):
                    in_context[block_tokens, context][reading] += 1
        divided.append((forms, spans))
    divided_tokens = {tokens for tokens, counts in readings.items() if any(words != tokens for words in counts)}
    _count_separate_readings(readings, divided, {tokens for tokens in divided_tokens if len(tokens) > 1})
    lowercased = {_lowercase_forms(tokens) for tokens in divided_tokens}
    entries = {
        (tokens, ANY_CONTEXT): counts
        for tokens, counts in readings.items()
        if _lowercase_forms(tokens) in lowercased and len(tokens) <= MAX_BLOCK_TOKENS
    }
    tokens_with_readings = {tokens for (tokens, _), counts in entries.items() if len(counts) > 1}
    return entries | {key: counts for key, counts in in_context.items() if key[0] in tokens_with_readings}


def _list_contexts(previous_token: str) -> list[str]:
    """List the contexts in which a reading is looked up: the token before, and its last letters."""
    previous_token = _normalize_nfc(previous_token).lower()
    return (
        [previous_token, *(f"*{previous_token[-letters:]}" for letters in SUFFIX_LENGTHS)]
        if previous_token
        else [SENTENCE_START]
    )


def divide_into_blocks(tokens: Sequence[str], treebank_tokens: Sequence[TreebankToken]) -> list[tuple[range, range]]:
    """Divide a sentence into the shortest blocks that consist of complete tokens of the text and of the treebank.

    Returns:
        For each block, the indices of its tokens in the text and in the treebank.

    Raises:
        TokenTextMismatchError: The visible characters differ, or a token has none.
    """
    parts = ["".join(casefold_visible_characters(token)) for token in tokens]
    treebank_parts = ["".join(casefold_visible_characters(token.form)) for token in treebank_tokens]
    if "".join(parts) != "".join(treebank_parts) or not all(parts) or not all(treebank_parts):
        raise TokenTextMismatchError
    ends, treebank_ends = ([*accumulate(map(len, forms))] for forms in (parts, treebank_parts))
    blocks: list[tuple[range, range]] = []
    start = treebank_start = 0
    treebank_places = {end: place for place, end in enumerate(treebank_ends, start=1)}
    for place, end in enumerate(ends, start=1):
        if (treebank_place := treebank_places.get(end)) is not None:
            blocks.append((range(start, place), range(treebank_start, treebank_place)))
            start, treebank_start = place, treebank_place
    return blocks


def _count_separate_readings(
    readings: Mapping[WordForms, Counter[WordForms]],
    divided_sentences: Iterable[tuple[WordForms, list[range]]],
    multi_token_entries: set[WordForms],
) -> None:
    """Count the occurrences of entries of several tokens that are several blocks in the treebank."""
    if not multi_token_entries:
        return
    most_tokens = min(max(map(len, multi_token_entries)), MAX_BLOCK_TOKENS)
    for forms, spans in divided_sentences:
        ends = {span.stop: number for number, span in enumerate(spans)}
        for number, span in enumerate(spans):
            for end in range(span.start + 2, min(span.start + most_tokens, len(forms)) + 1):
                tokens = forms[span.start : end]
                if tokens in multi_token_entries and ends.get(end, number) > number:
                    readings[tokens][tokens] += 1


def _spell_reading(tokens: Sequence[str], words: Sequence[str]) -> WordForms:
    """Spell a reading; replace digits by 0 if the tokens spell its words."""
    spelt = tuple(_normalize_nfc(spell_word(word)) for word in words)
    return _normalize_tokens(spelt) if _has_same_letters(_normalize_tokens(tokens), _normalize_tokens(spelt)) else spelt


def _locate_reading_words(tokens: WordForms, reading: WordForms, start: int) -> Iterator[WordSpan]:
    """Yield the words of a block: one after the other if its tokens spell them, else all with the span of the block."""
    text, starts = compose_with_offsets(" ".join(tokens))
    if not _has_same_letters(_normalize_tokens(tokens), reading):
        yield from (WordSpan(start, start + starts[-1], form) for form in reading)
        return
    places = [place for place, character in enumerate(text) if character != " "]
    letters = iter(places)
    first = 0
    for word in reading:
        form = "".join(WORD_SPACE if character == WORD_SPACE else text[next(letters)] for character in word)
        end = first + len(word.replace(WORD_SPACE, ""))
        yield WordSpan(start + starts[places[first]], start + starts[places[end - 1] + 1], form)
        first = end


def _has_same_letters(tokens: WordForms, words: WordForms) -> bool:
    """Compare the letters of tokens and words, ignoring case and spaces."""
    letters, spelt = "".join(tokens), "".join(words).replace(WORD_SPACE, "")
    return WORD_SPACE not in letters and len(letters) == len(spelt) and letters.lower() == spelt.lower()


def _normalize_tokens(tokens: Sequence[str]) -> WordForms:
    return tuple(_DIGIT_PATTERN.sub("0", _normalize_nfc(token)) for token in tokens)


def _normalize_nfc(form: str) -> str:
    return unicodedata.normalize("NFC", form)


def _lowercase_forms(forms: WordForms) -> WordForms:
    return tuple(form.lower() for form in forms)
