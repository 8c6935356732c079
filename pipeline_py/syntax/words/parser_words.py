"""What a parser reads of a sentence: its tokens, or the words of the parser's treebank in their place.

A system has the tokens of its text, and a parser knows the words of its treebank: Moses makes `don 't` of what is
`do n't` in Universal Dependencies. So the text is divided anew for the parser, from how it was before it was tokenized,
and the tree is carried over to the tokens. Which word is in which token is decided by their characters alone: those
that can be seen, whatever their case. The words have the case of the tokens.
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
        start: its first character.
        end: the one after its last; several words that are written as one (French `du`) have both in common.
        form: how the parser's treebank writes it; None: as the text.
        is_ambiguous: whether its treebank divides it in some sentences and not in others.
    """

    start: int
    end: int
    form: str | None = None
    is_ambiguous: bool = False


WordDivider: TypeAlias = Callable[[Iterable[str]], Iterator[list[WordSpan]]]
"""From sentences with single spaces, perhaps empty, to the words of each, from left to right."""


@dataclass(frozen=True)
class ParserSentence:
    """A sentence on its way through a parser.

    Attributes:
        tokens: of the text, which its tree shall be over.
        words: what the parser reads.
        placement: where the words are among the tokens; None where they are the tokens.
        difference_counts: how many tokens are no words, by `SEVERAL_WORDS_NOTE`, `WORD_PART_NOTE` and `SHARED_WORD_NOTE`, and how many are `AMBIGUOUS_TOKENS_NOTE`.
        multiword_tokens: words that the text joins, from left to right.
    """

    tokens: tuple[str, ...]
    words: tuple[str, ...]
    placement: WordPlacement | None = None
    difference_counts: Mapping[str, int] = field(default_factory=dict)
    multiword_tokens: tuple[MultiwordToken, ...] = ()

    def add_to_counts(self, counts: SentenceCounts) -> None:
        """Count it, once it is parsed, where its words are not its tokens."""
        if self.placement is not None:
            counts.add_noted(OTHER_WORDS_NOTE)
        for what, tokens in self.difference_counts.items():
            counts.add_noted(what, tokens)


def build_token_sentence(tokens: tuple[str, ...]) -> ParserSentence:
    """A sentence that is parsed in its tokens."""
    return ParserSentence(tokens, tokens)


class WordPlacementError(Exception):
    """Words cannot be found in the tokens; the message is a short reason."""


def read_parser_sentences(
    tokens_path: Path,
    text_path: Path,
    start: int,
    line_count: int | None,
    divide_words: WordDivider,
    counts: SentenceCounts,
) -> Iterator[ParserSentence]:
    """Yield the sentences of a tokenized text, or of a slice of it, in the words that a parser knows.

    Where these cannot be found in the tokens a sentence is parsed in its tokens, and counted by reason.

    Args:
        tokens_path: one sentence a line, tokens separated by a space.
        text_path: the same lines before they were tokenized.
        start: lines before the slice.
        line_count: lines of the slice; all to the end when not given.
        divide_words: finds the words of a text.
        counts: counts.
    """
    for what in (OTHER_WORDS_NOTE, SEVERAL_WORDS_NOTE, WORD_PART_NOTE, SHARED_WORD_NOTE):
        counts.add_noted(what, 0)  # zero is worth knowing
    lines = islice(read_lines(text_path), start, None if line_count is None else start + line_count)
    texts, divided = tee(" ".join(remove_invisible_characters(line).split()) for line in lines)
    for in_line, written, words in zip(
        read_sentences(tokens_path, start, line_count), texts, divide_words(divided), strict=True
    ):
        try:
            yield build_word_sentence(in_line, written, words)
        except WordPlacementError as reason:
            counts.add_noted(f"{PARSED_AS_TOKENS_PREFIX}{reason}")
            yield build_token_sentence(in_line)


def build_word_sentence(tokens: tuple[str, ...], text: str, word_spans: Sequence[WordSpan]) -> ParserSentence:
    """A sentence in the words of its text.

    A word goes to the token that has most of its characters, the first of equals; a token without a word is a part of
    that which has the word that covers most of it.

    Args:
        tokens: of the sentence.
        text: the sentence before it was tokenized.
        word_spans: of the text; every character that can be seen is in one.

    Raises:
        DoesNotFitError: tokens and text differ in more than spaces and case.
    """
    joined = "".join(tokens)
    seen_of_text, seen_of_tokens = casefold_visible_characters(text), casefold_visible_characters(joined)
    if "".join(seen_of_text) != "".join(seen_of_tokens):
        raise WordPlacementError("its text has other characters")
    in_text, in_tokens_ = _compute_offsets(map(len, seen_of_text)), _compute_offsets(map(len, seen_of_tokens))
    ends_of_tokens = [in_tokens_[end] for end in accumulate(map(len, tokens))]
    forms: list[str] = []
    texts: list[str] = []
    spans: list[tuple[int, int]] = []
    for word in word_spans:
        start, end = in_text[word.start], in_text[word.end]
        if start < end:
            # What cannot be seen goes with the character before it.
            written = joined[bisect_right(in_tokens_, start) - 1 : bisect_right(in_tokens_, end) - 1]
            forms.append(written if word.form is None else _match_letter_case(written, word.form))
            texts.append(written)
            spans.append((start, end))
    if not spans and tokens:
        raise WordPlacementError("nothing to be seen")
    token_spans = list(zip([0, *ends_of_tokens[:-1]], ends_of_tokens, strict=True)) if tokens else []
    differing = _count_differing_tokens(spans, token_spans)
    ambiguous = {AMBIGUOUS_TOKENS_NOTE: number} if (number := sum(word.is_ambiguous for word in word_spans)) else {}
    if not differing:
        return ParserSentence(tokens, tokens, difference_counts=ambiguous)
    multiword = tuple(_find_multiword_tokens(spans, texts))
    return ParserSentence(
        tokens, tuple(forms), _compute_placement(spans, token_spans), differing | ambiguous, multiword
    )


