"""Validation errors of the configuration as one sentence."""

import datetime
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from pipeline_py.config.base import ConfigSection
from pipeline_py.config.corpora import DOWNLOAD_ID_PATTERN, LANGUAGE_CODE_PATTERN, NAME_PATTERN
from pipeline_py.config.entry_errors import (
    KEY_SYNONYMS,
    find_nearest_name,
    format_name_list,
    format_unknown_name_error,
    get_initials,
    shorten_text,
)
from pipeline_py.config.experiment import ExperimentConfig

MAPPING_ERROR_TYPES = ("model_type", "model_attributes_type", "dict_type", "mapping_type")
NULL_WORDS = ("none", "null", "~")
YAML_BOOLEAN_WORDS = {True: ("yes", "on", "true"), False: ("no", "off", "false")}
"""Words that YAML reads as true or false unless they are in quotes."""

MAX_LISTED_KEYS = 6
"""Keys of a section that are named."""

MAX_LISTED_OPTIONS = 6
"""Options that are listed where another sentence tells enough."""

YamlScalar = str | int | float | bool | datetime.date | None


def describe_value_error(validation_error: dict[str, Any], section_classes: list[type[BaseModel]]) -> str | None:
    """Say what a value should be, and what was probably meant; None of mistakes that are not about a scalar's type.

    Args:
        validation_error: one of pydantic's `errors()`.
        section_classes: the sections that may be in the place of the value.
    """
    value, kind = validation_error.get("input"), validation_error["type"]
    if kind == "string_type" and (value is None or not isinstance(value, YamlScalar)):
        return f"give text, not {'null' if value is None else _describe_container(value)}"
    if kind == "list_type" and isinstance(value, Mapping):
        return "give a list, not a mapping; begin each of its entries with `- `"
    if not isinstance(value, YamlScalar):
        return None
    written = _format_yaml_scalar(value)
    given = f", not {shorten_text(written)}"
    if kind == "string_type":
        return f"give text{given}; {_format_quoting_hint(value)}"
    if kind == "literal_error":
        options = re.findall(r"'([^']*)'", validation_error["ctx"]["expected"])
        if not options:
            return None
        words = (
            [word for word in YAML_BOOLEAN_WORDS.get(value, ()) if word in options] if isinstance(value, bool) else []
        )
        near = find_nearest_name(value, options) if isinstance(value, str) else None
        if near and len(options) > MAX_LISTED_OPTIONS:
            return f"`{shorten_text(written)}` is no option; did you mean `{near}`?"
        hint = f"; {_format_quoting_hint(value)}" if words else f"; did you mean `{near}`?" if near else ""
        return f"give {' or '.join(filter(None, [', '.join(options[:-1]), options[-1]]))}{given}{hint}"
    if kind in MAPPING_ERROR_TYPES:
        name = validation_error.get("ctx", {}).get("class_name")
        section_classes = [model for model in _iterate_section_classes() if model.__name__ == name] or section_classes
        keys = list(dict.fromkeys(key for model in section_classes for key in _find_accepting_keys(model, value)))
        if len(keys) == 1 or "type" in keys:
            key = "type" if "type" in keys else keys[0]
            return f"give a mapping{given}; did you mean `{{{key}: {written}}}`?"
        names = list(dict.fromkeys(name for model in section_classes for name in model.model_fields))[:MAX_LISTED_KEYS]
        return f"give a mapping of keys to values{f', such as {format_name_list(names)}' if names else ''}{given}"
    if kind == "list_type":
        return f"give a list{given}; did you mean `[{written}]`?" if value is not None else f"give a list{given}"
    if kind.startswith(("int_", "float_")):
        what = "a whole number" if kind.startswith("int_") else "a number"
        if isinstance(value, str) and value.lower() in NULL_WORDS:
            return f"give {what}{given}; where there may be none, write null"
        number = _parse_number(value) if isinstance(value, str) else None
        whole = number is not None and number.is_integer() and abs(number) < 1e15
        return f"give {what}{given}{f'; did you mean {number:.0f}?' if whole else ''}"
    if kind.startswith("bool_"):
        return f"give true or false{given}"
    return None


