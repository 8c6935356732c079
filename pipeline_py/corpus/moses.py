"""Moses' tokenizer with its escapes, and its detokenizer: sacremoses, with Moses' rules where sacremoses lacks them.

The rules are those of tokenizer.perl and detokenizer.perl, with two exceptions. The detokenizer undoes the apostrophes
of the tokenizer in Irish and Catalan too. A Finnish suffix that is put behind its colon keeps its case.
"""

import re
from collections.abc import Callable, Iterable

APOSTROPHE_AS_IN_ITALIAN = frozenset({"ga", "ca"})
"""Languages of which an apostrophe ends a word, besides French and Italian: `D' fhág`, `l' home`."""

GLOTTAL_APOSTROPHE = frozenset({"so", "tdt"})
"""Languages of which an apostrophe between letters is a letter: `lo'aad`."""

INNER_MARKS = {"fi": ":", "sv": ":", "ca": "·"}
"""Marks that belong to a word where a small letter follows: `EU:n`, `S:t`, `il·lusió`."""

GLUE = "\x02"
"""Stands before tokens that belong to the token before; text that is tokenized has no control characters."""

CZECH_NUMBER = re.compile("[0-9]+")
CZECH_POINT = re.compile("[.,]")
CZECH_DASH = re.compile("[-–]")
CZECH_AFTER_DASH = re.compile("li$|mail", re.IGNORECASE)


ESCAPES = {
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

_ESCAPE = re.compile("|".join(ESCAPES))
_ESCAPED_CHARACTER = re.compile(f"[{re.escape(''.join({*ESCAPES.values()}))}]")
_UNKNOWN = re.compile("<unk>")


def moses_tokenizer(language: str) -> Callable[[str], list[str]]:
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
    if mark := INNER_MARKS.get(language):
        others = rf"[^{moses.IsAlnum}\s\.{mark}'`,\-]"
        moses.PAD_NOT_ISALNUM = re.compile(f"({others}|{mark}(?![{moses.IsLower}]))"), r" \1 "
    if language in APOSTROPHE_AS_IN_ITALIAN:
        moses.lang = "it"  # which decides nothing else
    if language in GLOTTAL_APOSTROPHE:
        other = f"[^{moses.IsAlpha}]"
        moses.NON_SPECIFIC_APOSTROPHE = re.compile(f"(?<={other})'(?=.)|(?<=.)'(?={other})"), " ' "
    return lambda sentence: moses.tokenize(sentence, escape=False)


def moses_detokenizer(language: str) -> Callable[[list[str]], str]:
    """Return a function that joins tokens without XML escapes to a sentence.

    Args:
        language: Two-letter code; another one has no rules of its own.
    """
    from sacremoses import MosesDetokenizer

    moses = MosesDetokenizer(lang="it" if language in APOSTROPHE_AS_IN_ITALIAN else language)
    if language == "cs":
        moses.IS_FRENCH_CONRTACTION = re.compile("(?!)")  # behind it is the rule for dashes, which fails
        glued = _glue_czech
    elif language == "fi":
        stems, possessives, particles = (
            "|".join(parts) for parts in (moses.FINNISH_MORPHSET_1, moses.FINNISH_MORPHSET_2, moses.FINNISH_MORPHSET_3)
        )
        suffix = re.compile(f"(?:{stems})(?:{possessives})?(?:{particles})?")
        glued = lambda tokens: _glue_finnish(tokens, suffix)  # noqa: E731
    else:
        return lambda tokens: moses.detokenize(tokens, unescape=False)
    return lambda tokens: re.sub(f" ?{GLUE}", "", moses.detokenize(glued(tokens), unescape=False))


def _glue_czech(tokens: list[str]) -> list[str]:
    """Glue the parts of decimal numbers, and those of words with a dash: `3 , 5`, `bude - li`.

    A last token that is no number keeps sacremoses from gluing others: it looks at the last tokens of the sentence in
    place of those before a number.
    """
    glued = [*tokens, GLUE]
    for place in range(len(tokens) - 2):
        first, second, third = tokens[place : place + 3]
        if CZECH_NUMBER.fullmatch(first) and CZECH_POINT.fullmatch(second) and CZECH_NUMBER.fullmatch(third):
            glued[place + 2] = GLUE + third
        elif (
            place < len(tokens) - 3
            and first[-1:].isalpha()
            and CZECH_DASH.fullmatch(second)
            and CZECH_AFTER_DASH.match(third)
        ):
            glued[place + 1 : place + 3] = GLUE + second, GLUE + third
    return glued


def _glue_finnish(tokens: list[str], suffix: re.Pattern[str]) -> list[str]:
    """Glue suffixes that follow a colon: `EU : ssa`."""
    return [
        GLUE + token if place and tokens[place - 1].endswith(":") and suffix.fullmatch(token) else token
        for place, token in enumerate(tokens)
    ]


def are_escaped(lines: Iterable[str]) -> bool:
    """Return whether tokenizer.perl has escaped tokens: more characters that it escapes are escaped than are not."""
    escaped = unescaped = 0
    for line in lines:
        rest, count = _ESCAPE.subn("", line)
        escaped += count
        unescaped += len(_ESCAPED_CHARACTER.findall(_UNKNOWN.sub("", rest)))
    return escaped > unescaped


def unescape(text: str) -> str:
    """Undo the escapes of tokenizer.perl."""
    return _ESCAPE.sub(lambda match: ESCAPES[match[0]], text)
