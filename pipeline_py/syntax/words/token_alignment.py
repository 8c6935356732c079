"""Which words of a tree are which tokens of its sentence, where the two may divide the sentence differently.

A multi-word token may stand in the text as it is written ("don't") or as its words ("do n't"). A word with white space
in it ("10 000", where trees have U+00A0) may be several tokens, and one with invisible characters (a soft hyphen) a
token without them: that is what `corpus.tokenize` makes of them. Spellings are compared by `plain_spelling`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias
from unicodedata import normalize

from pipeline_py.corpus.characters import without_invisible
from pipeline_py.corpus.moses import unescape
from pipeline_py.syntax.trees.dependency import MultiwordToken
from pipeline_py.syntax.words.treebank_spelling import spell_word

SPACE = "\u00a0"

_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
_ESCAPE = re.compile(r"-[lr][rsc]b-|\\[/*]", flags=re.ASCII | re.IGNORECASE)


class Match(NamedTuple):
    """Words of a tree and tokens of the text that are the same.

    Attributes:
        form: how the tree writes them.
        words: places in the tree, counted from 0; several for a multi-word token.
        tokens: places in the text; several where the form holds white space.
    """

    form: str
    words: range
    tokens: range


_Path: TypeAlias = tuple["_Path", Match] | None
"""The last match and all before it."""


class DifferentWordsError(Exception):
    """Tree and text do not have the same words; the message names the first difference."""


def plain_spelling(word: str, ignore_case: bool = False) -> str:
    """Spell a word as text does, so that two spellings of one word become equal.

    Brackets (`-LRB-`, `-RSB-`, …), also within a word, the quotation marks of LaTeX that stand alone, escaped slashes
    and asterisks, and the escapes of Moses (`&apos;`). Letters in Unicode's NFD, with their accents apart, become NFC.

    Args:
        word: a word of a text or of a tree.
        ignore_case: lower-case it.
    """
    if word in ("``", "''"):
        return '"'
    word = _ESCAPE.sub(lambda found: _BRACKETS.get(found[0].lower(), found[0][-1]), word)
    word = normalize("NFC", unescape(word))
    return word.lower() if ignore_case else word


def align(
    words: Sequence[str], tokens: Sequence[str], multiword: Sequence[MultiwordToken] = (), ignore_case: bool = False
) -> list[Match]:
    """Match all words of a tree with all tokens of a text, from left to right.

    For each multi-word token on its own the text decides whether it is one; where both readings fit, it is its words.

    Args:
        words: forms of the tree.
        tokens: of the text.
        multiword: tokens that join several words, from left to right.
        ignore_case: words that are equal when lower-cased are the same.

    Raises:
        DifferentWordsError: there is no such matching.
    """
    spelt = [plain_spelling(token, ignore_case) for token in tokens]
    joined = {token.first - 1: token for token in multiword}
    # reached[i][j]: how the first i words match the first j tokens. Hardly ever does a row have more than two entries.
    reached: list[dict[int, _Path]] = [{} for _ in range(len(words) + 1)]
    reached[0][0] = None
    for place, word in enumerate(words):
        for start, path in reached[place].items():
            for end in _ends(word, spelt, start, ignore_case):
                reached[place + 1][end] = path, Match(word, range(place, place + 1), range(start, end))
            if (token := joined.get(place)) is not None:
                for end in _ends(token.form, spelt, start, ignore_case):
                    match = Match(token.form, range(place, token.last), range(start, end))
                    reached[token.last].setdefault(end, (path, match))
    if len(tokens) not in reached[-1]:
        raise DifferentWordsError(_difference(words, tokens, reached))
    path = reached[-1][len(tokens)]
    matches = []
    while path is not None:
        path, match = path
        matches.append(match)
    return matches[::-1]


def _ends(form: str, spelt: Sequence[str], start: int, ignore_case: bool) -> Iterator[int]:
    """Where the tokens from `start` on that are `form` may end: as it is, one token for each visible part, or `_`."""
    if spelt[start : start + 1] == [plain_spelling(form, ignore_case)]:
        yield start + 1
    if form.isascii():
        return
    # Text that came tokenized still has its invisible characters.
    for parts in (form.split(), without_invisible(form).split(), [spell_word(form)]):
        spelt_parts = [plain_spelling(part, ignore_case) for part in parts]
        if parts not in ([], [form]) and spelt[start : start + len(parts)] == spelt_parts:
            yield start + len(parts)


def _difference(words: Sequence[str], tokens: Sequence[str], reached: Sequence[dict[int, _Path]]) -> str:
    place = max(place for place, ends in enumerate(reached) if ends)
    end = max(reached[place])
    if place == len(words):
        return f"the tree ends after {place} words and the text goes on with {tokens[end]!r}"
    if end == len(tokens):
        return f"word {place + 1} of the tree is {words[place]!r} and the text ends after {end} words"
    return f"word {place + 1} of the tree is {words[place]!r} and of the text {tokens[end]!r}"
