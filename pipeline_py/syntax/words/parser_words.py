"""Input sentences of a parser: the tokens of the text, or the words of the parser's treebank.

Moses tokenizes `don't` as `don 't`, but Universal Dependencies as `do n't`. Therefore the untokenized text is divided
into words for the parser, and the trees are transferred to the tokens. Words and tokens are aligned by their visible
characters, ignoring case. Words have the letter case of the tokens.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, islice, tee
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pipeline_py.corpus.characters import is_visible_token, remove_invisible_characters
from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.files.text_files import read_lines
from pipeline_py.syntax.trees.dependency import MultiwordToken
from pipeline_py.syntax.words.retokenize import WordPlacement
from pipeline_py.syntax.words.token_alignment import read_sentences

OTHER_WORDS_NOTE = "parsed in other words than its tokens"
SEVERAL_WORDS_NOTE = "tokens of several words"
WORD_PART_NOTE = "tokens that are a part of a word"
SHARED_WORD_NOTE = "tokens that share a word with others"
AMBIGUOUS_TOKENS_NOTE = "tokens left whole because the treebank reads them in several ways"
PARSED_AS_TOKENS_PREFIX = "parsed in its tokens: "


class WordSpan(NamedTuple):
    """A word of a text.

    Attributes:
        start: Its first character.
        end: The character after its last. The words of a multi-word token (French `du`) have the same start and end.
        form: Form in the parser's treebank; None if it is that of the text.
        is_ambiguous: The treebank divides the word in some sentences, and in others not.
    """

    start: int
    end: int
    form: str | None = None
    is_ambiguous: bool = False


WordDivider: TypeAlias = Callable[[Iterable[str]], Iterator[list[WordSpan]]]
"""A function from sentences (with single spaces, possibly empty) to their words from left to right."""


@dataclass(frozen=True)
class ParserSentence:
    """A sentence to parse.

    Attributes:
        tokens: Tokens of the text, over which the final tree is built.
        words: Words that the parser reads.
        placement: Alignment of the words with the tokens; None if they are equal.
        difference_counts: Number of tokens by kind of difference (`SEVERAL_WORDS_NOTE`, `WORD_PART_NOTE`,
            `SHARED_WORD_NOTE`, `AMBIGUOUS_TOKENS_NOTE`).
        multiword_tokens: Tokens that join several of the words, from left to right.
    """

    tokens: tuple[str, ...]
    words: tuple[str, ...]
    placement: WordPlacement | None = None
    difference_counts: Mapping[str, int] = field(default_factory=dict)
    multiword_tokens: tuple[MultiwordToken, ...] = ()

    def add_to_counts(self, counts: SentenceCounts) -> None:
        """Count the differences between words and tokens of a parsed sentence."""
        if self.placement is not None:
            counts.add_noted(OTHER_WORDS_NOTE)
        for note, token_count in self.difference_counts.items():
            counts.add_noted(note, token_count)


def build_parser_sentence_of_tokens(tokens: tuple[str, ...]) -> ParserSentence:
    """Build the parser's input from tokens, which are also its words."""
    return ParserSentence(tokens, tokens)


class WordPlacementError(Exception):
    """Words and tokens cannot be aligned; the message is a short reason."""


def read_parser_sentences(
    tokens_path: Path,
    text_path: Path,
    start: int,
    line_count: int | None,
    divide_words: WordDivider,
    counts: SentenceCounts,
) -> Iterator[ParserSentence]:
    """Yield the sentences of a tokenized text, or of a slice of it, with the words that the parser reads.

    If the words of a sentence cannot be aligned with its tokens, the tokens are parsed; this is counted by reason.

    Args:
        tokens_path: Tokenized text, one sentence a line.
        text_path: The same lines before tokenization.
        start: Number of lines before the slice.
        line_count: Number of lines of the slice; None: all to the end.
        divide_words: Function that divides text into words.
        counts: Counts to which differences between words and tokens are added.
    """
    for note in (OTHER_WORDS_NOTE, SEVERAL_WORDS_NOTE, WORD_PART_NOTE, SHARED_WORD_NOTE):
        counts.add_noted(note, 0)  # report zeros, too
    lines = islice(read_lines(text_path), start, None if line_count is None else start + line_count)
    texts, texts_to_divide = tee(" ".join(remove_invisible_characters(line).split()) for line in lines)
    sentences = read_sentences(tokens_path, start, line_count)
    for tokens, text, words in zip(sentences, texts, divide_words(texts_to_divide), strict=True):
        try:
            yield build_parser_sentence(tokens, text, words)
        except WordPlacementError as reason:
            counts.add_noted(f"{PARSED_AS_TOKENS_PREFIX}{reason}")
            yield build_parser_sentence_of_tokens(tokens)