def _describe_container(value: Any) -> str:
    return "a mapping" if isinstance(value, Mapping) else "a list"


def _format_yaml_scalar(value: YamlScalar) -> str:
    """Show a value as it is written in YAML, text without quotes."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return str(value)


def _format_quoting_hint(value: YamlScalar) -> str:
    if isinstance(value, bool):
        words = YAML_BOOLEAN_WORDS[value]
        return f'YAML reads {", ".join(words)} as {_format_yaml_scalar(value)}; write the word in quotes: "{words[0]}"'
    return f'put it in quotes: "{value}"'


def _find_accepting_keys(section_class: type[BaseModel], value: YamlScalar) -> list[str]:
    """Return the keys of a section that can have a value: for text, those with such an option."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return [
        name
        for name, field in section_class.model_fields.items()
        if (
            value in _collect_literal_options(field.annotation)
            if isinstance(value, str)
            else is_number and _is_number_annotation(field.annotation)
        )
    ]


def _collect_literal_options(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(option for argument in get_args(annotation) for option in _collect_literal_options(argument))


def _is_number_annotation(annotation: Any) -> bool:
    return annotation in (int, float) or any(map(_is_number_annotation, get_args(annotation)))


def _iterate_section_classes(base_class: type[ConfigSection] = ConfigSection) -> Iterator[type[ConfigSection]]:
    for section in base_class.__subclasses__():
        yield section
        yield from _iterate_section_classes(section)


def _parse_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


PATTERN_DESCRIPTIONS = {
    NAME_PATTERN: "letters, digits, _ and -, a letter or digit first",
    DOWNLOAD_ID_PATTERN: "mtdata: or sacrebleu: and the name of a data set there, e.g. sacrebleu:wmt14/full",
    LANGUAGE_CODE_PATTERN: "an ISO 639 code, e.g. en or zh",
}
"""What patterns ask for."""


MAX_LISTED_LOCATIONS = 3
"""Keys of other sections that are named."""


def format_validation_error(validation_error: dict[str, Any], config: Mapping[str, Any]) -> str:
    """Say what is wrong where.

    Args:
        validation_error: one of pydantic's `errors()`.
        config: what was validated.
    """
    location = [step for step, is_key in _walk_location(validation_error["loc"], config) if is_key]
    if validation_error["type"] == "missing":
        location.append(validation_error["loc"][-1])
    where = ".".join(map(str, location))
    if validation_error["type"] == "extra_forbidden":
        if _is_other_parser_type_key(location):
            kind = config["parsers"][location[1]]["type"]
            return (
                f"unknown key `{where}`; type {kind} has no such key (files are merged: if another file gives "
                f"`{location[1]}` another type, choose a new name)"
            )
        models, of_other_types = _find_sibling_sections(validation_error["loc"], config)
        key = str(location[-1])
        beside = list(dict.fromkeys(name for model in models for name in model.model_fields))
        types = [str(name) for model in of_other_types if key in model.model_fields for name in _get_type_names(model)]
        if types and not find_nearest_name(key, beside):
            return f"unknown key `{where}`; only the type {' or '.join(dict.fromkeys(types))} has it"
        if KEY_SYNONYMS.get(key) not in beside and (places := _find_key_locations(key, str(location[0]))):
            return f"unknown key `{where}`; did you mean `{'` or `'.join(places)}`?"
        return format_unknown_name_error("key", where, beside, last_part=key)
    if validation_error["type"] == "union_tag_invalid":
        known = [tag.strip().strip("'") for tag in validation_error["ctx"]["expected_tags"].split(",")]
        return format_unknown_name_error(f"type of {where}", validation_error["ctx"]["tag"], known)
    if validation_error["type"] == "string_type" and validation_error["loc"][-1] == "[key]":
        return f"{validation_error['loc'][0]}: the name {validation_error['input']!r} is not text; put it in quotes"
    if where and (description := describe_value_error(validation_error, _find_typed_sections(validation_error))):
        return f"{where}: {description}"
    message = validation_error["msg"].removeprefix("Value error, ")
    if validation_error["type"] == "missing" and len(validation_error["loc"]) == 1:
        message += " (is config.yaml in this folder?)"
    if validation_error["type"] == "union_tag_not_found":
        message = f"give its `type`: {validation_error['ctx']['discriminator']} is missing"
    if validation_error["type"] == "string_pattern_mismatch":
        message = f"give {PATTERN_DESCRIPTIONS[validation_error['ctx']['pattern']]}"
    given = validation_error.get("input")
    shown = f", not {shorten_text(repr(given))}" if isinstance(given, str | int | float | bool) else ""
    return f"{where}: {message[0].lower() + message[1:]}{shown}" if where else message


def _walk_location(location: Sequence[Any], config: Mapping[str, Any]) -> Iterator[tuple[Any, bool]]:
    """Yield the steps of pydantic's location, and whether each is a key of the file and not the branch of a union."""
    value: Any = config
    for step in location:
        if isinstance(value, list):
            found = isinstance(step, int) and step < len(value)
        else:
            found = isinstance(value, Mapping) and step in value
        yield step, found
        if found:
            value = value[step]


def _is_other_parser_type_key(location: Sequence[Any]) -> bool:
    """Whether a key of a parser is one that parsers of another type have."""
    if len(location) != 3 or location[0] != "parsers":
        return False
    return any(
        location[2] in model.model_fields
        for model in _collect_section_classes(ExperimentConfig.model_fields["parsers"].annotation)
    )


def _find_typed_sections(validation_error: dict[str, Any]) -> list[type[BaseModel]]:
    """Return the sections of an entry, such as a parser, whose `type` is given in the place of the entry."""
    field = ExperimentConfig.model_fields.get(validation_error["loc"][0])
    models = (
        _collect_section_classes(field.annotation) if field is not None and len(validation_error["loc"]) == 2 else []
    )
    return [model for model in models if validation_error.get("input") in _get_type_names(model)]


def _find_key_locations(key: str, section: str) -> list[str]:
    """Return where the configuration has a key of this name, or of these initials: in a section, if it has such."""
    names = {place: place.rpartition(".")[2] for place in _iterate_nested_keys(ExperimentConfig) if "." in place}
    places = [place for place, name in names.items() if name == key]
    places = places or [place for place, name in names.items() if get_initials(name) == key]
    within = [place for place in places if place.startswith(f"{section}.")]
    return within or (places if len(places) <= MAX_LISTED_LOCATIONS else [])


def _iterate_nested_keys(section_class: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Yield the keys of a section and of the sections in it, with dots; not of what the user gives a name."""
    for name, field in section_class.model_fields.items():
        yield f"{prefix}{name}"
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _iterate_nested_keys(field.annotation, f"{prefix}{name}.")


def _find_sibling_sections(
    location: Sequence[Any], config: Mapping[str, Any]
) -> tuple[list[type[BaseModel]], list[type[BaseModel]]]:
    """Models of the section that the last step is a key of, and those that it would have if it had another type."""
    models: list[type[BaseModel]] = [ExperimentConfig]
    others: list[type[BaseModel]] = []
    for step, is_key in [*_walk_location(location, config)][:-1]:
        if not is_key:
            of_branch = [model for model in models if step in _get_type_names(model)]
            models, others = of_branch or models, [model for model in models if of_branch and model not in of_branch]
            continue
        fields = [model.model_fields[step].annotation for model in models if step in model.model_fields]
        # A step that no model knows is a list's index or a name that the user chose.
        models = (
            [inner for annotation in fields for inner in _collect_section_classes(annotation)] if fields else models
        )
        others = []
    return models, others


def _get_type_names(section_class: type[BaseModel]) -> tuple[Any, ...]:
    """What may stand as `type` in a mapping of a union's branch."""
    return get_args(section_class.model_fields["type"].annotation) if "type" in section_class.model_fields else ()


def _collect_section_classes(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in getattr(annotation, "__args__", ()) for model in _collect_section_classes(argument)]
