"""The size of the lexicon."""

from enum import StrEnum


class LexiconSize(StrEnum):
    """The full lexicon, or the most frequent verbs with their most frequent nouns."""

    full = "whole"
    compact = "compact"
