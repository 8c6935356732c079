"""Text without spaces between words: Chinese and Japanese."""

import unicodedata


def join_chinese(words: list[str]) -> str:
    """Join words, with a space only where two letters or digits of another script would run together.

    `["我", "在", "New", "York", "买", "了", "3", "本", "书", "。"]` gives `我在New York买了3本书。`
    """
    text = ""
    for word in words:
        if text and _needs_space(text[-1]) and _needs_space(word[0]):
            text += " "
        text += word
    return text


def _needs_space(character: str) -> bool:
    # East Asian width "W" and "F" are ideographs, kana and full-width forms.
    return character.isalnum() and unicodedata.east_asian_width(character) not in "WF"
