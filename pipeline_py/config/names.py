"""What may name something that becomes part of paths, and what may stand in the path of a user's file.

A file system has names of at most 255 bytes, and a file may be named after a system, a run, a set and a parser.
"""

import re
import unicodedata
from collections.abc import Iterable

LONGEST_NAME = 48
LONGEST_SYSTEM = 120
"""Bytes; `SYSTEM [PARSER]` is one of its own."""

IN_A_ROW = re.compile(r"(.+?)\1{19}$")
"""What Snakemake takes for the beginning of an endless recursion."""

PATH_OF_SNAKEMAKE = "{}<>"
"""What Snakemake takes for its own in a path: wildcards and variables."""


def is_name(name: str) -> bool:
    """Whether a parser, a scheme of units, or a part of a table's name may be called so."""
    return (
        name.replace("_", "").replace("-", "").isalnum()
        and name[0].isalnum()
        and name.isascii()
        and len(name) <= LONGEST_NAME
        and not IN_A_ROW.search(name)
    )


def is_name_of_system(name: str) -> bool:
    """Whether a system may be called so: there may be spaces, signs and brackets in it."""
    forbidden = set("/=:*?<>|\"'{}\\") & set(name)
    return (
        bool(name)
        and name == name.strip()
        and name.isprintable()
        and not forbidden
        and name[0] not in ".-@"
        and len(name.encode()) <= LONGEST_SYSTEM
        and not IN_A_ROW.search(name)
    )


def is_path(path: str) -> bool:
    """Whether Snakemake takes all of a path for a path."""
    return not {*PATH_OF_SNAKEMAKE} & {*path}


def check_collisions(kind: str, names: Iterable[str]) -> None:
    """Raise an error for names whose files are the same on a file system that ignores case or Unicode normalization.

    Args:
        kind: what the names are of, in the plural, for the message.
        names: all names of a kind.

    Raises:
        ValueError: naming two of them.
    """
    known: dict[str, str] = {}
    for name in names:
        other = known.setdefault(_fold(name), name)
        if other != name:
            raise ValueError(
                f"{kind} {other!r} and {name!r} differ only in case or in how accents are encoded, which some file "
                "systems ignore; rename one"
            )


def _fold(name: str) -> str:
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())
