"""Properties of languages, by resolved language code."""

CHINESE_LANGUAGES = frozenset({"gan", "hsn", "lzh", "wuu", "yue", "zh"})
CHINESE_JAPANESE_LANGUAGES = CHINESE_LANGUAGES | {"ja"}
UNSPACED_LANGUAGES = CHINESE_JAPANESE_LANGUAGES | {"bo", "dz", "km", "lo", "mnw", "my", "shn", "th", "tts"}
"""Languages written without spaces between words.

Southern Min (`nan`) and Hakka (`hak`) are excluded, since they are written in Latin script too.
"""


def get_base_language(language: str) -> str:
    """Return a language without its script: `zh` for `zh-hant`."""
    return language.partition("-")[0]


def has_moses_rules(language: str) -> bool:
    """Return whether Moses' tokenizer has abbreviations for a language."""
    from sacremoses.corpus import NonbreakingPrefixes

    return get_base_language(language) in NonbreakingPrefixes().available_langs
