"""The default parser of systems, and systems crossed with parsers (`SYSTEM [PARSER]`) to compare parsers.

Names are resolved in the mappings of the configuration before validation. Malformed values are left for validation.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from pipeline_py.config.base import CROSSING_PATTERN
from pipeline_py.config.entry_errors import (
    ConfigEntryError,
    EntryKey,
    format_name_list,
    format_unknown_name_error,
)
from pipeline_py.config.systems.system_types import NeuralSystemConfig, get_system_type
from pipeline_py.config.tables import is_single_line

DEFAULT_PARSER_NAME = "default"
"""The name of the experiment's parser in tables."""


def apply_default_parser(config: Mapping[str, Any]) -> dict[str, Any]:
    """Set the experiment's parser in systems that read trees and name none.

    Raises:
        pydantic.ValidationError: a system is invalid.
    """
    parser, systems = config.get("parser"), config.get("systems")
    if parser is None or not isinstance(systems, Mapping):
        return dict(config)
    return {**config, "systems": {name: _add_parser_if_needed(parser, system) for name, system in systems.items()}}


def resolve_default_parser(name: str, config: Mapping[str, Any]) -> str:
    """Return the parser that a table names, with `default` resolved."""
    return config.get("parser") or name if name == DEFAULT_PARSER_NAME else name


def format_unknown_parser_error(name: str, parsers: Collection[str]) -> str:
    """Format the error message for an unknown parser in a table."""
    if name == DEFAULT_PARSER_NAME:
        return f"`{DEFAULT_PARSER_NAME}` means the parser in `parser`, which is not set; set it"
    return format_unknown_name_error("parser", name, parsers)


def _add_parser_if_needed(parser: Any, system: Mapping[str, Any]) -> Mapping[str, Any]:
    if get_system_type(system) != "neural" or system.get("parser") is not None:
        return system
    return {**system, "parser": parser} if NeuralSystemConfig.model_validate(system).parsed_syntax_names else system


ENSEMBLE_CROSSING_ERROR = "an ensemble cannot be crossed with parsers; make one of crossed members"

NameResolver = Callable[[str], list[str]]
"""A function that maps a name in the configuration to the names of one or more systems or parsers."""


