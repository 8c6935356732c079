"""Parsers of systems: the experiment's default, and systems crossed with parsers (`SYSTEM [PARSER]`).

With crossed systems, tables compare parsers as they compare systems. Their names are replaced in the mappings of the
configuration, before these are validated; malformed values are left as they are, for the validation to find.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from pipeline_py.config.entry_errors import ConfigEntryError, EntryKey, format_unknown_name_error
from pipeline_py.config.systems.system_types import NeuralSystemConfig, get_system_type
from pipeline_py.config.tables import is_single_line

DEFAULT_PARSER_NAME = "default"
"""What tables call it."""


def apply_default_parser(config: Mapping[str, Any]) -> dict[str, Any]:
    """Give the experiment's parser to systems that read trees and name none.

    Raises:
        pydantic.ValidationError: if one of them is no system, so that it cannot be told what it reads.
    """
    parser, systems = config.get("parser"), config.get("systems")
    if parser is None or not isinstance(systems, Mapping):
        return dict(config)
    return {**config, "systems": {name: _add_parser_if_needed(parser, system) for name, system in systems.items()}}


def resolve_default_parser(name: str, config: Mapping[str, Any]) -> str:
    """The parser that a table names."""
    return config.get("parser") or name if name == DEFAULT_PARSER_NAME else name


def format_unknown_parser_error(name: str, parsers: Collection[str]) -> str:
    """What is said of a parser that a table names and that there is not."""
    if name == DEFAULT_PARSER_NAME:
        return f"`{DEFAULT_PARSER_NAME}` stands for the parser in `parser`, which is not set; set it"
    return format_unknown_name_error("parser", name, parsers)


def _add_parser_if_needed(parser: Any, system: Mapping[str, Any]) -> Mapping[str, Any]:
    if get_system_type(system) != "neural" or system.get("parser") is not None:
        return system
    return {**system, "parser": parser} if NeuralSystemConfig.model_validate(system).parsed_syntax_names else system


CROSSING_PATTERN = re.compile(r"(?P<base>.+) \[(?P<parser>[^\[\]]+)\]")

ENSEMBLE_CROSSING_ERROR = "an ensemble is not crossed with parsers; make one of crossed members"

NameResolver = Callable[[str], list[str]]
"""What a name stands for: itself, another name, or several."""


def cross_systems_with_parsers(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
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
    crossing = _CrossingResolver(systems, parsers, config)
    sections = {
        "tables": crossing.resolve_table,
        "figures": crossing.resolve_figure,
        "systems": crossing.resolve_system,
    }
    found = {
        key: {name: one(name, given) for name, given in config[key].items()}
        for key, one in sections.items()
        if isinstance(config.get(key), Mapping)
    }
    if crossing.errors:
        raise ExceptionGroup("what cannot be crossed", [*{str(one): one for one in crossing.errors}.values()])
    for name, (base, parser) in crossing.crossings.items():
        found["systems"][name] = {**found["systems"][base], "parser": parser}
    return {**config, **found}, {name: base for name, (base, _) in crossing.crossings.items()}


class _CrossingResolver:
    """What names stand for, with the crossings and the mistakes that are met on the way."""

    def __init__(self, systems: Mapping[str, Any], parsers: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        self.systems = systems
        self.parsers = parsers
        self.config = config
        self.crossings: dict[str, tuple[str, str]] = {}
        self.errors: list[ConfigEntryError] = []

    def resolve_system(self, name: str, system: Any) -> Any:
        """Resolve what a system names: members, and what it is like."""
        return _replace_names(system, ("members", "like"), self._build_name_resolver(("systems", name)))

    def resolve_figure(self, title: str, figure: Any) -> Any:
        """Resolve the system of a figure."""
        return _replace_names(figure, ("system",), self._build_name_resolver(("figures", title)))

    def resolve_table(self, title: str, table: Any) -> Any:
        """Spell out a table's rows, label them, and resolve all that it names."""
        if not isinstance(table, Mapping):
            return table
        entry = ("tables", title)
        table = _resolve_table_parsers(table, self.config)
        crossings = self._cross_rows(table, entry)
        meant = self._build_name_resolver(entry)
        table = _expand_crossed_rows(table, crossings)
        table = _replace_table_names({**table, **self._build_labels(table, meant)}, meant)
        published = table.get("published")
        if isinstance(published, Mapping) and isinstance(names := published.get("names"), Mapping):
            table["published"] = {**published, "names": {meant(name)[0]: called for name, called in names.items()}}
        return table

    def _cross_rows(self, table: Mapping[str, Any], entry: EntryKey) -> dict[str, list[str]]:
        """The crossings that a row stands for, of each row that its table's `parsers` cross."""
        rows, parsers = select_strings(table.get("systems")), select_strings(table.get("parsers"))
        if not rows or not parsers:
            return {}
        strange = [parser for parser in parsers if parser not in self.parsers]
        if strange:
            self.errors += [
                ConfigEntryError(*entry, f": {format_unknown_parser_error(parser, self.parsers)}") for parser in strange
            ]
            return {}
        crossings = {row: [f"{row} [{parser}]" for parser in parsers] for row in rows if self._get_parser(row)}
        ensembles = [row for row in rows if any(map(self._get_parser, self._get_members(row)))]
        self.errors += [ConfigEntryError(*entry, f": `{row}`: {ENSEMBLE_CROSSING_ERROR}") for row in ensembles]
        if not crossings and not ensembles and all(map(self._is_known_row, rows)):
            self.errors.append(
                ConfigEntryError(*entry, ": none of its rows has a part that `reads` trees, so leave out `parsers`")
            )
        baseline = table.get("baseline")
        if isinstance(baseline, str) and baseline in crossings:
            names = ", ".join(f"`{name}`" for name in crossings[baseline])
            what = f": its baseline `{baseline}` is crossed with parsers; name one of {names}"
            self.errors.append(ConfigEntryError(*entry, what))
        return crossings

    def _build_labels(self, table: Mapping[str, Any], resolve_name: NameResolver) -> dict[str, Any]:
        """`labels` of a table whose rows are spelt out: what a system is called goes for its crossings too."""
        given = table.get("labels", {})
        if not isinstance(given, Mapping):
            return {}
        labels = {resolve_name(name)[0]: label for name, label in given.items()}
        for row in select_strings(table.get("systems")):
            parts = self._split_crossing(row)
            if parts is None:
                continue
            base, parser = parts
            of_base = given.get(base)
            if row in given:
                labels[resolve_name(row)[0]] = given[row]
            elif isinstance(of_base, str) and is_single_line(of_base):
                labels[resolve_name(row)[0]] = f"{of_base} [{parser}]"
            elif of_base is None and resolve_name(row) != [row]:
                labels[base] = row
        return {"labels": labels} if labels else {}

    def _build_name_resolver(self, entry: EntryKey) -> NameResolver:
        """What names stand for; a mistake says where it was made."""

        def meant(name: str) -> list[str]:
            parts = self._split_crossing(name)
            if parts is None:
                return [name]
            if mistake := self._find_crossing_error(name, *parts):
                self.errors.append(ConfigEntryError(*entry, f": {mistake}"))
                return [name]
            base, parser = parts
            if self._get_parser(base) == parser:
                return [base]
            self.crossings[crossing := f"{base} [{parser}]"] = parts
            return [crossing]

        return meant

    def _split_crossing(self, name: Any) -> tuple[str, str] | None:
        """The system and the parser that a name crosses; None where it is a system's own."""
        if not isinstance(name, str) or name in self.systems:
            return None
        parts = CROSSING_PATTERN.fullmatch(name)
        return None if parts is None else (parts["base"], resolve_default_parser(parts["parser"], self.config))

    def _find_crossing_error(self, name: str, base_system: str, parser: str) -> str | None:
        """Say why a system cannot be crossed with a parser."""
        if base_system not in self.systems:
            return format_unknown_name_error("system", name, self.systems, last_part=base_system)
        if get_system_type(self.systems[base_system]) == "ensemble":
            return f"`{name}`: {ENSEMBLE_CROSSING_ERROR}"
        if self._get_parser(base_system) is None:
            return (
                f"`{name}`: `{base_system}` reads no trees, so it cannot be crossed with the parser `{parser}`; leave out "
                f"` [{parser}]`"
            )
        if parser not in self.parsers:
            return f"`{name}`: {format_unknown_parser_error(parser, self.parsers)}"
        return None

    def _is_known_row(self, row: str) -> bool:
        return row in self.systems or self._split_crossing(row) is not None

    def _get_parser(self, system: str) -> str | None:
        """The parser that a network names."""
        given = self.systems.get(system, {})
        parser = given.get("parser") if get_system_type(given) == "neural" else None
        return parser if isinstance(parser, str) else None

    def _get_members(self, system: str) -> list[str]:
        return select_strings(self.systems.get(system, {}).get("members"))