def build_parser_sentence(tokens: tuple[str, ...], text: str, word_spans: Sequence[WordSpan]) -> ParserSentence:
    """Build the parser's input from the words of the untokenized text, placed in the tokens.

    A word is placed in the token that has most of its characters (in ties, the first). A token without a word becomes a
    part of the token whose word covers most of it.

    Args:
        tokens: Tokens of the sentence.
        text: The sentence before tokenization.
        word_spans: Words of the text, which cover all visible characters.

    Raises:
        WordPlacementError: Tokens and text differ in more than spaces and case.
    """
    token_text = "".join(tokens)
    text_characters, token_characters = casefold_visible_characters(text), casefold_visible_characters(token_text)
    if "".join(text_characters) != "".join(token_characters):
        raise WordPlacementError("its text has other characters")
    text_offsets, token_offsets = (
        [0, *accumulate(map(len, characters))] for characters in (text_characters, token_characters)
    )
    token_ends = [token_offsets[end] for end in accumulate(map(len, tokens))]
    forms: list[str] = []
    surface_forms: list[str] = []
    spans: list[tuple[int, int]] = []
    for word in word_spans:
        start, end = text_offsets[word.start], text_offsets[word.end]
        if start < end:
            # Invisible characters belong to the character before them.
            surface_form = token_text[bisect_right(token_offsets, start) - 1 : bisect_right(token_offsets, end) - 1]
            forms.append(surface_form if word.form is None else _match_letter_case(surface_form, word.form))
            surface_forms.append(surface_form)
            spans.append((start, end))
    if not spans and tokens:
        raise WordPlacementError("nothing to be seen")
    token_spans = list(zip([0, *token_ends[:-1]], token_ends, strict=True)) if tokens else []
    differing = _count_differing_tokens(spans, token_spans)
    ambiguous = {AMBIGUOUS_TOKENS_NOTE: number} if (number := sum(word.is_ambiguous for word in word_spans)) else {}
    if not differing:
        return ParserSentence(tokens, tokens, difference_counts=ambiguous)
    multiword = tuple(_find_multiword_tokens(spans, surface_forms))
    return ParserSentence(
        tokens, tuple(forms), _compute_placement(spans, token_spans), differing | ambiguous, multiword
    )


def select_word_difference_counts(note_counts: Mapping[str, int]) -> dict[str, int]:
    """Select the counts of differences between words and tokens.

    Returns:
        Counts of sentences (`OTHER_WORDS_NOTE`, and `PARSED_AS_TOKENS_PREFIX` with a reason) and of tokens (all other
        notes); empty if the parser read the tokens.
    """
    if OTHER_WORDS_NOTE not in note_counts:
        return {}
    optional_counts = {
        note: count
        for note, count in note_counts.items()
        if note == AMBIGUOUS_TOKENS_NOTE or note.startswith(PARSED_AS_TOKENS_PREFIX)
    }
    return {
        note: note_counts.get(note, 0)
        for note in (OTHER_WORDS_NOTE, SEVERAL_WORDS_NOTE, WORD_PART_NOTE, SHARED_WORD_NOTE)
    } | optional_counts


_CharacterSpans: TypeAlias = Sequence[tuple[int, int]]


def _find_multiword_tokens(spans: _CharacterSpans, surface_forms: Sequence[str]) -> Iterator[MultiwordToken]:
    """Yield the groups of neighboring words that have the same span."""
    first = 0
    for end in range(1, len(spans) + 1):
        if end == len(spans) or spans[end] != spans[first]:
            if end - first > 1:
                yield MultiwordToken(first + 1, end, surface_forms[first])
            first = end


def _find_overlapping_spans(span: tuple[int, int], spans: _CharacterSpans, ends: Sequence[int]) -> range:
    """Return the indices of the spans that share characters with a span; for an empty span, the one at or after it."""
    first = min(bisect_right(ends, span[0]), len(spans) - 1)
    end = first + 1
    while end < len(spans) and spans[end][0] < span[1]:
        end += 1
    return range(first, end)


def _find_largest_overlap(span: tuple[int, int], spans: _CharacterSpans, ends: Sequence[int]) -> int:
    """Return the index of the span that shares most characters with a span (in ties, the first)."""
    return max(
        _find_overlapping_spans(span, spans, ends),
        key=lambda index: min(span[1], spans[index][1]) - max(span[0], spans[index][0]),
    )


def _compute_placement(word_spans: _CharacterSpans, token_spans: _CharacterSpans) -> WordPlacement:
    word_ends, token_ends = [end for _, end in word_spans], [end for _, end in token_spans]
    word_tokens = tuple(_find_largest_overlap(word, token_spans, token_ends) for word in word_spans)
    tokens_with_words = set(word_tokens)
    token_anchors = tuple(
        token if token in tokens_with_words else word_tokens[_find_largest_overlap(span, word_spans, word_ends)]
        for token, span in enumerate(token_spans)
    )
    return WordPlacement(word_tokens, token_anchors)


def _count_differing_tokens(word_spans: _CharacterSpans, token_spans: _CharacterSpans) -> Counter[str]:
    """Count the tokens that are not words, by kind of difference."""
    counts: Counter[str] = Counter()
    ends = [end for _, end in word_spans]
    for start, end in token_spans:
        inside = [word_spans[word] for word in _find_overlapping_spans((start, end), word_spans, ends)]
        if inside == [(start, end)]:
            continue
        if all(start <= first and last <= end for first, last in inside):
            counts[SEVERAL_WORDS_NOTE] += 1
        else:
            counts[WORD_PART_NOTE if len(inside) == 1 else SHARED_WORD_NOTE] += 1
    return counts


def casefold_visible_characters(text: str) -> list[str]:
    """Return the case-folded form of each character; empty for white space and invisible characters."""
    return [_casefold_if_visible(character) for character in text]


@cache
def _casefold_if_visible(character: str) -> str:
    return (
        character.casefold() if remove_invisible_characters(character).strip() and is_visible_token(character) else ""
    )


def _match_letter_case(surface_form: str, form: str) -> str:
    """Replace white space by U+00A0, and lower-case the form if the surface form is lower-cased."""
    form = "\u00a0".join(form.split())
    return form.lower() if surface_form == surface_form.lower() else form
