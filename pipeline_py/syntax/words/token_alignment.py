"""Alignment of the words of a tree with the tokens of its sentence.

The text may contain a multi-word token ("don't") or its words ("do n't"). A word with white space ("10 000", U+00A0 in
trees) may correspond to several tokens, and a word with invisible characters (a soft hyphen) to a token without them,
as `corpus.tokenize` produces them. Spellings are compared after `normalize_spelling`.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeAlias
from unicodedata import normalize

from pipeline_py.corpus.characters import has_word_spaces, is_ascii_word_char, remove_invisible_characters
from pipeline_py.corpus.moses import undo_moses_escapes
from pipeline_py.files.text_files import read_lines, split_tokens
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.dependency import DependencyTree, MultiwordToken


def compose_with_offsets(text: str) -> tuple[str, Sequence[int]]:
    """Return text in NFC, with the offset of each of its characters in the original text, and the original length.

    A character and its combining marks form a unit; boundaries between units correspond exactly.
    """
    if unicodedata.is_normalized("NFC", text):
        return text, range(len(text) + 1)
    composed = ""
    starts: list[int] = []
    for start, end in _find_composition_units(text):
        unit = unicodedata.normalize("NFC", text[start:end])
        composed += unit
        starts += (min(start + place, end - 1) for place in range(len(unit)))
    return composed, [*starts, len(text)]


def _find_composition_units(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the shortest spans that NFC composes independently of each other."""
    start = 0
    for place in range(1, len(text)):
        unit = unicodedata.normalize("NFC", text[start:place])
        joined = unicodedata.normalize("NFC", text[start : place + 1])
        is_mark = unicodedata.combining(text[place]) != 0
        if not is_mark and joined == unit + unicodedata.normalize("NFC", text[place]):
            yield start, place
            start = place
    if text:
        yield start, len(text)


WORD_SPACE = "_"
"""Spelling of a space within a word (Vietnamese `chủ tịch`, French `10 000`) in files where spaces separate words."""

_SPACE_PATTERN = re.compile(r"\s+")


def spell_word(word: str, lowercase: bool = False, word_space: str = WORD_SPACE) -> str:
    """Replace the white space in a word, as in the vocabulary of a parser.

    Args:
        word: Word of a treebank or a text.
        lowercase: Lower-case the word.
        word_space: Replacement of white space; `_` for parsers that this project trains.
    """
    word = _SPACE_PATTERN.sub(word_space, word)
    return word.lower() if lowercase else word


def restore_original_text(tree: DependencyTree, language: str) -> str:
    """Restore the untokenized text of a sentence of a treebank.

    The comment `# text` is used if it has the characters of the tokens. Otherwise tokens are joined according to
    `SpaceAfter=No`. If a sentence has neither, tokens are joined with spaces; in languages without spaces, only between
    ASCII letters or digits.

    Args:
        tree: Tree of a treebank.
        language: ISO 639 code.
    """
    tokens = tree.tokens
    if _join_visible_text(tree.text_comment) == _join_visible_text("".join(token.form for token in tokens)):
        return " ".join(tree.text_comment.split())
    is_unspaced = not tree.unspaced_words and not has_word_spaces(language)
    text = ""
    for place, token in enumerate(tokens):
        previous = tokens[place - 1].last_word if place else 0
        if is_unspaced:
            needs_space = text != "" and is_ascii_word_char(text[-1]) and is_ascii_word_char(token.form[0])
        else:
            needs_space = text != "" and previous not in tree.unspaced_words
        text += " " * needs_space + token.form
    return " ".join(text.split())


def _join_visible_text(text: str) -> str:
    return "".join(remove_invisible_characters(text).split())


def read_sentences(tokens_path: Path, start: int = 0, line_count: int | None = None) -> Iterator[tuple[str, ...]]:
    """Yield the tokens of each line of a text, or of a slice of it.

    Args:
        tokens_path: Tokenized text, one sentence a line.
        start: Number of lines before the slice.
        line_count: Number of lines of the slice; None: all to the end.

    Raises:
        InputError: A line of the slice contains a tab or a carriage return, which tree files cannot represent.
    """
    lines = islice(read_lines(tokens_path), start, None if line_count is None else start + line_count)
    for number, line in enumerate(lines, start=start + 1):
        if "\t" in line or "\r" in line:
            raise InputError("a tab or a carriage return within the line; clean the text first", tokens_path, number)
        yield tuple(split_tokens(line))


NO_BREAK_SPACE = "\u00a0"

