"""Language codes: the code by which all tools know a language."""

TOOL_CODES = {
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


def resolve_language(code: str) -> str:
    """Return the code by which all tools know a language: the shortest of ISO 639, without region and script.

    `fra`, `fre`, `fr-CA` and `fra_Latn` are `fr`. Traditional Chinese (`zh-TW`) is `zh-hant`.

    Raises:
        ValueError: the code belongs to no language.
    """
    import langcodes

    tag = langcodes.Language.get(langcodes.standardize_tag(code))
    if not tag.is_valid() or tag.language in (None, "mis", "mul", "und", "zxx"):
        raise ValueError("no language has this code; give an ISO 639 code, e.g. en, deu or zh")
    language = TOOL_CODES.get(tag.language, tag.language)
    return "zh-hant" if language == "zh" and tag.maximize().script == "Hant" else language