def select_word_note_counts(note_counts: Mapping[str, int]) -> dict[str, int]:
    """What counts say of trees that were parsed in other words than the tokens of their text.

    Returns:
        Counts by `OTHER_WORDS_NOTE` (sentences), `SEVERAL_WORDS_NOTE`, `WORD_PART_NOTE`, `SHARED_WORD_NOTE` and `AMBIGUOUS_TOKENS_NOTE` (tokens), and by `PARSED_AS_TOKENS_PREFIX`
        with a reason (sentences); empty where all were parsed in their tokens.
    """
    if OTHER_WORDS_NOTE not in note_counts:
        return {}
    rest = {
        what: number
        for what, number in note_counts.items()
        if what == AMBIGUOUS_TOKENS_NOTE or what.startswith(PARSED_AS_TOKENS_PREFIX)
    }
    return {
        what: note_counts.get(what, 0)
        for what in (OTHER_WORDS_NOTE, SEVERAL_WORDS_NOTE, WORD_PART_NOTE, SHARED_WORD_NOTE)
    } | rest


_CharacterSpans: TypeAlias = Sequence[tuple[int, int]]


def _find_multiword_tokens(spans: _CharacterSpans, surface_forms: Sequence[str]) -> Iterator[MultiwordToken]:
    """Yield neighboring words with the same characters in common."""
    first = 0
    for end in range(1, len(spans) + 1):
        if end == len(spans) or spans[end] != spans[first]:
            if end - first > 1:
                yield MultiwordToken(first + 1, end, surface_forms[first])
            first = end


def _find_overlapping_spans(span: tuple[int, int], spans: _CharacterSpans, ends: Sequence[int]) -> range:
    """Which of neighbouring spans share characters with one; of an empty one that which it is in or before."""
    first = min(bisect_right(ends, span[0]), len(spans) - 1)
    end = first + 1
    while end < len(spans) and spans[end][0] < span[1]:
        end += 1
    return range(first, end)


def _find_largest_overlap(span: tuple[int, int], spans: _CharacterSpans, ends: Sequence[int]) -> int:
    """Which of the spans shares most characters with one, the first of equals."""
    return max(
        _find_overlapping_spans(span, spans, ends),
        key=lambda other: min(span[1], spans[other][1]) - max(span[0], spans[other][0]),
    )


def _compute_placement(word_spans: _CharacterSpans, token_spans: _CharacterSpans) -> WordPlacement:
    ends_of_words, ends_of_tokens = [end for _, end in word_spans], [end for _, end in token_spans]
    of_words = tuple(_find_largest_overlap(word, token_spans, ends_of_tokens) for word in word_spans)
    with_words = set(of_words)
    return WordPlacement(
        of_words,
        tuple(
            token if token in with_words else of_words[_find_largest_overlap(span, word_spans, ends_of_words)]
            for token, span in enumerate(token_spans)
        ),
    )


def _count_differing_tokens(word_spans: _CharacterSpans, token_spans: _CharacterSpans) -> Counter[str]:
    """Count the tokens that are no words."""
    found: Counter[str] = Counter()
    ends = [end for _, end in word_spans]
    for start, end in token_spans:
        inside = [word_spans[word] for word in _find_overlapping_spans((start, end), word_spans, ends)]
        if inside == [(start, end)]:
            continue
        if all(start <= first and last <= end for first, last in inside):
            found[SEVERAL_WORDS_NOTE] += 1
        else:
            found[WORD_PART_NOTE if len(inside) == 1 else SHARED_WORD_NOTE] += 1
    return found


def casefold_visible_characters(text: str) -> list[str]:
    """Return the case-folded form of each character, empty for white space and for what cannot be seen."""
    return [_casefold_if_visible(character) for character in text]


@cache
def _casefold_if_visible(character: str) -> str:
    return (
        character.casefold() if remove_invisible_characters(character).strip() and is_visible_token(character) else ""
    )


def _compute_offsets(lengths: Iterable[int]) -> list[int]:
    return [0, *accumulate(lengths)]


def _match_letter_case(surface_form: str, form: str) -> str:
    """A form in which U+00A0 is the only white space, lower-cased where what is written is."""
    form = "\u00a0".join(form.split())
    return form.lower() if surface_form == surface_form.lower() else form
