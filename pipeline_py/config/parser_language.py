"""The language that a parser is made for, and whether it is that of a text."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

UD_FILE = re.compile(r"([a-z]{2,3})_[a-z0-9]+-ud-(?:train|dev|test)")
"""The beginning of the names of files of Universal Dependencies: `fr_sequoia-ud-train.conllu`."""


class KnownLanguage(NamedTuple):
    """The language of a parser.

    Attributes:
        code: of the language.
        origin: how it is known, as part of a message.
    """

    code: str
    origin: str


def language_of_treebank(files: Iterable[str | None]) -> KnownLanguage | None:
    """Return the language of a treebank of Universal Dependencies by the names of its files; None if no name has it."""
    names = [Path(file).name for file in files if file is not None]
    matches = ((UD_FILE.match(name), name) for name in names)
    return next((KnownLanguage(match[1], f"its treebank is {name}") for match, name in matches if match), None)


def is_same_language(code: str, other: str) -> bool:
    """Whether a parser of one language is for text of the other.

    Regions and scripts (`en-gb`, `zh-hans`) do not matter. Codes of two and of three letters (`fr`, `fra`) are not
    compared, and count as the same.
    """
    first, second = code.partition("-")[0], other.partition("-")[0]
    return first == second or len(first) != len(second)
