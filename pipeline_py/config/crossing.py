"""Parsers of systems: the experiment's default, and systems crossed with parsers (`SYSTEM [PARSER]`).

With crossed systems, tables compare parsers as they compare systems. Their names are replaced in the mappings of the
configuration, before these are validated; malformed values are left as they are, for the validation to find.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from pipeline_py.config.entry_errors import Entry, EntryError, unknown
from pipeline_py.config.systems.any_system import NeuralSystem, type_of_system
from pipeline_py.config.tables import is_line

DEFAULT_PARSER = "default"
"""What tables call it."""


def with_parser(config: Mapping[str, Any]) -> dict[str, Any]:
    """Give the experiment's parser to systems that read trees and name none.

    Raises:
        pydantic.ValidationError: if one of them is no system, so that it cannot be told what it reads.
    """
    parser, systems = config.get("parser"), config.get("systems")
    if parser is None or not isinstance(systems, Mapping):
        return dict(config)
    return {**config, "systems": {name: _with(parser, system) for name, system in systems.items()}}


def parser_meant(name: str, config: Mapping[str, Any]) -> str:
    """The parser that a table names."""
    return config.get("parser") or name if name == DEFAULT_PARSER else name


def unknown_parser(name: str, parsers: Collection[str]) -> str:
    """What is said of a parser that a table names and that there is not."""
    if name == DEFAULT_PARSER:
        return f"`{DEFAULT_PARSER}` stands for the parser in `parser`, which is not set; set it"
    return unknown("parser", name, parsers)


def _with(parser: Any, system: Mapping[str, Any]) -> Mapping[str, Any]:
    if type_of_system(system) != "neural" or system.get("parser") is not None:
        return system
    return {**system, "parser": parser} if NeuralSystem.model_validate(system).kinds_parsed else system


CROSSING = re.compile(r"(?P<base>.+) \[(?P<parser>[^\[\]]+)\]")

ENSEMBLE = "an ensemble is not crossed with parsers; make one of crossed members"

Names = Callable[[str], list[str]]
"""What a name stands for: itself, another name, or several."""


def crossed(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Add the systems that are named as `SYSTEM [PARSER]`, and spell out the `parsers` of tables.

    With its own parser a system is itself: it takes the place of the name, which becomes its label.

    Args:
        config: the merged mappings; each of `systems` is a mapping of a known type.

    Returns:
        The configuration with crossings among its systems, and by crossing the system that it is made from.

    Raises:
        ExceptionGroup: of a EntryError for each thing that cannot be crossed.
    """
    systems, parsers, parser = config.get("systems"), config.get("parsers"), config.get("parser")
    if not isinstance(systems, Mapping) or not isinstance(parsers, Mapping) or parser not in [None, *parsers]:
        return dict(config), {}
    crossing = _Crossing(systems, parsers, config)
    sections = {"tables": crossing.of_table, "figures": crossing.of_figure, "systems": crossing.of_system}
    found = {
        key: {name: one(name, given) for name, given in config[key].items()}
        for key, one in sections.items()
        if isinstance(config.get(key), Mapping)
    }
    if crossing.mistakes:
        raise ExceptionGroup("what cannot be crossed", [*{str(one): one for one in crossing.mistakes}.values()])
    for name, (base, parser) in crossing.found.items():
        found["systems"][name] = {**found["systems"][base], "parser": parser}
    return {**config, **found}, {name: base for name, (base, _) in crossing.found.items()}


