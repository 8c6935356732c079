"""Errors in one entry of the configuration, and messages about unknown names."""

import difflib
from typing import Any

EntryKey = tuple[str, str]
"""A section of the configuration and the name of an entry in it."""


class ConfigEntryError(ValueError):
    """An error in one entry of a section.

    Args:
        section: systems, tables or figures.
        name: name of the entry.
        problem: end of the message.
        prefix: beginning of the message; default: the entry.
    """

    def __init__(self, section: str, name: str, problem: str, prefix: str | None = None) -> None:
        super().__init__((prefix or f"{section.removesuffix('s')} `{name}`") + problem)
        self.entry_key: EntryKey = (section, name)


MAX_SHOWN_CHARACTERS = 80
"""Limit of characters of a value in a message."""

KEY_SYNONYMS = {"gpu": "cuda", "lowercase": "case", "target": "references"}
"""Keys and options by lower-cased synonyms from other toolkits or sections."""


def shorten_text(text: str) -> str:
    """Return a text, or its beginning and an ellipsis if it is too long for a message."""
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}…"


def format_name_list(names: list[str]) -> str:
    """Return the names in backquotes, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


def get_initials(name: str) -> str | None:
    """Return the initials of a name of several words, e.g. `lr`; None for a single word."""
    words = name.split("_")
    return "".join(word[:1] for word in words) if len(words) > 1 else None


def find_nearest_name(unknown_name: str, known_names: Any) -> str | None:
    """Return the known name that is most similar to an unknown one; None if there is none.

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
    matches = difflib.get_close_matches(unknown_name, names, n=1, cutoff=0.5)
    return names[matches[0]] if matches else None


def format_unknown_name_error(kind: str, unknown_name: str, known_names: Any, last_part: str | None = None) -> str:
    """Format the error message for an unknown name, with the nearest known name or all known names.

    Args:
        kind: noun for the message.
        unknown_name: the name.
        known_names: all names of the kind; crossed systems (`SYSTEM [PARSER]`) are not listed.
        last_part: the part of `unknown_name` that is compared with known names; None: all of it.
    """
    nearest_name = find_nearest_name(last_part or unknown_name, known_names)
    listed_names = ", ".join(sorted(str(name) for name in known_names if " [" not in str(name)))
    hint = f"did you mean `{nearest_name}`?" if nearest_name else f"known are {listed_names or 'none'}"
    return f"unknown {kind} `{shorten_text(unknown_name)}`; {hint}"
