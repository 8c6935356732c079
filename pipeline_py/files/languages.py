"""Properties of languages that follow from their scripts, and the languages of Moses; codes are resolved."""

CHINESE = frozenset({"lzh", "wuu", "yue", "zh"})
CHINESE_OR_JAPANESE = CHINESE | {"ja"}
UNSPACED = CHINESE_OR_JAPANESE | {"bo", "dz", "km", "lo", "my", "th"}
"""Languages without spaces between words; Tibetan, Dzongkha, Khmer, Lao, Burmese and Thai are not written in Han."""


def base_language(language: str) -> str:
    """Return a language without its script: `zh` for `zh-hant`."""
    return language.partition("-")[0]


def has_moses_rules(language: str) -> bool:
    """Whether Moses' tokenizer knows abbreviations of a language; it treats others like English."""
    from sacremoses.corpus import NonbreakingPrefixes

    return base_language(language) in NonbreakingPrefixes().available_langs
