"""Language codes, and the comparison of a parser's language with a text's."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pipeline_py.files.language_properties import get_base_language

TOOL_LANGUAGE_CODES = {
    "als": "sq",
    "arb": "ar",
    "azj": "az",
    "cmn": "zh",
    "ekk": "et",
    "fil": "tl",
    "khk": "mn",
    "lvs": "lv",
    "pes": "fa",
    "se": "sme",
    "swh": "sw",
    "uzn": "uz",
    "zsm": "ms",
}
"""Codes that Universal Dependencies, Stanza and Moses replace: mostly the main language of a macrolanguage."""


def resolve_language_code(code: str) -> str:
    """Return the code of a language that all tools use: the shortest of ISO 639, without region and script.

    `fra`, `fre`, `fr-CA` and `fra_Latn` become `fr`. Traditional Chinese (`zh-TW`) becomes `zh-hant`.

    Raises:
        ValueError: the code belongs to no language.
    """
    import langcodes

    tag = langcodes.Language.get(langcodes.standardize_tag(code))
    if not tag.is_valid() or tag.language in (None, "mis", "mul", "und", "zxx"):
        raise ValueError("no language has this code; give an ISO 639 code, e.g. en, deu or zh")
    language = TOOL_LANGUAGE_CODES.get(tag.language, tag.language)
    return "zh-hant" if language == "zh" and tag.maximize().script == "Hant" else language


UD_FILE_NAME_PATTERN = re.compile(r"([a-z]{2,3})_[a-z0-9]+-ud-(?:train|dev|test)")
"""The beginning of file names of Universal Dependencies, such as `fr_sequoia-ud-train.conllu`."""


class ParserLanguage(NamedTuple):
    """The language of a parser.

    Attributes:
        code: language code.
        evidence: source of this information, as part of a message.
    """

    code: str
    evidence: str


def find_treebank_language(files: Iterable[str | None]) -> ParserLanguage | None:
    """Return the language of a Universal Dependencies treebank from its file names; None if they do not contain it."""
    names = [Path(file).name for file in files if file is not None]
    matches = ((UD_FILE_NAME_PATTERN.match(name), name) for name in names)
    return next((ParserLanguage(match[1], f"its treebank is {name}") for match, name in matches if match), None)


MIXED_LANGUAGES = {
    "qaf": ("ar", "fr"),
    "qfn": ("fy", "nl"),
    "qhe": ("hi", "en"),
    "qtd": ("tr", "de"),
    "qte": ("te", "en"),
    "qti": ("tr", "en"),
}
"""The two languages of mixed text, by the code of its treebank in Universal Dependencies."""

MAX_LANGUAGE_DISTANCE = 10
"""Largest distance in CLDR's language matching between a parser and a text.

Standards of one language (Croatian and Serbian) are at most 5 apart, a language and its macrolanguage (Egyptian and
Arabic) 10, and other pairs 20 or more.
"""


def is_same_language(code: str, other_code: str) -> bool:
    """Return whether a parser of one language can read text of the other.

    Regions and scripts (`en-gb`, `zh-hans`) and the length of codes (`fr`, `fra`) do not matter. Standards of one
    language (`hr`, `sr`) are the same, and so are a macrolanguage and its members (`ar`, `arz`), but not two members.
    """
    return any(
        _are_close_languages(first, second)
        for first in _expand_main_codes(code)
        for second in _expand_main_codes(other_code)
    )


def _expand_main_codes(code: str) -> tuple[str, ...]:
    main = _get_main_code(code)
    return MIXED_LANGUAGES.get(main, (main,))


def _are_close_languages(code: str, other_code: str) -> bool:
    from langcodes import tag_distance

    if {code, other_code} == {"no", "nn"}:  # CLDR takes `no` for `nb`
        return True
    first, second = (f"{main}-Latn-001" for main in (code, other_code))  # scripts and regions do not matter
    return min(tag_distance(first, second), tag_distance(second, first)) <= MAX_LANGUAGE_DISTANCE


def _get_main_code(code: str) -> str:
    """Return the language code without region and script, unresolved if it is unknown."""
    try:
        return get_base_language(resolve_language_code(code))
    except ValueError:
        return get_base_language(code)