_BRACKET_BY_ESCAPE = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
_ESCAPE_PATTERN = re.compile(r"-[lr][rsc]b-|\\[/*]", flags=re.ASCII | re.IGNORECASE)


class WordTokenMatch(NamedTuple):
    """Corresponding words of a tree and tokens of the text.

    Attributes:
        form: Form in the tree.
        word_range: Indices of words, counted from 0; several for a multi-word token.
        token_range: Indices of tokens; several if the form contains white space.
    """

    form: str
    word_range: range
    token_range: range


_MatchPath: TypeAlias = tuple["_MatchPath", WordTokenMatch] | None
"""A linked list of matches, the last first."""


class DifferentWordsError(Exception):
    """Tree and text have different words; the message names the first difference."""


def normalize_spelling(word: str, ignore_case: bool = False) -> str:
    """Undo the escapes of a word, so that different spellings become equal.

    Replaces escaped brackets (`-LRB-`, `-RSB-`, …), slashes and asterisks, separate LaTeX quotation marks, and the
    escapes of Moses (`&apos;`). Converts letters to NFC.

    Args:
        word: Word of a text or of a tree.
        ignore_case: Lower-case the word.
    """
    if word in ("``", "''"):
        return '"'
    word = _ESCAPE_PATTERN.sub(lambda match: _BRACKET_BY_ESCAPE.get(match[0].lower(), match[0][-1]), word)
    word = normalize("NFC", undo_moses_escapes(word))
    return word.lower() if ignore_case else word


def align_words_with_tokens(
    words: Sequence[str],
    tokens: Sequence[str],
    multiword_tokens: Sequence[MultiwordToken] = (),
    ignore_case: bool = False,
) -> list[WordTokenMatch]:
    """Match all words of a tree with all tokens of a text, from left to right.

    Each multi-word token matches either itself or its words in the text; if both fit, its words.

    Args:
        words: Words of the tree.
        tokens: Tokens of the text.
        multiword_tokens: Tokens of the tree that join several words, from left to right.
        ignore_case: Ignore case when words are compared.

    Raises:
        DifferentWordsError: There is no such matching.
    """
    spelt = [normalize_spelling(token, ignore_case) for token in tokens]
    joined = {token.first_word - 1: token for token in multiword_tokens}
    # reached[i][j]: a matching of the first i words and the first j tokens. Rows rarely have more than two entries.
    reached: list[dict[int, _MatchPath]] = [{} for _ in range(len(words) + 1)]
    reached[0][0] = None
    for place, word in enumerate(words):
        for start, path in reached[place].items():
            for end in _find_match_ends(word, spelt, start, ignore_case):
                reached[place + 1][end] = path, WordTokenMatch(word, range(place, place + 1), range(start, end))
            if (token := joined.get(place)) is not None:
                for end in _find_match_ends(token.form, spelt, start, ignore_case):
                    match = WordTokenMatch(token.form, range(place, token.last_word), range(start, end))
                    reached[token.last_word].setdefault(end, (path, match))
    if len(tokens) not in reached[-1]:
        raise DifferentWordsError(_describe_first_mismatch(words, tokens, reached))
    path = reached[-1][len(tokens)]
    matches = []
    while path is not None:
        path, match = path
        matches.append(match)
    return matches[::-1]


def _find_match_ends(form: str, token_spellings: Sequence[str], start: int, ignore_case: bool) -> Iterator[int]:
    """Yield the possible ends of the tokens that begin at `start` and spell `form`."""
    if token_spellings[start : start + 1] == [normalize_spelling(form, ignore_case)]:
        yield start + 1
    if form.isascii():
        return
    # Text that was not tokenized here may still contain invisible characters.
    for parts in (form.split(), remove_invisible_characters(form).split(), [spell_word(form)]):
        spelt_parts = [normalize_spelling(part, ignore_case) for part in parts]
        if parts not in ([], [form]) and token_spellings[start : start + len(parts)] == spelt_parts:
            yield start + len(parts)


def _describe_first_mismatch(
    words: Sequence[str], tokens: Sequence[str], reachable_ends: Sequence[dict[int, _MatchPath]]
) -> str:
    place = max(place for place, ends in enumerate(reachable_ends) if ends)
    end = max(reachable_ends[place])
    if place == len(words):
        return f"the tree ends after {place} words and the text goes on with {tokens[end]!r}"
    if end == len(tokens):
        return f"word {place + 1} of the tree is {words[place]!r} and the text ends after {end} words"
    return f"word {place + 1} of the tree is {words[place]!r} and of the text {tokens[end]!r}"
