"""What an experiment's own files say, apart from what it inherits, and the inherited entries that it does without."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline_py.config.crossing import CROSSING, strings
from pipeline_py.config.entry_errors import Entry, EntryError, listed
from pipeline_py.config.experiment import Experiment
from pipeline_py.config.parsers import TrainedParser
from pipeline_py.config.systems.any_system import type_of_system
from pipeline_py.config.tables import CONTRAST

SECTIONS = ("systems", "tables", "figures")
"""Sections whose entries an experiment may do without."""


@dataclass(frozen=True)
class Overrides:
    """What an experiment lays over the configuration that it inherits.

    Attributes:
        said: mappings of its files, its preset and the command line.
        inherits: whether there is anything beside; else all of its configuration is its own.
    """

    said: Mapping[str, Any]
    inherits: bool

    def needs(self, config: Mapping[str, Any]) -> set[Entry]:
        """Everything that its own files name in a configuration, and what that is made of."""
        targets = {*strings(self.said.get("targets"))}
        waiting = [(section, name) for section in SECTIONS for name in _mapping(self.said.get(section))]
        waiting += [
            (section, name)
            for section in ("tables", "figures")
            for name in _mapping(config.get(section))
            if {name, name.partition("/")[0]} & targets
        ]
        found: set[Entry] = set()
        while waiting:
            entry = waiting.pop()
            if entry not in found:
                found.add(entry)
                waiting += [("systems", name) for name in systems_in(entry, config)]
        return found

    def asks_for(self, parser: str) -> bool:
        """Whether its own files name a parser: by a key, or in `SYSTEM [PARSER]`."""
        entries = [*_mapping(self.said.get("systems")).values(), *_mapping(self.said.get("tables")).values()]
        named = [self.said.get("parser")]
        for entry in map(_mapping, entries):
            named += [entry.get("parser"), entry.get("parsed_by"), *strings(entry.get("parsers"))]
        crossings = (CROSSING.fullmatch(text) for section in SECTIONS for text in _texts(self.said.get(section)))
        return parser in [*named, *(crossing["parser"] for crossing in crossings if crossing)]


def of_own_text(config: Mapping[str, Any], own: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """A configuration without contrastive sets that belong to another training text, and without tables of them.

    They ask for what systems could learn there; an experiment with texts of its own inherits none.
    """
    own_corpora, own_tables = (_mapping(_mapping(own).get(key)) for key in ("corpora", "tables"))
    if not {"train", "dev"} & {*own_corpora} or "contrast" in own_corpora:
        return config
    tables = _mapping(config.get("tables"))
    contrasted = {name for name, table in tables.items() if CONTRAST in strings(_mapping(table).get("columns"))}
    left = without({("tables", name) for name in contrasted - {*own_tables}}, config)
    return {**left, "corpora": {**_mapping(config.get("corpora")), "contrast": []}}


def untrainable(config: Mapping[str, Any]) -> tuple[set[Entry], str] | None:
    """The systems that learn, where there is no text to learn from, and what to do about it; None if there is.

    Texts that are missing without a word are another mistake.
    """
    corpora, systems = _mapping(config.get("corpora")), _mapping(config.get("systems"))
    absent = [f"corpora.{key}" for key in ("train", "dev") if key in corpora and not corpora[key]]
    learning = {
        ("systems", name) for name, given in systems.items() if type_of_system(given) in ("neural", "phrase_based")
    }
    if not absent or not learning:
        return None
    return learning, (
        f"{' and '.join(absent)}: without, nothing can be trained; name such text, or ask for systems of `type: "
        "translations` alone"
    )


def systems_in(entry: Entry, config: Mapping[str, Any]) -> set[str]:
    """Systems that an entry is made of, those without ` [PARSER]` that are made with other parsers' trees too."""
    section, name = entry
    given = _mapping(_mapping(config.get(section)).get(name))
    named = [*strings(given.get("systems")), *strings(given.get("members"))]
    named += [text for text in (given.get("like"), given.get("system")) if isinstance(text, str)]
    crossings = [CROSSING.fullmatch(name) for name in named]
    return {*named, *(crossing["base"] for crossing in crossings if crossing)}


def unfit_parsers(experiment: Experiment, overrides: Overrides) -> dict[str, str]:
    """Parsers that know the sentences of the generator alone, of an experiment with text in files.

    They parse such text into trees that mean little, so an experiment asks for them by name.

    Returns:
        By parser, what to do.
    """
    in_files = experiment.splits_in_files
    key = {name: "parser" if name == experiment.parser else f"parsers.{name}" for name in experiment.parsers}
    return {
        name: f"{key[name]}: `{name}` is trained on generated trees, but the text of {listed(in_files)} is in files; "
        "name a parser for such text in `parser` (docs/parsers.md lists the types), or choose `targets` that read no "
        f"trees; to use it on purpose, write `parser: {name}` in a file of your own"
        for name, parser in experiment.parsers.items()
        if in_files
        and isinstance(parser, TrainedParser)
        and parser.treebank.is_generated
        and not overrides.asks_for(name)
    }


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
    more = " (to see the other reasons, name these in `targets`)" if len(reasons) > 1 else ""
    return (
        f"Left out from config.yaml, since incompatible with this experiment's own settings: {listed(sorted(shown))}; "
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
    if isinstance(targets := left.get("targets"), list):
        left["targets"] = [name for name in targets if _is_made(name, left) or not _is_made(name, config)] or None
    return left


def _is_made(target: Any, config: Mapping[str, Any]) -> bool:
    """Whether a target is a table or figure of a configuration, or a folder of some."""
    names = [name for section in ("tables", "figures") for name in _mapping(config.get(section))]
    return target in {*names, *(name.partition("/")[0] for name in names)}


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


def _mapping(value: Any) -> Mapping[str, Any]:
    """A mapping without keys that are no text, which are a mistake that validation tells."""
    return {key: item for key, item in value.items() if isinstance(key, str)} if isinstance(value, Mapping) else {}


def _texts(value: Any) -> Iterator[str]:
    """Every text in what may be nested."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
