"""Errors of one entry of the configuration, and names that nothing has."""

import difflib
from typing import Any

Entry = tuple[str, str]
"""A section of the configuration, and a name in it."""


class EntryError(ValueError):
    """What is wrong with one entry of a section.

    Args:
        section: systems, tables or figures.
        name: of the entry.
        what: is wrong, as the end of a sentence.
        beginning: of the sentence; by default the entry is named.

    Attributes:
        entry: which one it is.
    """

    def __init__(self, section: str, name: str, what: str, beginning: str | None = None) -> None:
        super().__init__((beginning or f"{section.removesuffix('s')} `{name}`") + what)
        self.entry: Entry = (section, name)


LONGEST = 80
"""Characters of what was given that are shown."""

SYNONYMS = {"gpu": "cuda", "lowercase": "case", "target": "references"}
"""Names of other toolkits, or of a neighbouring section, by lower-cased names that are no typing errors."""


def shortened(given: str) -> str:
    """What was given, or how it begins."""
    return given if len(given) <= LONGEST else f"{given[:LONGEST]}…"


def listed(names: list[str]) -> str:
    """Names as they stand in a sentence."""
    return ", ".join(f"`{name}`" for name in names)


def initials(name: str) -> str | None:
    """Return the initials of a name of several words."""
    words = name.split("_")
    return "".join(word[:1] for word in words) if len(words) > 1 else None


def nearest(given: str, known: Any) -> str | None:
    """Return the known name that is most like a given one, if any is.

    Examples: `learning_rate` for `lr`, `beam` for `beam_size`, `epochs` for `epochz`, `bleu` for `BLEU`, `cuda` for
    `gpu`.
    """
    names = {str(name).lower(): str(name) for name in known}
    given = given.lower()
    if (synonym := SYNONYMS.get(given)) in names:
        return names[synonym]
    words = {*given.split("_")}
    for lowercased, name in names.items():
        if given == initials(lowercased) or {*lowercased.split("_")} < words:
            return name
    near = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    return names[near[0]] if near else None


def unknown(kind: str, given: str, known: Any, last: str | None = None) -> str:
    """Name the nearest of what is known, or all but systems with other parsers; `last` of `given` is compared."""
    near = nearest(last or given, known)
    named = ", ".join(sorted(str(name) for name in known if " [" not in str(name)))
    hint = f"did you mean `{near}`?" if near else f"known are {named or 'none'}"
    return f"unknown {kind} `{shortened(given)}`; {hint}"
