"""The overrides of an experiment, and the inherited entries that are left out because they do not fit them."""

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
"""Sections whose entries may be left out."""


@dataclass(frozen=True)
class ExperimentOverrides:
    """The settings with which an experiment overrides the configuration that it inherits.

    Attributes:
        settings: merged mappings of its files, its preset and the command line.
        has_inherited_settings: false if the experiment inherits no configuration.
    """

    settings: Mapping[str, Any]
    has_inherited_settings: bool

    def collect_needed_entries(self, config: Mapping[str, Any]) -> set[EntryKey]:
        """Return the entries of a configuration that the overrides name, and the systems that these consist of."""
        targets = {*select_strings(self.settings.get("targets"))}
        stack = _collect_entries(self.settings)
        stack += [
            (section, name)
            for section, name in _collect_entries(config)
            if section != "systems" and {name, name.partition("/")[0]} & targets
        ]
        needed: set[EntryKey] = set()
        while stack:
            entry = stack.pop()
            if entry not in needed:
                needed.add(entry)
                stack += [("systems", name) for name in collect_entry_systems(entry, config)]
        return needed

    def is_parser_named(self, parser: str) -> bool:
        """Return whether the overrides name a parser: by a key, or in `SYSTEM [PARSER]`."""
        names = [self.settings.get("parser")]
        for section in ("systems", "tables", "parsers"):
            for entry in map(_select_string_keys, _select_string_keys(self.settings.get(section)).values()):
                names += [entry.get(key) for key in ("parser", "parsed_by", "fallback")]
                names += select_strings(entry.get("parsers"))
        crossings = (
            CROSSING_PATTERN.fullmatch(text)
            for section in OMITTABLE_SECTIONS
            for text in _iterate_strings(self.settings.get(section))
        )
        return parser in [*names, *(crossing["parser"] for crossing in crossings if crossing)]


