"""How much of the lexicon sentences are made of."""

from enum import StrEnum


class LexiconSize(StrEnum):
    """All of it, or the most frequent verbs with the most frequent nouns that go with them."""

    whole = "whole"
    compact = "compact"
