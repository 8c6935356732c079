"""Moses' tokenizer, escapes and detokenizer: sacremoses with the rules of Moses that sacremoses lacks.

The rules are those of tokenizer.perl and detokenizer.perl, with two exceptions: the detokenizer also joins Irish and
Catalan apostrophes, and a Finnish suffix after a colon keeps its case.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial

ITALIAN_APOSTROPHE_LANGUAGES = frozenset({"ga", "ca"})
"""Languages in which an apostrophe ends a word, in addition to French and Italian: `D' fhág`, `l' home`."""

GLOTTAL_APOSTROPHE_LANGUAGES = frozenset({"so", "tdt"})
"""Languages in which an apostrophe between letters is a letter: `lo'aad`."""

WORD_INTERNAL_MARKS = {"fi": ":", "sv": ":", "ca": "·"}
"""Marks that are part of a word if a lower-case letter follows: `EU:n`, `S:t`, `il·lusió`."""

GLUE_MARK = "\x02"
"""A prefix of tokens to be joined with the previous token; tokenized text has no control characters."""

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
    "&bra;": "[",  # this and the next two: old versions of Moses
    "&ket;": "]",
    "&bar;": "|",
    "&amp;": "&",
}
"""The escapes of tokenizer.perl."""

_ESCAPE_PATTERN = re.compile("|".join(CHARACTER_BY_ESCAPE))
_ESCAPABLE_CHARACTER_PATTERN = re.compile(f"[{re.escape(''.join({*CHARACTER_BY_ESCAPE.values()}))}]")
_UNKNOWN_WORD_PATTERN = re.compile("<unk>")


def build_moses_tokenizer(language: str) -> Callable[[str], list[str]]:
    """Return a function that splits a sentence into tokens, without XML escapes.

    Args:
        language: Two-letter code; unknown languages have no abbreviations and special rules.
    """
    from sacremoses import MosesTokenizer

    moses = MosesTokenizer(lang=language)
    # sacremoses builds sets of thousands of letters for every word with a full stop.
    letters, lower = frozenset(moses.IsAlpha), frozenset(moses.IsLower)
    moses.isanyalpha = lambda text: not letters.isdisjoint(text)
    moses.islower = lower.issuperset
    if mark := WORD_INTERNAL_MARKS.get(language):
        separate_signs = rf"[^{moses.IsAlnum}\s\.{mark}'`,\-]"
        moses.PAD_NOT_ISALNUM = re.compile(f"({separate_signs}|{mark}(?![{moses.IsLower}]))"), r" \1 "
    if language in ITALIAN_APOSTROPHE_LANGUAGES:
        moses.lang = "it"  # affects only apostrophes
    if language in GLOTTAL_APOSTROPHE_LANGUAGES:
        non_letter = f"[^{moses.IsAlpha}]"
        moses.NON_SPECIFIC_APOSTROPHE = re.compile(f"(?<={non_letter})'(?=.)|(?<=.)'(?={non_letter})"), " ' "
    return lambda sentence: moses.tokenize(sentence, escape=False)


def build_moses_detokenizer(language: str) -> Callable[[list[str]], str]:
    """Return a function that joins tokens without XML escapes to a sentence.

    Args:
        language: Two-letter code; unknown languages have no special rules.
    """
    from sacremoses import MosesDetokenizer

    moses = MosesDetokenizer(lang="it" if language in ITALIAN_APOSTROPHE_LANGUAGES else language)
    if language == "cs":
        moses.IS_FRENCH_CONRTACTION = re.compile("(?!)")  # disables the rule for dashes, which fails
        mark_tokens_to_glue = _mark_czech_tokens_to_glue
    elif language == "fi":
        stems, possessives, particles = (
            "|".join(parts) for parts in (moses.FINNISH_MORPHSET_1, moses.FINNISH_MORPHSET_2, moses.FINNISH_MORPHSET_3)
        )
        suffix = re.compile(f"(?:{stems})(?:{possessives})?(?:{particles})?")
        mark_tokens_to_glue = partial(_mark_finnish_suffixes_to_glue, suffix)
    else:
        return lambda tokens: moses.detokenize(tokens, unescape=False)
    return lambda tokens: re.sub(f" ?{GLUE_MARK}", "", moses.detokenize(mark_tokens_to_glue(tokens), unescape=False))


def _mark_czech_tokens_to_glue(tokens: list[str]) -> list[str]:
    """Mark the tokens to glue to the previous one, in decimal numbers and words with a dash: `3 , 5`, `bude - li`.

    The glue mark at the end prevents an error of sacremoses, which glues numbers by the last tokens of the sentence
    instead of the tokens before the number.
    """
    marked_tokens = [*tokens, GLUE_MARK]
    for position in range(len(tokens) - 2):
        first, second, third = tokens[position : position + 3]
        if (
            CZECH_NUMBER_PATTERN.fullmatch(first)
            and CZECH_DECIMAL_MARK_PATTERN.fullmatch(second)
            and CZECH_NUMBER_PATTERN.fullmatch(third)
        ):
            marked_tokens[position + 2] = GLUE_MARK + third
        elif (
            position < len(tokens) - 3
            and first[-1:].isalpha()
            and CZECH_DASH_PATTERN.fullmatch(second)
            and CZECH_DASH_SUFFIX_PATTERN.match(third)
        ):
            marked_tokens[position + 1 : position + 3] = GLUE_MARK + second, GLUE_MARK + third
    return marked_tokens


def _mark_finnish_suffixes_to_glue(suffix_pattern: re.Pattern[str], tokens: list[str]) -> list[str]:
    """Mark suffixes to glue to a colon: `EU : ssa`."""
    return [
        GLUE_MARK + token if previous.endswith(":") and suffix_pattern.fullmatch(token) else token
        for previous, token in zip(["", *tokens], tokens, strict=False)
    ]


def has_moses_escapes(lines: Iterable[str]) -> bool:
    """Return whether a text is escaped by tokenizer.perl: most of the characters that it escapes are escaped."""
    escaped_count = unescaped_count = 0
    for line in lines:
        rest, count = _ESCAPE_PATTERN.subn("", line)
        escaped_count += count
        unescaped_count += len(_ESCAPABLE_CHARACTER_PATTERN.findall(_UNKNOWN_WORD_PATTERN.sub("", rest)))
    return escaped_count > unescaped_count


def undo_moses_escapes(text: str) -> str:
    """Undo the escapes of tokenizer.perl."""
    return _ESCAPE_PATTERN.sub(lambda match: CHARACTER_BY_ESCAPE[match[0]], text)
