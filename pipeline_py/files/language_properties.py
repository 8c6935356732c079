"""Properties of languages that follow from their scripts, and the languages of Moses; codes are resolved."""

CHINESE_LANGUAGES = frozenset({"gan", "hsn", "lzh", "wuu", "yue", "zh"})
CHINESE_JAPANESE_LANGUAGES = CHINESE_LANGUAGES | {"ja"}
UNSPACED_LANGUAGES = CHINESE_JAPANESE_LANGUAGES | {"bo", "dz", "km", "lo", "mnw", "my", "shn", "th", "tts"}
"""Languages without spaces between words: also in the scripts of Tibetan, Khmer, Lao, Burmese and Thai.

Southern Min (`nan`) and Hakka (`hak`) are not among them, since they are written in Latin script too.
"""


def get_base_language(language: str) -> str:
    """Return a language without its script: `zh` for `zh-hant`."""
    return language.partition("-")[0]


def has_moses_rules(language: str) -> bool:
    """Whether Moses' tokenizer knows abbreviations of a language; it treats others like English."""
    from sacremoses.corpus import NonbreakingPrefixes

    return get_base_language(language) in NonbreakingPrefixes().available_langs