def _resolve_table_parsers(table: Mapping[str, Any], config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Put the experiment's parser in the place of `default`, unless the table names it beside."""
    named = select_strings(table.get("parsers"))

    def among(name: str) -> list[str]:
        meant = resolve_default_parser(name, config)
        return [] if meant != name and meant in named else [meant]

    return _replace_names(
        _replace_names(table, ("parsers",), among),
        ("parser", "parsed_by"),
        lambda name: [resolve_default_parser(name, config)],
    )


def _expand_crossed_rows(table: Mapping[str, Any], crossings: Mapping[str, list[str]]) -> dict[str, Any]:
    """Let rows stand for their crossings; what they are compared with is none of those that a comparison is about."""

    def but(compared: list[str]) -> NameResolver:
        def names(row: str) -> list[str]:
            rows = crossings.get(row, [row])
            return [name for name in rows if name not in compared] or rows

        return names

    crossed = _replace_names(table, ("systems",), but([]))
    crossed = dict(_replace_names(crossed, ("proposed",), but(select_strings([table.get("baseline")]))))
    if isinstance(marks := table.get("marks"), list):
        compared = [[_collect_names(mark, key) for key in ("rows", "against")] for mark in marks]
        crossed["marks"] = [
            _replace_names(_replace_names(mark, ("rows",), but(against)), ("against",), but(rows))
            for mark, (rows, against) in zip(marks, compared, strict=True)
        ]
    return crossed


def _replace_table_names(table: Mapping[str, Any], resolve_name: NameResolver) -> dict[str, Any]:
    """Put what names stand for in their places in a table, but for those that are keys."""
    renamed = dict(_replace_names(table, ("systems", "proposed", "baseline"), resolve_name))
    if isinstance(marks := table.get("marks"), list):
        renamed["marks"] = [_replace_names(mark, ("rows", "against"), resolve_name) for mark in marks]
    return renamed


def _replace_names(mapping: Any, keys: Iterable[str], resolve_name: NameResolver) -> Any:
    """Put what names stand for in their places below some keys: all of it in a list, else the one that it is."""
    if not isinstance(mapping, Mapping):
        return mapping

    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            return [new for old in value for new in (resolve_name(old) if isinstance(old, str) else [old])]
        return resolve_name(value)[0] if isinstance(value, str) else value

    return {**mapping, **{key: renamed(mapping[key]) for key in keys if key in mapping}}


def _collect_names(mapping: Any, key: str) -> list[str]:
    """What is named below a key, in what may be no mapping."""
    return select_strings(mapping.get(key)) if isinstance(mapping, Mapping) else []


def select_strings(value: Any) -> list[str]:
    """What is a string in a list, if it is one."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
