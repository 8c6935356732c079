"""Match the words of two analyses of one text, as the evaluation of Universal Dependencies does.

Words are the same if they have the same characters of the text. Within multi-word tokens they are compared by their
forms: the longest common subsequence of what both analyses have in the same stretch of text (Zeman et al. 2018, CoNLL
shared task, section 5).
"""

import unicodedata
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from pipeline_py.syntax.trees.dependency import DependencyTree
from pipeline_py.syntax.words.parser_words import visible_characters
from pipeline_py.syntax.words.token_alignment import WORD_SPACE


class DifferentTextError(Exception):
    """The analyses are not of the same text."""


class _Word(NamedTuple):
    start: int
    end: int
    form: str
    is_multiword: bool


def match_words(gold: DependencyTree, predicted: DependencyTree) -> list[tuple[int, int]]:
    """Return the places of words that are the same, counted from 0, from left to right.

    Raises:
        DifferentTextError: the texts differ in more than spaces, `_` and case.
    """
    words, others = _words(gold), _words(predicted)
    if _text(gold) != _text(predicted):
        raise DifferentTextError
    matches: list[tuple[int, int]] = []
    place = other = 0
    while place < len(words) and other < len(others):
        word, other_word = words[place], others[other]
        if not word.is_multiword and other_word.is_multiword and word.start < other_word.start:
            place += 1
        elif word.is_multiword and not other_word.is_multiword and other_word.start < word.start:
            other += 1
        elif word.is_multiword or other_word.is_multiword:
            end, other_end = _stretch(words, others, place, other)
            matches += _common(words, others, range(place, end), range(other, other_end))
            place, other = end, other_end
        elif (word.start, word.end) == (other_word.start, other_word.end):
            matches.append((place, other))
            place, other = place + 1, other + 1
        elif word.start <= other_word.start:
            place += 1
        else:
            other += 1
    return matches


def count_whole_tokens(gold: DependencyTree, predicted: DependencyTree, has_spaces: bool) -> tuple[int, int]:
    """Count the multi-word tokens of a gold tree, and those that lie within one predicted word.

    Words that touch (`SpaceAfter=No` between two letters or digits) form a multi-word token too, since some treebanks
    write Arabic prefixes and pronouns so.

    Args:
        gold: of a sentence.
        predicted: of the same text.
        has_spaces: the language is written with spaces; otherwise words that touch are not counted.
    """
    tokens = _multiword_spans(gold, has_spaces)
    words = [(word.start, word.end) for word in _words(predicted) if not word.is_multiword]
    return len(tokens), sum(any(first <= start and end <= last for first, last in words) for start, end in tokens)


def _multiword_spans(tree: DependencyTree, has_spaces: bool) -> list[tuple[int, int]]:
    """Return start and end of the tokens of several words, and of the stretches of words that touch."""
    text = _text(tree)
    spans: list[list[int]] = []
    words = _words(tree)
    for place, word in enumerate(words):
        is_same_token = word.is_multiword and place > 0 and words[place - 1][:2] == word[:2]
        touches = has_spaces and place in tree.unspaced and all(map(_is_of_word, text[word.start - 1 : word.start + 1]))
        if is_same_token or touches:
            spans[-1][1:] = word.end, spans[-1][2] + 1
        else:
            spans.append([word.start, word.end, 1])
    return [(start, end) for start, end, number in spans if number > 1]


def _is_of_word(character: str) -> bool:
    """Whether a character is a letter, a mark or a digit."""
    return unicodedata.category(character)[0] in "LMN"


def _stretch(words: Sequence[_Word], others: Sequence[_Word], place: int, other: int) -> tuple[int, int]:
    """Return the ends of the words that share text with a multi-word token, and with those that overlap it."""
    end = max(each.end for each in (words[place], others[other]) if each.is_multiword)
    ends = place, other
    while (longer := (_end_within(words, ends[0], end), _end_within(others, ends[1], end))) != ends:
        ends = longer
        end = max(end, words[ends[0] - 1].end, others[ends[1] - 1].end)
    return ends


def _end_within(words: Sequence[_Word], place: int, end: int) -> int:
    """Return the first place of a word beyond `end`; a multi-word token is beyond it if it begins there."""
    while place < len(words) and words[place].start < end and (words[place].is_multiword or words[place].end <= end):
        place += 1
    return place


def _common(
    words: Sequence[_Word], others: Sequence[_Word], places: range, other_places: range
) -> list[tuple[int, int]]:
    """Return the longest common subsequence of forms in two ranges."""
    lengths = [[0] * (len(other_places) + 1) for _ in range(len(places) + 1)]
    for row in range(len(places) - 1, -1, -1):
        for column in range(len(other_places) - 1, -1, -1):
            if words[places[row]].form == others[other_places[column]].form:
                lengths[row][column] = lengths[row + 1][column + 1] + 1
            else:
                lengths[row][column] = max(lengths[row + 1][column], lengths[row][column + 1])
    matches = []
    row = column = 0
    while row < len(places) and column < len(other_places):
        if words[places[row]].form == others[other_places[column]].form:
            matches.append((places[row], other_places[column]))
            row, column = row + 1, column + 1
        elif lengths[row + 1][column] >= lengths[row][column + 1]:
            row += 1
        else:
            column += 1
    return matches


def _words(tree: DependencyTree) -> list[_Word]:
    tokens = tree.tokens
    ends = [*accumulate(len(_visible(token.form)) for token in tokens)]
    return [
        _Word(start, end, unicodedata.normalize("NFC", _visible(tree.words[word])), token.last > token.first)
        for token, start, end in zip(tokens, [0, *ends], ends, strict=False)
        for word in range(token.first - 1, token.last)
    ]


def _text(tree: DependencyTree) -> str:
    return "".join(_visible(token.form) for token in tree.tokens)


def _visible(form: str) -> str:
    return "".join(visible_characters(form)).replace(WORD_SPACE, "")
