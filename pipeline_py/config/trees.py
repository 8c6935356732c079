"""The two files of trees that every parser's trees end in, and which of them a kind of syntax is made from."""

from collections.abc import Iterable
from typing import Literal, get_args

from pipeline_py.config.parts import KINDS_WITHOUT_PARSER

Trees = Literal["conllu", "ptb"]
"""Dependency trees or phrase trees, called by the ending of their file."""

TREES: tuple[Trees, ...] = get_args(Trees)

NAMES_OF_TREES: dict[Trees, str] = {"conllu": "CoNLL-U", "ptb": "PTB"}
"""What people call the formats."""

KINDS_OF_PHRASES = ("trees",)
"""Kinds of syntax artifacts that are made from phrase trees; all others are made from dependency trees."""


def trees_behind(kinds: Iterable[str]) -> list[Trees]:
    """Say which trees some kinds of syntax artifacts are made from, dependency trees first."""
    parsed = [kind for kind in kinds if kind not in KINDS_WITHOUT_PARSER]
    made_from = {"ptb" if kind in KINDS_OF_PHRASES else "conllu" for kind in parsed}
    return [trees for trees in TREES if trees in made_from]
