"""Moses' tokenizer with its escapes, and its detokenizer: sacremoses, with Moses' rules where sacremoses lacks them.

The rules are those of tokenizer.perl and detokenizer.perl, with two exceptions. The detokenizer undoes the apostrophes
of the tokenizer in Irish and Catalan too. A Finnish suffix that is put behind its colon keeps its case.
"""

import re
from collections.abc import Callable, Iterable

ITALIAN_APOSTROPHE_LANGUAGES = frozenset({"ga", "ca"})
"""Languages of which an apostrophe ends a word, besides French and Italian: `D' fhág`, `l' home`."""

GLOTTAL_APOSTROPHE_LANGUAGES = frozenset({"so", "tdt"})
"""Languages of which an apostrophe between letters is a letter: `lo'aad`."""

WORD_INTERNAL_MARKS = {"fi": ":", "sv": ":", "ca": "·"}
"""Marks that belong to a word where a small letter follows: `EU:n`, `S:t`, `il·lusió`."""

GLUE_MARK = "\x02"
"""Stands before tokens that belong to the token before; text that is tokenized has no control characters."""

CZECH_NUMBER_PATTERN = re.compile("[0-9]+")
CZECH_DECIMAL_MARK_PATTERN = re.compile("[.,]")
CZECH_DASH_PATTERN = re.compile("[-–]")
CZECH_DASH_SUFFIX_PATTERN = re.compile("li$|mail", re.IGNORECASE)


CHARACTER_BY_ESCAPE = {
    "&apos;": "'",
    "&quot;": '"',
    "&#91;": "[",
    "&#93;": "]",
    "&#124;": "|",
    "&lt;": "<",
    "&gt;": ">",
    "&bra;": "[",  # of old versions, as the next two
    "&ket;": "]",
    "&bar;": "|",
    "&amp;": "&",
}
"""Characters by what tokenizer.perl writes for them."""

_ESCAPE_PATTERN = re.compile("|".join(CHARACTER_BY_ESCAPE))
_ESCAPABLE_CHARACTER_PATTERN = re.compile(f"[{re.escape(''.join({*CHARACTER_BY_ESCAPE.values()}))}]")
_UNKNOWN_WORD_PATTERN = re.compile("<unk>")


def build_moses_tokenizer(language: str) -> Callable[[str], list[str]]:
    """Return a function that splits a sentence into tokens, without XML escapes.

    Args:
        language: Two-letter code; another one has no abbreviations and rules of its own.
    """
    from sacremoses import MosesTokenizer

    moses = MosesTokenizer(lang=language)
    # Its own make sets of thousands of letters anew for every word with a full stop.
    letters, lower = frozenset(moses.IsAlpha), frozenset(moses.IsLower)
    moses.isanyalpha = lambda text: not letters.isdisjoint(text)
    moses.islower = lower.issuperset
    if mark := WORD_INTERNAL_MARKS.get(language):
        others = rf"[^{moses.IsAlnum}\s\.{mark}'`,\-]"
        moses.PAD_NOT_ISALNUM = re.compile(f"({others}|{mark}(?![{moses.IsLower}]))"), r" \1 "
    if language in ITALIAN_APOSTROPHE_LANGUAGES:
        moses.lang = "it"  # which decides nothing else
    if language in GLOTTAL_APOSTROPHE_LANGUAGES:
        other = f"[^{moses.IsAlpha}]"
        moses.NON_SPECIFIC_APOSTROPHE = re.compile(f"(?<={other})'(?=.)|(?<=.)'(?={other})"), " ' "
    return lambda sentence: moses.tokenize(sentence, escape=False)


def build_moses_detokenizer(language: str) -> Callable[[list[str]], str]:
    """Return a function that joins tokens without XML escapes to a sentence.

    Args:
        language: Two-letter code; another one has no rules of its own.
    """
    from sacremoses import MosesDetokenizer

    moses = MosesDetokenizer(lang="it" if language in ITALIAN_APOSTROPHE_LANGUAGES else language)
    if language == "cs":
        moses.IS_FRENCH_CONRTACTION = re.compile("(?!)")  # behind it is the rule for dashes, which fails
        glued = _glue_czech_tokens
    elif language == "fi":
        stems, possessives, particles = (
            "|".join(parts) for parts in (moses.FINNISH_MORPHSET_1, moses.FINNISH_MORPHSET_2, moses.FINNISH_MORPHSET_3)
        )
        suffix = re.compile(f"(?:{stems})(?:{possessives})?(?:{particles})?")
        glued = lambda tokens: _glue_finnish_suffixes(tokens, suffix)  # noqa: E731
    else:
        return lambda tokens: moses.detokenize(tokens, unescape=False)
    return lambda tokens: re.sub(f" ?{GLUE_MARK}", "", moses.detokenize(glued(tokens), unescape=False))


def _glue_czech_tokens(tokens: list[str]) -> list[str]:
    """Glue the parts of decimal numbers, and those of words with a dash: `3 , 5`, `bude - li`.

    A last token that is no number keeps sacremoses from gluing others: it looks at the last tokens of the sentence in
    place of those before a number.
    """
    glued = [*tokens, GLUE_MARK]
    for place in range(len(tokens) - 2):
        first, second, third = tokens[place : place + 3]
        if (
            CZECH_NUMBER_PATTERN.fullmatch(first)
            and CZECH_DECIMAL_MARK_PATTERN.fullmatch(second)
            and CZECH_NUMBER_PATTERN.fullmatch(third)
        ):
            glued[place + 2] = GLUE_MARK + third
        elif (
            place < len(tokens) - 3
            and first[-1:].isalpha()
            and CZECH_DASH_PATTERN.fullmatch(second)
            and CZECH_DASH_SUFFIX_PATTERN.match(third)
        ):
            glued[place + 1 : place + 3] = GLUE_MARK + second, GLUE_MARK + third
    return glued


def _glue_finnish_suffixes(tokens: list[str], suffix_pattern: re.Pattern[str]) -> list[str]:
    """Glue suffixes that follow a colon: `EU : ssa`."""
    return [
        GLUE_MARK + token if place and tokens[place - 1].endswith(":") and suffix_pattern.fullmatch(token) else token
        for place, token in enumerate(tokens)
    ]


def has_moses_escapes(lines: Iterable[str]) -> bool:
    """Return whether tokenizer.perl has escaped tokens: more characters that it escapes are escaped than are not."""
    escaped = unescaped = 0
    for line in lines:
        rest, count = _ESCAPE_PATTERN.subn("", line)
        escaped += count
        unescaped += len(_ESCAPABLE_CHARACTER_PATTERN.findall(_UNKNOWN_WORD_PATTERN.sub("", rest)))
    return escaped > unescaped


def undo_moses_escapes(text: str) -> str:
    """Undo the escapes of tokenizer.perl."""
    return _ESCAPE_PATTERN.sub(lambda match: CHARACTER_BY_ESCAPE[match[0]], text)
