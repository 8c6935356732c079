"""How a ledger of trees counts sentences without a parse, by reason."""

from collections.abc import Mapping

from pipeline_py.artifact import Ledger

_NOTE = "parsed by fallback: "


def note_fallback(ledger: Ledger, reason: str) -> None:
    """Count a sentence without a parse."""
    ledger.note(_NOTE + reason)


def fallbacks(noted: Mapping[str, int]) -> dict[str, int]:
    """Sentences without a parse by reason, of all that a ledger noted."""
    return {what.removeprefix(_NOTE): sentences for what, sentences in noted.items() if what.startswith(_NOTE)}
