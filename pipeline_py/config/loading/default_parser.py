"""The experiment's `parser`: of every system that reads trees and names none."""

from collections.abc import Collection, Mapping
from typing import Any

from pipeline_py.config.loading.unknown import unknown
from pipeline_py.config.systems.any_system import type_of_system
from pipeline_py.config.systems.neural import NeuralSystem

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
