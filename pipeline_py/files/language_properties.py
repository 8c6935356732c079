"""Properties of languages, by resolved language code, and their scripts without spaces between words."""

CHINESE_LANGUAGES = frozenset({"gan", "hsn", "lzh", "wuu", "yue", "zh"})
CHINESE_JAPANESE_LANGUAGES = CHINESE_LANGUAGES | {"ja"}
UNSPACED_LANGUAGES = CHINESE_JAPANESE_LANGUAGES | {"bo", "dz", "km", "lo", "mnw", "my", "shn", "th", "tts"}
"""Languages written without spaces between words.

Southern Min (`nan`) and Hakka (`hak`) are excluded, since they are written in Latin script too.
"""

HAN_KANA_RANGES = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Han, Hiragana and Katakana, which are written without spaces (unlike Hangul)."""

UNSPACED_LETTER_RANGES = "\u0e00-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f"
"""Thai, Lao, Tibetan, Burmese and Khmer, whose letters are written without spaces between words."""

UNSPACED_CHARACTER_RANGES = HAN_KANA_RANGES + UNSPACED_LETTER_RANGES
"""Characters of scripts without spaces between words, for a character class of a regular expression."""


def get_base_language(language: str) -> str:
    """Return a language without its script: `zh` for `zh-hant`."""
    return language.partition("-")[0]


def has_moses_rules(language: str) -> bool:
    """Return whether Moses' tokenizer has abbreviations for a language."""
    from sacremoses.corpus import NonbreakingPrefixes

    return get_base_language(language) in NonbreakingPrefixes().available_langs
