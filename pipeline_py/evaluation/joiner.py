"""How the pieces of a system make up words."""

from typing import Literal

from pipeline_py.subword import pieces

Joiner = Literal["bpe", "none"]


def joined(line: list[str], joiner: Joiner) -> list[str]:
    """Give the words that pieces stand for, an empty one for a word of nothing but joiners."""
    return line if joiner == "none" else pieces.join(line)


def words_of(line: list[str], joiner: Joiner) -> list[str]:
    """Give the words that pieces stand for; a word of nothing but joiners is none."""
    return [word for word in joined(line, joiner) if word]
