"""Errors of one entry of the configuration, and names that nothing has."""

import difflib
from typing import Any

EntryKey = tuple[str, str]
"""A section of the configuration, and a name in it."""


class ConfigEntryError(ValueError):
    """What is wrong with one entry of a section.

    Args:
        section: systems, tables or figures.
        name: of the entry.
        what: is wrong, as the end of a sentence.
        beginning: of the sentence; by default the entry is named.

    Attributes:
        entry_key: which one it is.
    """

    def __init__(self, section: str, name: str, problem: str, prefix: str | None = None) -> None:
        super().__init__((prefix or f"{section.removesuffix('s')} `{name}`") + problem)
        self.entry_key: EntryKey = (section, name)


MAX_SHOWN_CHARACTERS = 80
"""Characters of what was given that are shown."""

KEY_SYNONYMS = {"gpu": "cuda", "lowercase": "case", "target": "references"}
"""Names of other toolkits, or of a neighbouring section, by lower-cased names that are no typing errors."""


def shorten_text(text: str) -> str:
    """What was given, or how it begins."""
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}…"


def format_name_list(names: list[str]) -> str:
    """Names as they stand in a sentence."""
    return ", ".join(f"`{name}`" for name in names)


def get_initials(name: str) -> str | None:
    """Return the initials of a name of several words."""
    words = name.split("_")
    return "".join(word[:1] for word in words) if len(words) > 1 else None


def find_nearest_name(unknown_name: str, known_names: Any) -> str | None:
    """Return the known name that is most like a given one, if any is.

    Examples: `learning_rate` for `lr`, `beam` for `beam_size`, `epochs` for `epochz`, `bleu` for `BLEU`, `cuda` for
    `gpu`.
    """
    names = {str(name).lower(): str(name) for name in known_names}
    unknown_name = unknown_name.lower()
    if (synonym := KEY_SYNONYMS.get(unknown_name)) in names:
        return names[synonym]
    words = {*unknown_name.split("_")}
    for lowercased, name in names.items():
        if unknown_name == get_initials(lowercased) or {*lowercased.split("_")} < words:
            return name
    near = difflib.get_close_matches(unknown_name, names, n=1, cutoff=0.5)
    return names[near[0]] if near else None


def format_unknown_name_error(kind: str, unknown_name: str, known_names: Any, last_part: str | None = None) -> str:
    """Name the nearest of what is known, or all but systems with other parsers; `last_part` of `unknown_name` is compared."""
    near = find_nearest_name(last_part or unknown_name, known_names)
    named = ", ".join(sorted(str(name) for name in known_names if " [" not in str(name)))
    hint = f"did you mean `{near}`?" if near else f"known are {named or 'none'}"
    return f"unknown {kind} `{shorten_text(unknown_name)}`; {hint}"
