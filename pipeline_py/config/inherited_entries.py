"""What an experiment's own files say, apart from what it inherits, and the inherited entries that it does without."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline_py.config.entry_errors import ConfigEntryError, EntryKey, format_name_list
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.parser_crossing import CROSSING_PATTERN, select_strings
from pipeline_py.config.parsers import TrainedParserConfig
from pipeline_py.config.systems.system_types import get_system_type
from pipeline_py.config.tables import CONTRAST_COLUMN

OMITTABLE_SECTIONS = ("systems", "tables", "figures")
"""Sections whose entries an experiment may do without."""


@dataclass(frozen=True)
class ExperimentOverrides:
    """What an experiment lays over the configuration that it inherits.

    Attributes:
        settings: mappings of its files, its preset and the command line.
        has_inherited_settings: whether there is anything beside; else all of its configuration is its own.
    """

    settings: Mapping[str, Any]
    has_inherited_settings: bool

    def collect_needed_entries(self, config: Mapping[str, Any]) -> set[EntryKey]:
        """Everything that its own files name in a configuration, and what that is made of."""
        targets = {*select_strings(self.settings.get("targets"))}
        waiting = [
            (section, name)
            for section in OMITTABLE_SECTIONS
            for name in _select_string_keys(self.settings.get(section))
        ]
        waiting += [
            (section, name)
            for section in ("tables", "figures")
            for name in _select_string_keys(config.get(section))
            if {name, name.partition("/")[0]} & targets
        ]
        found: set[EntryKey] = set()
        while waiting:
            entry = waiting.pop()
            if entry not in found:
                found.add(entry)
                waiting += [("systems", name) for name in collect_entry_systems(entry, config)]
        return found

    def is_parser_named(self, parser: str) -> bool:
        """Whether its own files name a parser: by a key, or in `SYSTEM [PARSER]`."""
        entries = [
            *_select_string_keys(self.settings.get("systems")).values(),
            *_select_string_keys(self.settings.get("tables")).values(),
        ]
        named = [self.settings.get("parser")]
        for entry in map(_select_string_keys, entries):
            named += [entry.get("parser"), entry.get("parsed_by"), *select_strings(entry.get("parsers"))]
        crossings = (
            CROSSING_PATTERN.fullmatch(text)
            for section in OMITTABLE_SECTIONS
            for text in _iterate_strings(self.settings.get(section))
        )
        return parser in [*named, *(crossing["parser"] for crossing in crossings if crossing)]


def remove_inherited_contrast(config: Mapping[str, Any], own_config: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """A configuration without contrastive sets that belong to another training text, and without tables of them.

    They ask for what systems could learn there; an experiment with texts of its own inherits none.
    """
    own_corpora, own_tables = (
        _select_string_keys(_select_string_keys(own_config).get(key)) for key in ("corpora", "tables")
    )
    if not {"train", "dev"} & {*own_corpora} or "contrast" in own_corpora:
        return config
    tables = _select_string_keys(config.get("tables"))
    contrasted = {
        name
        for name, table in tables.items()
        if CONTRAST_COLUMN in select_strings(_select_string_keys(table).get("columns"))
    }
    left = remove_entries({("tables", name) for name in contrasted - {*own_tables}}, config)
    return {**left, "corpora": {**_select_string_keys(config.get("corpora")), "contrast": []}}


def find_untrainable_systems(config: Mapping[str, Any]) -> tuple[set[EntryKey], str] | None:
    """The systems that learn, where there is no text to learn from, and what to do about it; None if there is.

    Texts that are missing without a word are another mistake.
    """
    corpora, systems = _select_string_keys(config.get("corpora")), _select_string_keys(config.get("systems"))
    absent = [f"corpora.{key}" for key in ("train", "dev") if key in corpora and not corpora[key]]
    learning = {
        ("systems", name) for name, given in systems.items() if get_system_type(given) in ("neural", "phrase_based")
    }
    if not absent or not learning:
        return None
    return learning, (
        f"{' and '.join(absent)}: without, nothing can be trained; name such text, or ask for systems of `type: "
        "translations` alone"
    )


def collect_entry_systems(entry_key: EntryKey, config: Mapping[str, Any]) -> set[str]:
    """Systems that an entry is made of, those without ` [PARSER]` that are made with other parsers' trees too."""
    section, name = entry_key
    given = _select_string_keys(_select_string_keys(config.get(section)).get(name))
    named = [*select_strings(given.get("systems")), *select_strings(given.get("members"))]
    named += [text for text in (given.get("like"), given.get("system")) if isinstance(text, str)]
    crossings = [CROSSING_PATTERN.fullmatch(name) for name in named]
    return {*named, *(crossing["base"] for crossing in crossings if crossing)}