def remove_inherited_contrast(config: Mapping[str, Any], own_config: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Remove inherited contrastive sets, and tables of them, if the experiment has its own training text.

    These sets test phenomena of the inherited training text.
    """
    own_corpora, own_tables = (
        _select_string_keys(_select_string_keys(own_config).get(key)) for key in ("corpora", "tables")
    )
    if not {"train", "dev"} & {*own_corpora} or "contrast" in own_corpora:
        return config
    contrast_tables = {
        ("tables", name)
        for name, table in _select_string_keys(config.get("tables")).items()
        if name not in own_tables and CONTRAST_COLUMN in select_strings(_select_string_keys(table).get("columns"))
    }
    remainder = remove_entries(contrast_tables, config)
    return {**remainder, "corpora": {**_select_string_keys(config.get("corpora")), "contrast": []}}


def find_untrainable_systems(config: Mapping[str, Any]) -> tuple[set[EntryKey], str] | None:
    """Return the systems that need training text and an error message, if such text is null; else None.

    Texts that are missing from the configuration are a different error.
    """
    corpora, systems = _select_string_keys(config.get("corpora")), _select_string_keys(config.get("systems"))
    null_keys = [f"corpora.{key}" for key in ("train", "dev") if key in corpora and not corpora[key]]
    trained_systems = {
        ("systems", name) for name, system in systems.items() if get_system_type(system) in ("neural", "phrase_based")
    }
    if not null_keys or not trained_systems:
        return None
    return trained_systems, (
        f"{' and '.join(null_keys)}: required for training; name such text, or use only systems of `type: translations`"
    )


def collect_entry_systems(entry_key: EntryKey, config: Mapping[str, Any]) -> set[str]:
    """Return the systems that an entry consists of, with the base of each `SYSTEM [PARSER]`."""
    section, name = entry_key
    entry = _select_string_keys(_select_string_keys(config.get(section)).get(name))
    names = [*select_strings(entry.get("systems")), *select_strings(entry.get("members"))]
    names += select_strings([entry.get("like"), entry.get("system")])
    crossings = [CROSSING_PATTERN.fullmatch(name) for name in names]
    return {*names, *(crossing["base"] for crossing in crossings if crossing)}


def find_generator_only_parser_errors(experiment: ExperimentConfig, overrides: ExperimentOverrides) -> dict[str, str]:
    """Return the error message of each parser that is trained on generated trees, if the experiment has text in files.

    Such parsers parse text in files badly, so an experiment must request them by name.
    """
    splits = experiment.splits_in_files
    key = {name: "parser" if name == experiment.parser else f"parsers.{name}" for name in experiment.parsers}
    return {
        name: f"{key[name]}: `{name}` is trained on generated trees, but the text of {format_name_list(splits)} is in "
        "files; name a parser for such text in `parser` (docs/how_to/parsers.md lists the types), or choose "
        f"`targets` that read no trees; to use it on purpose, write `parser: {name}` in a file of your own"
        for name, parser in experiment.parsers.items()
        if splits
        and isinstance(parser, TrainedParserConfig)
        and parser.treebank.is_generated
        and not overrides.is_parser_named(name)
    }


def find_omittable_entries(
    validation_error: Mapping[str, Any], config: Mapping[str, Any], crossings: Collection[str]
) -> set[EntryKey]:
    """Return the entries whose omission would avoid one of pydantic's `errors()`; empty if there are none.

    An error in a crossed system belongs to the entries that name it.
    """
    if validation_error["type"] != "value_error":
        return set()
    error, location = validation_error["ctx"]["error"], validation_error["loc"]
    if not isinstance(error, ConfigEntryError) and (len(location) < 2 or location[0] not in OMITTABLE_SECTIONS):
        return set()
    section, name = error.entry_key if isinstance(error, ConfigEntryError) else location[:2]
    if section == "systems" and name in crossings:
        return {entry for entry in _collect_entries(config) if name in collect_entry_systems(entry, config)}
    return {(section, name)}


def collect_dependent_entries(entries: Iterable[EntryKey], config: Mapping[str, Any]) -> set[EntryKey]:
    """Return the entries and all entries that consist of them."""
    collected = {*entries}
    while dependents := {
        entry
        for entry in _collect_entries(config)
        if entry not in collected
        and any(("systems", name) in collected for name in collect_entry_systems(entry, config))
    }:
        collected |= dependents
    return collected


def format_omission_warning(omitted_entries: Mapping[EntryKey, str]) -> str:
    """Format a warning with the omitted tables and figures, or else systems, and the first reason."""
    names = [name for section, name in omitted_entries if section != "systems"] or [name for _, name in omitted_entries]
    reasons = list(dict.fromkeys(omitted_entries.values()))
    hint = " (to see the other reasons, name these in `targets`)" if len(reasons) > 1 else ""
    return (
        "Left out from config.yaml, since incompatible with this experiment's own settings: "
        f"{format_name_list(sorted(names))}; {reasons[0]}{hint}."
    )


def remove_entries(entries: set[EntryKey], config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration without some entries and without the labels of removed systems in tables."""
    remainder = dict(config)
    for section in OMITTABLE_SECTIONS:
        if isinstance(config.get(section), Mapping):
            remainder[section] = {
                name: entry for name, entry in config[section].items() if (section, name) not in entries
            }
    systems = {name for section, name in entries if section == "systems"}
    if isinstance(remainder.get("tables"), Mapping):
        remainder["tables"] = {
            title: _remove_system_labels(systems, table) for title, table in remainder["tables"].items()
        }
    if isinstance(targets := remainder.get("targets"), list):
        remainder["targets"] = [
            name for name in targets if _is_target_defined(name, remainder) or not _is_target_defined(name, config)
        ] or None
    return remainder


def _is_target_defined(target: Any, config: Mapping[str, Any]) -> bool:
    """Return whether a target is a table, a figure, or a folder of these."""
    names = [name for section in ("tables", "figures") for name in _select_string_keys(config.get(section))]
    return target in {*names, *(name.partition("/")[0] for name in names)}


def _collect_entries(config: Mapping[str, Any]) -> list[EntryKey]:
    return [(section, name) for section in OMITTABLE_SECTIONS for name in _select_string_keys(config.get(section))]


def _remove_system_labels(systems: set[str], table: Any) -> Any:
    """Return a table without its labels and published names of some systems."""
    if not isinstance(table, Mapping):
        return table
    labels, published = table.get("labels"), table.get("published")
    if isinstance(labels, Mapping):
        table = {**table, "labels": {name: label for name, label in labels.items() if name not in systems}}
    if isinstance(published, Mapping) and isinstance(names := published.get("names"), Mapping):
        paper_names = {name: paper_name for name, paper_name in names.items() if name not in systems}
        table = {**table, "published": {**published, "names": paper_names}}
    return table


def _select_string_keys(value: Any) -> Mapping[str, Any]:
    """Return a mapping without keys that are not strings, which validation reports; empty for other values."""
    return {key: item for key, item in value.items() if isinstance(key, str)} if isinstance(value, Mapping) else {}


def _iterate_strings(value: Any) -> Iterator[str]:
    """Yield all strings in nested mappings and lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _iterate_strings(key)
            yield from _iterate_strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _iterate_strings(item)
