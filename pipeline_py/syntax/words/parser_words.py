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

from pipeline_py.corpus.characters import is_visible, without_invisible
from pipeline_py.files.artifacts import Counts
from pipeline_py.files.text import read_lines
from pipeline_py.syntax.trees.dependency import MultiwordToken
from pipeline_py.syntax.words.retokenize import Places
from pipeline_py.syntax.words.token_alignment import read_sentences

OTHER_WORDS = "parsed in other words than its tokens"
SEVERAL = "tokens of several words"
PART = "tokens that are a part of a word"
ACROSS = "tokens that share a word with others"
AMBIGUOUS = "tokens left whole because the treebank reads them in several ways"
TOKENS_KEPT = "parsed in its tokens: "


class Word(NamedTuple):
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


Divide: TypeAlias = Callable[[Iterable[str]], Iterator[list[Word]]]
"""From sentences with single spaces, perhaps empty, to the words of each, from left to right."""


@dataclass(frozen=True)
class Sentence:
    """A sentence on its way through a parser.

    Attributes:
        tokens: of the text, which its tree shall be over.
        words: what the parser reads.
        places: where the words are among the tokens; None where they are the tokens.
        differing: how many tokens are no words, by `SEVERAL`, `PART` and `ACROSS`, and how many are `AMBIGUOUS`.
        multiword: words that the text joins, from left to right.
    """

    tokens: tuple[str, ...]
    words: tuple[str, ...]
    places: Places | None = None
    differing: Mapping[str, int] = field(default_factory=dict)
    multiword: tuple[MultiwordToken, ...] = ()

    def count(self, counts: Counts) -> None:
        """Count it, once it is parsed, where its words are not its tokens."""
        if self.places is not None:
            counts.note(OTHER_WORDS)
        for what, tokens in self.differing.items():
            counts.note(what, tokens)


def in_tokens(tokens: tuple[str, ...]) -> Sentence:
    """A sentence that is parsed in its tokens."""
    return Sentence(tokens, tokens)


class DoesNotFitError(Exception):
    """Words cannot be found in the tokens; the message is a short reason."""


def read_in_words(
    tokens: Path, text: Path, first: int, sentences: int | None, divide: Divide, counts: Counts
) -> Iterator[Sentence]:
    """Yield the sentences of a tokenized text, or of a slice of it, in the words that a parser knows.

    Where these cannot be found in the tokens a sentence is parsed in its tokens, and counted by reason.

    Args:
        tokens: one sentence a line, tokens separated by a space.
        text: the same lines before they were tokenized.
        first: lines before the slice.
        sentences: lines of the slice; all to the end when not given.
        divide: finds the words of a text.
        counts: counts.
    """
    for what in (OTHER_WORDS, SEVERAL, PART, ACROSS):
        counts.note(what, 0)  # zero is worth knowing
    lines = islice(read_lines(text), first, None if sentences is None else first + sentences)
    texts, divided = tee(" ".join(without_invisible(line).split()) for line in lines)
    for in_line, written, words in zip(read_sentences(tokens, first, sentences), texts, divide(divided), strict=True):
        try:
            yield in_words(in_line, written, words)
        except DoesNotFitError as reason:
            counts.note(f"{TOKENS_KEPT}{reason}")
            yield in_tokens(in_line)


def in_words(tokens: tuple[str, ...], text: str, words: Sequence[Word]) -> Sentence:
    """A sentence in the words of its text.

    A word goes to the token that has most of its characters, the first of equals; a token without a word is a part of
    that which has the word that covers most of it.

    Args:
        tokens: of the sentence.
        text: the sentence before it was tokenized.
        words: of the text; every character that can be seen is in one.

    Raises:
        DoesNotFitError: tokens and text differ in more than spaces and case.
    """
    joined = "".join(tokens)
    seen_of_text, seen_of_tokens = visible_characters(text), visible_characters(joined)
    if "".join(seen_of_text) != "".join(seen_of_tokens):
        raise DoesNotFitError("its text has other characters")
    in_text, in_tokens_ = _offsets(map(len, seen_of_text)), _offsets(map(len, seen_of_tokens))
    ends_of_tokens = [in_tokens_[end] for end in accumulate(map(len, tokens))]
    forms: list[str] = []
    texts: list[str] = []
    spans: list[tuple[int, int]] = []
    for word in words:
        start, end = in_text[word.start], in_text[word.end]
        if start < end:
            # What cannot be seen goes with the character before it.
            written = joined[bisect_right(in_tokens_, start) - 1 : bisect_right(in_tokens_, end) - 1]
            forms.append(written if word.form is None else _in_case_of(written, word.form))
            texts.append(written)
            spans.append((start, end))
    if not spans and tokens:
        raise DoesNotFitError("nothing to be seen")
    token_spans = list(zip([0, *ends_of_tokens[:-1]], ends_of_tokens, strict=True)) if tokens else []
    differing = _differing(spans, token_spans)
    ambiguous = {AMBIGUOUS: number} if (number := sum(word.is_ambiguous for word in words)) else {}
    if not differing:
        return Sentence(tokens, tokens, differing=ambiguous)
    multiword = tuple(_multiword(spans, texts))
    return Sentence(tokens, tuple(forms), _places(spans, token_spans), differing | ambiguous, multiword)


