"""What is said of a name that nothing is called by."""

import difflib
from typing import Any

LONGEST = 80
"""Characters of what was given that are shown."""


def shortened(given: str) -> str:
    """What was given, or how it begins."""
    return given if len(given) <= LONGEST else f"{given[:LONGEST]}…"


def listed(names: list[str]) -> str:
    """Names as they stand in a sentence."""
    return ", ".join(f"`{name}`" for name in names)


def unknown(kind: str, given: str, known: Any, last: str | None = None) -> str:
    """Name the nearest of what is known, or all of it; `last` is the part of `given` that is compared."""
    near = difflib.get_close_matches(last or given, [str(name) for name in known], n=1, cutoff=0.5)
    hint = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(sorted(map(str, known))) or 'none'}"
    return f"unknown {kind} `{shortened(given)}`; {hint}"