class _Crossing:
    """What names stand for, with the crossings and the mistakes that are met on the way."""

    def __init__(self, systems: Mapping[str, Any], parsers: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        self.systems = systems
        self.parsers = parsers
        self.config = config
        self.found: dict[str, tuple[str, str]] = {}
        self.mistakes: list[EntryError] = []

    def of_system(self, name: str, system: Any) -> Any:
        """Resolve what a system names: members, and what it is like."""
        return _renamed(system, ("members", "like"), self._meant_in(("systems", name)))

    def of_figure(self, title: str, figure: Any) -> Any:
        """Resolve the system of a figure."""
        return _renamed(figure, ("system",), self._meant_in(("figures", title)))

    def of_table(self, title: str, table: Any) -> Any:
        """Spell out a table's rows, label them, and resolve all that it names."""
        if not isinstance(table, Mapping):
            return table
        entry = ("tables", title)
        table = _with_parsers_meant(table, self.config)
        crossings = self._crossings_of_rows(table, entry)
        meant = self._meant_in(entry)
        table = _with_rows_crossed(table, crossings)
        table = _renamed_in_table({**table, **self._labels(table, meant)}, meant)
        published = table.get("published")
        if isinstance(published, Mapping) and isinstance(names := published.get("names"), Mapping):
            table["published"] = {**published, "names": {meant(name)[0]: called for name, called in names.items()}}
        return table

    def _crossings_of_rows(self, table: Mapping[str, Any], entry: Entry) -> dict[str, list[str]]:
        """The crossings that a row stands for, of each row that its table's `parsers` cross."""
        rows, parsers = strings(table.get("systems")), strings(table.get("parsers"))
        if not rows or not parsers:
            return {}
        strange = [parser for parser in parsers if parser not in self.parsers]
        if strange:
            self.mistakes += [EntryError(*entry, f": {unknown_parser(parser, self.parsers)}") for parser in strange]
            return {}
        crossings = {row: [f"{row} [{parser}]" for parser in parsers] for row in rows if self._parser_of(row)}
        ensembles = [row for row in rows if any(map(self._parser_of, self._members_of(row)))]
        self.mistakes += [EntryError(*entry, f": `{row}`: {ENSEMBLE}") for row in ensembles]
        if not crossings and not ensembles and all(map(self._is_known, rows)):
            self.mistakes.append(
                EntryError(*entry, ": none of its rows has a part that `reads` trees, so leave out `parsers`")
            )
        baseline = table.get("baseline")
        if isinstance(baseline, str) and baseline in crossings:
            names = ", ".join(f"`{name}`" for name in crossings[baseline])
            what = f": its baseline `{baseline}` is crossed with parsers; name one of {names}"
            self.mistakes.append(EntryError(*entry, what))
        return crossings

    def _labels(self, table: Mapping[str, Any], meant: Names) -> dict[str, Any]:
        """`labels` of a table whose rows are spelt out: what a system is called goes for its crossings too."""
        given = table.get("labels", {})
        if not isinstance(given, Mapping):
            return {}
        labels = {meant(name)[0]: label for name, label in given.items()}
        for row in strings(table.get("systems")):
            parts = self._parts(row)
            if parts is None:
                continue
            base, parser = parts
            of_base = given.get(base)
            if row in given:
                labels[meant(row)[0]] = given[row]
            elif isinstance(of_base, str) and is_line(of_base):
                labels[meant(row)[0]] = f"{of_base} [{parser}]"
            elif of_base is None and meant(row) != [row]:
                labels[base] = row
        return {"labels": labels} if labels else {}

    def _meant_in(self, entry: Entry) -> Names:
        """What names stand for; a mistake says where it was made."""

        def meant(name: str) -> list[str]:
            parts = self._parts(name)
            if parts is None:
                return [name]
            if mistake := self._mistake(name, *parts):
                self.mistakes.append(EntryError(*entry, f": {mistake}"))
                return [name]
            base, parser = parts
            if self._parser_of(base) == parser:
                return [base]
            self.found[crossing := f"{base} [{parser}]"] = parts
            return [crossing]

        return meant

    def _parts(self, name: Any) -> tuple[str, str] | None:
        """The system and the parser that a name crosses; None where it is a system's own."""
        if not isinstance(name, str) or name in self.systems:
            return None
        parts = CROSSING.fullmatch(name)
        return None if parts is None else (parts["base"], parser_meant(parts["parser"], self.config))

    def _mistake(self, name: str, base: str, parser: str) -> str | None:
        """Say why a system cannot be crossed with a parser."""
        if base not in self.systems:
            return unknown("system", name, self.systems, last=base)
        if type_of_system(self.systems[base]) == "ensemble":
            return f"`{name}`: {ENSEMBLE}"
        if self._parser_of(base) is None:
            return (
                f"`{name}`: `{base}` reads no trees, so it cannot be crossed with the parser `{parser}`; leave out "
                f"` [{parser}]`"
            )
        if parser not in self.parsers:
            return f"`{name}`: {unknown_parser(parser, self.parsers)}"
        return None

    def _is_known(self, row: str) -> bool:
        return row in self.systems or self._parts(row) is not None

    def _parser_of(self, system: str) -> str | None:
        """The parser that a network names."""
        given = self.systems.get(system, {})
        parser = given.get("parser") if type_of_system(given) == "neural" else None
        return parser if isinstance(parser, str) else None

    def _members_of(self, system: str) -> list[str]:
        return strings(self.systems.get(system, {}).get("members"))


def _with_parsers_meant(table: Mapping[str, Any], config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Put the experiment's parser in the place of `default`, unless the table names it beside."""
    named = strings(table.get("parsers"))

    def among(name: str) -> list[str]:
        meant = parser_meant(name, config)
        return [] if meant != name and meant in named else [meant]

    return _renamed(
        _renamed(table, ("parsers",), among), ("parser", "parsed_by"), lambda name: [parser_meant(name, config)]
    )


def _with_rows_crossed(table: Mapping[str, Any], crossings: Mapping[str, list[str]]) -> dict[str, Any]:
    """Let rows stand for their crossings; what they are compared with is none of those that a comparison is about."""

    def but(compared: list[str]) -> Names:
        def names(row: str) -> list[str]:
            rows = crossings.get(row, [row])
            return [name for name in rows if name not in compared] or rows

        return names

    crossed = _renamed(table, ("systems",), but([]))
    crossed = dict(_renamed(crossed, ("proposed",), but(strings([table.get("baseline")]))))
    if isinstance(marks := table.get("marks"), list):
        compared = [[_named(mark, key) for key in ("rows", "against")] for mark in marks]
        crossed["marks"] = [
            _renamed(_renamed(mark, ("rows",), but(against)), ("against",), but(rows))
            for mark, (rows, against) in zip(marks, compared, strict=True)
        ]
    return crossed


def _renamed_in_table(table: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """Put what names stand for in their places in a table, but for those that are keys."""
    renamed = dict(_renamed(table, ("systems", "proposed", "baseline"), names))
    if isinstance(marks := table.get("marks"), list):
        renamed["marks"] = [_renamed(mark, ("rows", "against"), names) for mark in marks]
    return renamed


def _renamed(given: Any, keys: Iterable[str], names: Names) -> Any:
    """Put what names stand for in their places below some keys: all of it in a list, else the one that it is."""
    if not isinstance(given, Mapping):
        return given

    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            return [new for old in value for new in (names(old) if isinstance(old, str) else [old])]
        return names(value)[0] if isinstance(value, str) else value

    return {**given, **{key: renamed(given[key]) for key in keys if key in given}}


def _named(given: Any, key: str) -> list[str]:
    """What is named below a key, in what may be no mapping."""
    return strings(given.get(key)) if isinstance(given, Mapping) else []


def strings(value: Any) -> list[str]:
    """What is a string in a list, if it is one."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