def find_generator_only_parsers(experiment: ExperimentConfig, overrides: ExperimentOverrides) -> dict[str, str]:
    """Parsers that know the sentences of the generator alone, of an experiment with text in files.

    They parse such text into trees that mean little, so an experiment asks for them by name.

    Returns:
        By parser, what to do.
    """
    in_files = experiment.splits_in_files
    key = {name: "parser" if name == experiment.parser else f"parsers.{name}" for name in experiment.parsers}
    return {
        name: f"{key[name]}: `{name}` is trained on generated trees, but the text of {format_name_list(in_files)} is in files; "
        "name a parser for such text in `parser` (docs/how_to/parsers.md lists the types), or choose `targets` that read no "
        f"trees; to use it on purpose, write `parser: {name}` in a file of your own"
        for name, parser in experiment.parsers.items()
        if in_files
        and isinstance(parser, TrainedParserConfig)
        and parser.treebank.is_generated
        and not overrides.is_parser_named(name)
    }


def find_omittable_entries(
    validation_error: Mapping[str, Any], config: Mapping[str, Any], crossings: Collection[str]
) -> set[EntryKey]:
    """The entries that one of pydantic's `errors()` would go with; none where it is no matter of these.

    A system that is made by crossing goes with what names it.
    """
    if validation_error["type"] != "value_error":
        return set()
    error, place = validation_error["ctx"]["error"], validation_error["loc"]
    if not isinstance(error, ConfigEntryError) and (len(place) < 2 or place[0] not in OMITTABLE_SECTIONS):
        return set()
    entry = error.entry_key if isinstance(error, ConfigEntryError) else (place[0], place[1])
    if entry[0] == "systems" and entry[1] in crossings:
        return {other for other in _collect_entries(config) if entry[1] in collect_entry_systems(other, config)}
    return {entry}


def collect_dependent_entries(entries: Iterable[EntryKey], config: Mapping[str, Any]) -> set[EntryKey]:
    """Some entries, and all that are made of them."""
    found = {*entries}
    while more := {
        other
        for other in _collect_entries(config)
        if other not in found and any(("systems", name) in found for name in collect_entry_systems(other, config))
    }:
        found |= more
    return found


def format_omission_warning(omitted_entries: Mapping[EntryKey, str]) -> str:
    """Say what there is not, and the first reason: tables and figures, or if it is none of these, systems."""
    shown = [name for section, name in omitted_entries if section != "systems"] or [name for _, name in omitted_entries]
    reasons = list(dict.fromkeys(omitted_entries.values()))
    more = " (to see the other reasons, name these in `targets`)" if len(reasons) > 1 else ""
    return (
        f"Left out from config.yaml, since incompatible with this experiment's own settings: {format_name_list(sorted(shown))}; "
        f"{reasons[0]}{more}."
    )


def remove_entries(entries: set[EntryKey], config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration without some entries, and without what tables call those that are systems."""
    left = dict(config)
    for section in OMITTABLE_SECTIONS:
        if isinstance(config.get(section), Mapping):
            left[section] = {name: given for name, given in config[section].items() if (section, name) not in entries}
    gone = {name for section, name in entries if section == "systems"}
    if isinstance(left.get("tables"), Mapping):
        left["tables"] = {title: _remove_table_names(gone, table) for title, table in left["tables"].items()}
    if isinstance(targets := left.get("targets"), list):
        left["targets"] = [
            name for name in targets if _is_target_defined(name, left) or not _is_target_defined(name, config)
        ] or None
    return left


def _is_target_defined(target: Any, config: Mapping[str, Any]) -> bool:
    """Whether a target is a table or figure of a configuration, or a folder of some."""
    names = [name for section in ("tables", "figures") for name in _select_string_keys(config.get(section))]
    return target in {*names, *(name.partition("/")[0] for name in names)}


def _collect_entries(config: Mapping[str, Any]) -> list[EntryKey]:
    return [
        (section, name)
        for section in OMITTABLE_SECTIONS
        if isinstance(config.get(section), Mapping)
        for name in config[section]
    ]


def _remove_table_names(removed_systems: set[str], table: Any) -> Any:
    """A table that calls none of these systems by a name of its own."""
    if not isinstance(table, Mapping):
        return table
    labels, published = table.get("labels"), table.get("published")
    if isinstance(labels, Mapping):
        table = {**table, "labels": {name: label for name, label in labels.items() if name not in removed_systems}}
    if isinstance(published, Mapping) and isinstance(names := published.get("names"), Mapping):
        kept = {name: called for name, called in names.items() if name not in removed_systems}
        table = {**table, "published": {**published, "names": kept}}
    return table


def _select_string_keys(value: Any) -> Mapping[str, Any]:
    """A mapping without keys that are no text, which are a mistake that validation tells."""
    return {key: item for key, item in value.items() if isinstance(key, str)} if isinstance(value, Mapping) else {}


def _iterate_strings(value: Any) -> Iterator[str]:
    """Every text in what may be nested."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _iterate_strings(key)
            yield from _iterate_strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _iterate_strings(item)
