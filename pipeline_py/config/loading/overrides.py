"""What an experiment's own files say, apart from what it inherits from `config.yaml`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline_py.config.experiment import Experiment, listed
from pipeline_py.config.loading.crossing import CROSSING
from pipeline_py.config.loading.entry_error import Entry
from pipeline_py.config.parsers import TrainedParser

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
        targets = {*_strings(self.said.get("targets"))}
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
            named += [entry.get("parser"), entry.get("parsed_by"), *_strings(entry.get("parsers"))]
        crossings = (CROSSING.fullmatch(text) for section in SECTIONS for text in _texts(self.said.get(section)))
        return parser in [*named, *(crossing["parser"] for crossing in crossings if crossing)]


def systems_in(entry: Entry, config: Mapping[str, Any]) -> set[str]:
    """Systems that an entry is made of, those without ` [PARSER]` that are made with other parsers' trees too."""
    section, name = entry
    given = _mapping(_mapping(config.get(section)).get(name))
    named = [*_strings(given.get("systems")), *_strings(given.get("members"))]
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
        name: f"{key[name]}: `{name}` learns from generated trees, but the text of {listed(in_files)} is in files; "
        "name a parser of such text in `parser` (docs/parsers.md says which there are), or `targets` that read no "
        f"trees; if you mean it, say `parser: {name}` in a file of your own"
        for name, parser in experiment.parsers.items()
        if in_files
        and isinstance(parser, TrainedParser)
        and parser.treebank.is_generated
        and not overrides.asks_for(name)
    }


def _mapping(value: Any) -> Mapping[str, Any]:
    """A mapping without keys that are no text, which are a mistake that validation tells."""
    return {key: item for key, item in value.items() if isinstance(key, str)} if isinstance(value, Mapping) else {}


def _strings(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


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