def cross_systems_with_parsers(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Add a system for each name `SYSTEM [PARSER]`, and expand the `parsers` of tables.

    A system that is crossed with the parser it already has is not copied: the crossed name becomes its label.

    Args:
        config: merged mappings; each of `systems` is a mapping of a known type.

    Returns:
        The configuration with crossed systems, and the base of each crossed system.

    Raises:
        ExceptionGroup: a ConfigEntryError for each invalid crossing.
    """
    systems, parsers, parser = config.get("systems"), config.get("parsers"), config.get("parser")
    if not isinstance(systems, Mapping) or not isinstance(parsers, Mapping) or parser not in [None, *parsers]:
        return dict(config), {}
    resolver = _CrossingResolver(systems, parsers, config)
    entry_resolvers = {
        "tables": resolver.resolve_table,
        "figures": resolver.resolve_figure,
        "systems": resolver.resolve_system,
    }
    sections = {
        section: {name: resolve_entry(name, entry) for name, entry in config[section].items()}
        for section, resolve_entry in entry_resolvers.items()
        if isinstance(config.get(section), Mapping)
    }
    if resolver.errors:
        raise ExceptionGroup("invalid crossings", [*{str(error): error for error in resolver.errors}.values()])
    for name, (base, parser) in resolver.crossings.items():
        sections["systems"][name] = {**sections["systems"][base], "parser": parser}
    return {**config, **sections}, {name: base for name, (base, _) in resolver.crossings.items()}


class _CrossingResolver:
    """A resolver of crossed names in entries, which collects the crossings and the errors."""

    def __init__(self, systems: Mapping[str, Any], parsers: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        self.systems = systems
        self.parsers = parsers
        self.config = config
        self.crossings: dict[str, tuple[str, str]] = {}
        self.errors: list[ConfigEntryError] = []

    def resolve_system(self, name: str, system: Any) -> Any:
        """Resolve the members and the `like` of a system."""
        return _resolve_names_in_keys(system, ("members", "like"), self._build_name_resolver(("systems", name)))

    def resolve_figure(self, title: str, figure: Any) -> Any:
        """Resolve the system of a figure."""
        return _resolve_names_in_keys(figure, ("system",), self._build_name_resolver(("figures", title)))

    def resolve_table(self, title: str, table: Any) -> Any:
        """Expand and label a table's rows, and resolve all other names in it."""
        if not isinstance(table, Mapping):
            return table
        entry = ("tables", title)
        table = _resolve_table_parsers(table, self.config)
        table = _expand_crossed_rows(table, self._find_row_crossings(table, entry))
        resolve_name = self._build_name_resolver(entry)
        table = _resolve_table_names({**table, **self._build_labels(table, resolve_name)}, resolve_name)
        published = table.get("published")
        if isinstance(published, Mapping) and isinstance(names := published.get("names"), Mapping):
            paper_names = {resolve_name(name)[0]: paper_name for name, paper_name in names.items()}
            table["published"] = {**published, "names": paper_names}
        return table

    def _find_row_crossings(self, table: Mapping[str, Any], entry: EntryKey) -> dict[str, list[str]]:
        """Return the crossings of each row that the table's `parsers` apply to, and record errors."""
        rows, parsers = select_strings(table.get("systems")), select_strings(table.get("parsers"))
        if not rows or not parsers:
            return {}
        if unknown_parsers := [parser for parser in parsers if parser not in self.parsers]:
            self.errors += [
                ConfigEntryError(*entry, f": {format_unknown_parser_error(parser, self.parsers)}")
                for parser in unknown_parsers
            ]
            return {}
        crossings = {row: [f"{row} [{parser}]" for parser in parsers] for row in rows if self._get_parser(row)}
        ensembles = [row for row in rows if any(map(self._get_parser, self._get_members(row)))]
        self.errors += [ConfigEntryError(*entry, f": `{row}`: {ENSEMBLE_CROSSING_ERROR}") for row in ensembles]
        if not crossings and not ensembles and all(map(self._is_known_row, rows)):
            self.errors.append(
                ConfigEntryError(*entry, ": none of its rows has a part that reads trees, so leave out `parsers`")
            )
        baseline = table.get("baseline")
        if isinstance(baseline, str) and baseline in crossings:
            names = format_name_list(crossings[baseline])
            problem = f": its baseline `{baseline}` is crossed with parsers; name one of {names}"
            self.errors.append(ConfigEntryError(*entry, problem))
        return crossings

    def _build_labels(self, table: Mapping[str, Any], resolve_name: NameResolver) -> dict[str, Any]:
        """Return the `labels` of expanded rows; the label of a system also applies to its crossings."""
        configured_labels = table.get("labels", {})
        if not isinstance(configured_labels, Mapping):
            return {}
        labels = {resolve_name(name)[0]: label for name, label in configured_labels.items()}
        for row in select_strings(table.get("systems")):
            parts = self._split_crossing(row)
            if parts is None:
                continue
            base, parser = parts
            base_label = configured_labels.get(base)
            if row in configured_labels:
                labels[resolve_name(row)[0]] = configured_labels[row]
            elif isinstance(base_label, str) and is_single_line(base_label):
                labels[resolve_name(row)[0]] = f"{base_label} [{parser}]"
            elif base_label is None and resolve_name(row) != [row]:
                labels[base] = row
        return {"labels": labels} if labels else {}

    def _build_name_resolver(self, entry: EntryKey) -> NameResolver:
        """Return a function that resolves system names in an entry and records crossings and errors."""

        def resolve_name(name: str) -> list[str]:
            parts = self._split_crossing(name)
            if parts is None:
                return [name]
            if problem := self._find_crossing_error(name, *parts):
                self.errors.append(ConfigEntryError(*entry, f": {problem}"))
                return [name]
            base, parser = parts
            if self._get_parser(base) == parser:
                return [base]
            self.crossings[crossing := f"{base} [{parser}]"] = parts
            return [crossing]

        return resolve_name

    def _split_crossing(self, name: Any) -> tuple[str, str] | None:
        """Return the system and parser of a crossed name; None for the name of a configured system."""
        if not isinstance(name, str) or name in self.systems:
            return None
        match = CROSSING_PATTERN.fullmatch(name)
        return None if match is None else (match["base"], resolve_default_parser(match["parser"], self.config))

    def _find_crossing_error(self, name: str, base_system: str, parser: str) -> str | None:
        """Return why a system cannot be crossed with a parser; None if it can."""
        if base_system not in self.systems:
            return format_unknown_name_error("system", name, self.systems, last_part=base_system)
        if get_system_type(self.systems[base_system]) == "ensemble":
            return f"`{name}`: {ENSEMBLE_CROSSING_ERROR}"
        if self._get_parser(base_system) is None:
            return (
                f"`{name}`: `{base_system}` reads no trees, so it cannot be crossed with the parser `{parser}`; "
                f"leave out ` [{parser}]`"
            )
        if parser not in self.parsers:
            return f"`{name}`: {format_unknown_parser_error(parser, self.parsers)}"
        return None

    def _is_known_row(self, row: str) -> bool:
        return row in self.systems or self._split_crossing(row) is not None

    def _get_parser(self, system: str) -> str | None:
        """Return the parser that a network names; None for other systems."""
        options = self.systems.get(system, {})
        parser = options.get("parser") if get_system_type(options) == "neural" else None
        return parser if isinstance(parser, str) else None

    def _get_members(self, system: str) -> list[str]:
        return select_strings(self.systems.get(system, {}).get("members"))


def _resolve_table_parsers(table: Mapping[str, Any], config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Replace `default` by the experiment's parser, or remove it if the table also names that parser."""
    parsers = select_strings(table.get("parsers"))

    def resolve_row_parser(name: str) -> list[str]:
        parser = resolve_default_parser(name, config)
        return [] if parser != name and parser in parsers else [parser]

    return _resolve_names_in_keys(
        _resolve_names_in_keys(table, ("parsers",), resolve_row_parser),
        ("parser", "parsed_by"),
        lambda name: [resolve_default_parser(name, config)],
    )


def _expand_crossed_rows(table: Mapping[str, Any], crossings: Mapping[str, list[str]]) -> dict[str, Any]:
    """Replace each row by its crossings; a row is never compared with itself."""

    def build_row_expander(excluded_names: list[str]) -> NameResolver:
        def expand_row(row: str) -> list[str]:
            rows = crossings.get(row, [row])
            return [name for name in rows if name not in excluded_names] or rows

        return expand_row

    expanded = _resolve_names_in_keys(table, ("systems",), build_row_expander([]))
    expanded = dict(
        _resolve_names_in_keys(expanded, ("proposed",), build_row_expander(select_strings([table.get("baseline")])))
    )
    if isinstance(marks := table.get("marks"), list):
        expanded["marks"] = [
            _resolve_names_in_keys(
                _resolve_names_in_keys(mark, ("rows",), build_row_expander(_collect_names(mark, "against"))),
                ("against",),
                build_row_expander(_collect_names(mark, "rows")),
            )
            for mark in marks
        ]
    return expanded


def _resolve_table_names(table: Mapping[str, Any], resolve_name: NameResolver) -> dict[str, Any]:
    """Resolve the names of systems in the values of a table."""
    resolved = dict(_resolve_names_in_keys(table, ("systems", "proposed", "baseline"), resolve_name))
    if isinstance(marks := table.get("marks"), list):
        resolved["marks"] = [_resolve_names_in_keys(mark, ("rows", "against"), resolve_name) for mark in marks]
    return resolved


def _resolve_names_in_keys(mapping: Any, keys: Iterable[str], resolve_name: NameResolver) -> Any:
    """Resolve the names in the values of some keys; a value that is not a list gets the first resolved name."""
    if not isinstance(mapping, Mapping):
        return mapping

    def replace_value(value: Any) -> Any:
        if isinstance(value, list):
            return [new for old in value for new in (resolve_name(old) if isinstance(old, str) else [old])]
        return resolve_name(value)[0] if isinstance(value, str) else value

    return {**mapping, **{key: replace_value(mapping[key]) for key in keys if key in mapping}}


def _collect_names(mapping: Any, key: str) -> list[str]:
    return select_strings(mapping.get(key)) if isinstance(mapping, Mapping) else []


def select_strings(value: Any) -> list[str]:
    """Return the strings in a list; empty for other values."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
