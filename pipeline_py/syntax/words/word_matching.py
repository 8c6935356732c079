"""Match the words of two analyses of one text, as the evaluation of Universal Dependencies does.

Words match if they cover the same characters of the text. Within multi-word tokens they match by form, in the longest
common subsequence of both analyses of the same span (Zeman et al. 2018, CoNLL shared task, section 5).
"""

import unicodedata
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from pipeline_py.syntax.trees.dependency import DependencyTree
from pipeline_py.syntax.words.parser_words import casefold_visible_characters
from pipeline_py.syntax.words.token_alignment import WORD_SPACE


class TextMismatchError(Exception):
    """The analyses are of different texts."""


class _PositionedWord(NamedTuple):
    start: int
    end: int
    form: str
    is_multiword: bool


def match_tree_words(gold: DependencyTree, predicted: DependencyTree) -> list[tuple[int, int]]:
    """Return pairs of indices of matching gold and predicted words, counted from 0, from left to right.

    Raises:
        TextMismatchError: The texts differ in more than spaces, `_` and case.
    """
    gold_words, predicted_words = _locate_tree_words(gold), _locate_tree_words(predicted)
    if _join_token_text(gold) != _join_token_text(predicted):
        raise TextMismatchError
    matches: list[tuple[int, int]] = []
    i = j = 0
    while i < len(gold_words) and j < len(predicted_words):
        word, predicted_word = gold_words[i], predicted_words[j]
        if not word.is_multiword and predicted_word.is_multiword and word.start < predicted_word.start:
            i += 1
        elif word.is_multiword and not predicted_word.is_multiword and predicted_word.start < word.start:
            j += 1
        elif word.is_multiword or predicted_word.is_multiword:
            gold_end, predicted_end = _find_overlap_ends(gold_words, predicted_words, i, j)
            matches += _match_common_forms(gold_words, predicted_words, range(i, gold_end), range(j, predicted_end))
            i, j = gold_end, predicted_end
        elif (word.start, word.end) == (predicted_word.start, predicted_word.end):
            matches.append((i, j))
            i, j = i + 1, j + 1
        elif word.start <= predicted_word.start:
            i += 1
        else:
            j += 1
    return matches


def count_undivided_tokens(
    gold: DependencyTree, predicted: DependencyTree, is_space_delimited: bool
) -> tuple[int, int]:
    """Count the multi-word tokens of a gold tree, and those that lie within one predicted word.

    Words that touch (`SpaceAfter=No` between two letters or digits) are counted as multi-word tokens, too, since some
    treebanks annotate Arabic prefixes and pronouns in this way.

    Args:
        gold: Gold tree.
        predicted: Predicted tree of the same text.
        is_space_delimited: The language is written with spaces; otherwise words that touch are not counted.
    """
    tokens = _find_multiword_spans(gold, is_space_delimited)
    words = [(word.start, word.end) for word in _locate_tree_words(predicted) if not word.is_multiword]
    return len(tokens), sum(any(first <= start and end <= last for first, last in words) for start, end in tokens)


def _find_multiword_spans(tree: DependencyTree, is_space_delimited: bool) -> list[tuple[int, int]]:
    """Return start and end of the multi-word tokens, and of the spans of words that touch."""
    text = _join_token_text(tree)
    spans: list[list[int]] = []
    words = _locate_tree_words(tree)
    for place, word in enumerate(words):
        is_same_token = word.is_multiword and place > 0 and words[place - 1][:2] == word[:2]
        touches = (
            is_space_delimited
            and place in tree.unspaced_words
            and all(map(_is_word_character, text[word.start - 1 : word.start + 1]))
        )
        if is_same_token or touches:
            spans[-1][1:] = word.end, spans[-1][2] + 1
        else:
            spans.append([word.start, word.end, 1])
    return [(start, end) for start, end, number in spans if number > 1]


def _is_word_character(character: str) -> bool:
    """Return true for letters, marks and digits."""
    return unicodedata.category(character)[0] in "LMN"


def _find_overlap_ends(
    gold_words: Sequence[_PositionedWord],
    predicted_words: Sequence[_PositionedWord],
    gold_index: int,
    predicted_index: int,
) -> tuple[int, int]:
    """Return the end indices of the gold and predicted words that overlap a multi-word token.

    Further multi-word tokens that overlap these words extend them.
    """
    end = max(word.end for word in (gold_words[gold_index], predicted_words[predicted_index]) if word.is_multiword)
    ends = gold_index, predicted_index
    while (
        longer := (_find_end_within(gold_words, ends[0], end), _find_end_within(predicted_words, ends[1], end))
    ) != ends:
        ends = longer
        end = max(end, gold_words[ends[0] - 1].end, predicted_words[ends[1] - 1].end)
    return ends


def _find_end_within(words: Sequence[_PositionedWord], start_index: int, end: int) -> int:
    """Return the index after the last word that ends by `end`; a multi-word token only has to begin before it."""
    while (
        start_index < len(words)
        and words[start_index].start < end
        and (words[start_index].is_multiword or words[start_index].end <= end)
    ):
        start_index += 1
    return start_index


def _match_common_forms(
    gold_words: Sequence[_PositionedWord],
    predicted_words: Sequence[_PositionedWord],
    gold_range: range,
    predicted_range: range,
) -> list[tuple[int, int]]:
    """Return the pairs of the longest common subsequence of forms in two ranges."""
    lengths = [[0] * (len(predicted_range) + 1) for _ in range(len(gold_range) + 1)]
    for row in range(len(gold_range) - 1, -1, -1):
        for column in range(len(predicted_range) - 1, -1, -1):
            if gold_words[gold_range[row]].form == predicted_words[predicted_range[column]].form:
                lengths[row][column] = lengths[row + 1][column + 1] + 1
            else:
                lengths[row][column] = max(lengths[row + 1][column], lengths[row][column + 1])
    matches = []
    row = column = 0
    while row < len(gold_range) and column < len(predicted_range):
        if gold_words[gold_range[row]].form == predicted_words[predicted_range[column]].form:
            matches.append((gold_range[row], predicted_range[column]))
            row, column = row + 1, column + 1
        elif lengths[row + 1][column] >= lengths[row][column + 1]:
            row += 1
        else:
            column += 1
    return matches


def _locate_tree_words(tree: DependencyTree) -> list[_PositionedWord]:
    tokens = tree.tokens
    ends = [*accumulate(len(_join_visible_characters(token.form)) for token in tokens)]
    return [
        _PositionedWord(
            start,
            end,
            unicodedata.normalize("NFC", _join_visible_characters(tree.words[word])),
            token.last_word > token.first_word,
        )
        for token, start, end in zip(tokens, [0, *ends], ends, strict=False)
        for word in range(token.first_word - 1, token.last_word)
    ]


def _join_token_text(tree: DependencyTree) -> str:
    return "".join(_join_visible_characters(token.form) for token in tree.tokens)


def _join_visible_characters(form: str) -> str:
    return "".join(casefold_visible_characters(form)).replace(WORD_SPACE, "")
