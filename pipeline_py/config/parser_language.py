"""The language that a parser is made for, and whether it is that of a text."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pipeline_py.config.language_codes import resolve_language

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
    """Return whether a parser of one language is for text of the other.

    Regions and scripts (`en-gb`, `zh-hans`) and the length of codes (`fr`, `fra`) do not matter. Norwegian (`no`) is
    both of its written languages.
    """
    codes = {_main_code(code), _main_code(other)}
    return len(codes) == 1 or ("no" in codes and codes <= {"no", "nb", "nn"})


def _main_code(code: str) -> str:
    """Return the code of a language without region and script; the given one if no language has it."""
    try:
        return resolve_language(code).partition("-")[0]
    except ValueError:
        return code.partition("-")[0]