def noted_of_words(noted: Mapping[str, int]) -> dict[str, int]:
    """What counts say of trees that were parsed in other words than the tokens of their text.

    Returns:
        Counts by `OTHER_WORDS` (sentences), `SEVERAL`, `PART`, `ACROSS` and `AMBIGUOUS` (tokens), and by `TOKENS_KEPT`
        with a reason (sentences); empty where all were parsed in their tokens.
    """
    if OTHER_WORDS not in noted:
        return {}
    rest = {what: number for what, number in noted.items() if what == AMBIGUOUS or what.startswith(TOKENS_KEPT)}
    return {what: noted.get(what, 0) for what in (OTHER_WORDS, SEVERAL, PART, ACROSS)} | rest


_Spans: TypeAlias = Sequence[tuple[int, int]]


def _multiword(spans: _Spans, texts: Sequence[str]) -> Iterator[MultiwordToken]:
    """Yield neighboring words with the same characters in common."""
    first = 0
    for end in range(1, len(spans) + 1):
        if end == len(spans) or spans[end] != spans[first]:
            if end - first > 1:
                yield MultiwordToken(first + 1, end, texts[first])
            first = end


def _overlapping(span: tuple[int, int], spans: _Spans, ends: Sequence[int]) -> range:
    """Which of neighbouring spans share characters with one; of an empty one that which it is in or before."""
    first = min(bisect_right(ends, span[0]), len(spans) - 1)
    end = first + 1
    while end < len(spans) and spans[end][0] < span[1]:
        end += 1
    return range(first, end)


def _most(span: tuple[int, int], spans: _Spans, ends: Sequence[int]) -> int:
    """Which of the spans shares most characters with one, the first of equals."""
    return max(
        _overlapping(span, spans, ends), key=lambda other: min(span[1], spans[other][1]) - max(span[0], spans[other][0])
    )


def _places(words: _Spans, tokens: _Spans) -> Places:
    ends_of_words, ends_of_tokens = [end for _, end in words], [end for _, end in tokens]
    of_words = tuple(_most(word, tokens, ends_of_tokens) for word in words)
    with_words = set(of_words)
    return Places(
        of_words,
        tuple(
            token if token in with_words else of_words[_most(span, words, ends_of_words)]
            for token, span in enumerate(tokens)
        ),
    )


def _differing(words: _Spans, tokens: _Spans) -> Counter[str]:
    """Count the tokens that are no words."""
    found: Counter[str] = Counter()
    ends = [end for _, end in words]
    for start, end in tokens:
        inside = [words[word] for word in _overlapping((start, end), words, ends)]
        if inside == [(start, end)]:
            continue
        if all(start <= first and last <= end for first, last in inside):
            found[SEVERAL] += 1
        else:
            found[PART if len(inside) == 1 else ACROSS] += 1
    return found


def visible_characters(text: str) -> list[str]:
    """Return the case-folded form of each character, empty for white space and for what cannot be seen."""
    return [_seen_of(character) for character in text]


@cache
def _seen_of(character: str) -> str:
    return character.casefold() if without_invisible(character).strip() and is_visible(character) else ""


def _offsets(lengths: Iterable[int]) -> list[int]:
    return [0, *accumulate(lengths)]


def _in_case_of(written: str, form: str) -> str:
    """A form in which U+00A0 is the only white space, lower-cased where what is written is."""
    form = "\u00a0".join(form.split())
    return form.lower() if written == written.lower() else form
