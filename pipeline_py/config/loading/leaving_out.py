"""Entries of a configuration that it can be read without."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pipeline_py.config.experiment import listed
from pipeline_py.config.loading.entry_error import Entry, EntryError
from pipeline_py.config.loading.overrides import SECTIONS, systems_in


def misfits(mistake: Mapping[str, Any], config: Mapping[str, Any], crossings: Collection[str]) -> set[Entry]:
    """The entries that one of pydantic's `errors()` would go with; none where it is no matter of these.

    A system that is made by crossing goes with what names it.
    """
    if mistake["type"] != "value_error":
        return set()
    error, place = mistake["ctx"]["error"], mistake["loc"]
    if not isinstance(error, EntryError) and (len(place) < 2 or place[0] not in SECTIONS):
        return set()
    entry = error.entry if isinstance(error, EntryError) else (place[0], place[1])
    if entry[0] == "systems" and entry[1] in crossings:
        return {other for other in _entries(config) if entry[1] in systems_in(other, config)}
    return {entry}


def dependent(entries: Iterable[Entry], config: Mapping[str, Any]) -> set[Entry]:
    """Some entries, and all that are made of them."""
    found = {*entries}
    while more := {
        other
        for other in _entries(config)
        if other not in found and any(("systems", name) in found for name in systems_in(other, config))
    }:
        found |= more
    return found


def sentence_about(left_out: Mapping[Entry, str]) -> str:
    """Say what there is not, and the first reason: tables and figures, or if it is none of these, systems."""
    shown = [name for section, name in left_out if section != "systems"] or [name for _, name in left_out]
    reasons = list(dict.fromkeys(left_out.values()))
    more = " (what else is in the way is told of what you name in `targets`)" if len(reasons) > 1 else ""
    return (
        f"Left out of what config.yaml has, as this experiment's own settings do not fit it: {listed(sorted(shown))}; "
        f"{reasons[0]}{more}."
    )


def without(entries: set[Entry], config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration without some entries, and without what tables call those that are systems."""
    left = dict(config)
    for section in SECTIONS:
        if isinstance(config.get(section), Mapping):
            left[section] = {name: given for name, given in config[section].items() if (section, name) not in entries}
    gone = {name for section, name in entries if section == "systems"}
    if isinstance(left.get("tables"), Mapping):
        left["tables"] = {title: _without_names(gone, table) for title, table in left["tables"].items()}
    return left


def _entries(config: Mapping[str, Any]) -> list[Entry]:
    return [
        (section, name) for section in SECTIONS if isinstance(config.get(section), Mapping) for name in config[section]
    ]


def _without_names(gone: set[str], table: Any) -> Any:
    """A table that calls none of these systems by a name of its own."""
    if not isinstance(table, Mapping):
        return table
    labels, published = table.get("labels"), table.get("published")
    if isinstance(labels, Mapping):
        table = {**table, "labels": {name: label for name, label in labels.items() if name not in gone}}
    if isinstance(published, Mapping) and isinstance(names := published.get("names"), Mapping):
        kept = {name: called for name, called in names.items() if name not in gone}
        table = {**table, "published": {**published, "names": kept}}
    return table
