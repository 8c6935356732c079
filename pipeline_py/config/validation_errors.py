"""Formatting of validation errors of the configuration as one sentence."""

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
"""Limit of keys of a section in a message."""

MAX_LISTED_OPTIONS = 6
"""Limit of options in a message that also names the nearest one."""

YamlScalar = str | int | float | bool | datetime.date | None


def describe_value_error(validation_error: dict[str, Any], section_classes: list[type[BaseModel]]) -> str | None:
    """Describe the expected value and a likely correction; return None for errors other than a wrong type or option.

    Args:
        validation_error: one of pydantic's `errors()`.
        section_classes: classes of sections that are valid instead of the value.
    """
    value, kind = validation_error.get("input"), validation_error["type"]
    if kind == "string_type" and (value is None or not isinstance(value, YamlScalar)):
        return f"give text, not {'null' if value is None else _describe_container(value)}"
    if kind == "list_type" and isinstance(value, Mapping):
        return "give a list, not a mapping; begin each of its entries with `- `"
    if not isinstance(value, YamlScalar):
        return None
    text = _format_yaml_scalar(value)
    actual = f", not {shorten_text(text)}"
    if kind == "string_type":
        return f"give text{actual}; {_format_quoting_hint(value)}"
    if kind == "literal_error":
        options = re.findall(r"'([^']*)'", validation_error["ctx"]["expected"])
        if not options:
            return None
        words = (
            [word for word in YAML_BOOLEAN_WORDS.get(value, ()) if word in options] if isinstance(value, bool) else []
        )
        nearest = find_nearest_name(value, options) if isinstance(value, str) else None
        if nearest and len(options) > MAX_LISTED_OPTIONS:
            return f"`{shorten_text(text)}` is not an option; did you mean `{nearest}`?"
        hint = f"; {_format_quoting_hint(value)}" if words else f"; did you mean `{nearest}`?" if nearest else ""
        return f"give {' or '.join(filter(None, [', '.join(options[:-1]), options[-1]]))}{actual}{hint}"
    if kind in MAPPING_ERROR_TYPES:
        name = validation_error.get("ctx", {}).get("class_name")
        section_classes = [model for model in _iterate_section_classes() if model.__name__ == name] or section_classes
        keys = list(dict.fromkeys(key for model in section_classes for key in _find_accepting_keys(model, value)))
        if len(keys) == 1 or "type" in keys:
            key = "type" if "type" in keys else keys[0]
            return f"give a mapping{actual}; did you mean `{{{key}: {text}}}`?"
        names = list(dict.fromkeys(name for model in section_classes for name in model.model_fields))[:MAX_LISTED_KEYS]
        return f"give a mapping of keys to values{f', such as {format_name_list(names)}' if names else ''}{actual}"
    if kind == "list_type":
        return f"give a list{actual}; did you mean `[{text}]`?" if value is not None else f"give a list{actual}"
    if kind.startswith(("int_", "float_")):
        noun = "a whole number" if kind.startswith("int_") else "a number"
        if isinstance(value, str) and value.lower() in NULL_WORDS:
            return f"give {noun}{actual}; for no value, write null where the key allows it"
        number = _parse_number(value) if isinstance(value, str) else None
        is_whole = number is not None and number.is_integer() and abs(number) < 1e15
        return f"give {noun}{actual}{f'; did you mean {number:.0f}?' if is_whole else ''}"
    if kind.startswith("bool_"):
        return f"give true or false{actual}"
    return None


def _describe_container(value: Any) -> str:
    return "a mapping" if isinstance(value, Mapping) else "a list"


def _format_yaml_scalar(value: YamlScalar) -> str:
    """Format a value as in YAML, text without quotes."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return str(value)


def _format_quoting_hint(value: YamlScalar) -> str:
    if isinstance(value, bool):
        words = YAML_BOOLEAN_WORDS[value]
        return f'YAML reads {", ".join(words)} as {_format_yaml_scalar(value)}; write the word in quotes: "{words[0]}"'
    return f'put it in quotes: "{value}"'


def _find_accepting_keys(section_class: type[BaseModel], value: YamlScalar) -> list[str]:
    """Return the keys of a section that accept a number, or have a text as an option."""
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
"""Descriptions of the values that match a pattern."""


MAX_LISTED_LOCATIONS = 3
"""Limit of keys of other sections in a message."""


def format_validation_error(validation_error: dict[str, Any], config: Mapping[str, Any]) -> str:
    """Format a message with the key and the problem.

    Args:
        validation_error: one of pydantic's `errors()`.
        config: the validated configuration.
    """
    kind, location, context = validation_error["type"], validation_error["loc"], validation_error.get("ctx", {})
    keys = [step for step, is_key in _walk_location(location, config) if is_key]
    if kind == "missing":
        keys.append(location[-1])
    path = ".".join(map(str, keys))
    if kind == "extra_forbidden":
        return _format_unknown_key_error(keys, location, config)
    if kind == "union_tag_invalid":
        tags = [tag.strip().strip("'") for tag in context["expected_tags"].split(",")]
        return format_unknown_name_error(f"type of {path}", context["tag"], tags)
    if kind == "string_type" and location[-1] == "[key]":
        return f"{location[0]}: the name {validation_error['input']!r} is not text; put it in quotes"
    if path and (description := describe_value_error(validation_error, _find_typed_sections(validation_error))):
        return f"{path}: {description}"
    message = validation_error["msg"].removeprefix("Value error, ")
    if kind == "missing" and len(location) == 1:
        message += " (is config.yaml in this folder?)"
    if kind == "union_tag_not_found":
        message = f"give its `type`: {context['discriminator']} is missing"
    if kind == "string_pattern_mismatch":
        message = f"give {PATTERN_DESCRIPTIONS[context['pattern']]}"
    value = validation_error.get("input")
    actual = f", not {shorten_text(repr(value))}" if isinstance(value, str | int | float | bool) else ""
    return f"{path}: {message[0].lower() + message[1:]}{actual}" if path else message


def _format_unknown_key_error(keys: Sequence[Any], location: Sequence[Any], config: Mapping[str, Any]) -> str:
    path, key = ".".join(map(str, keys)), str(keys[-1])
    if _is_other_parser_type_key(keys):
        return (
            f"unknown key `{path}`; type {config['parsers'][keys[1]]['type']} has no such key (files are merged: if "
            f"another file gives `{keys[1]}` another type, choose a new name)"
        )
    models, other_type_models = _find_sibling_sections(location, config)
    siblings = list(dict.fromkeys(name for model in models for name in model.model_fields))
    types = [str(name) for model in other_type_models if key in model.model_fields for name in _get_type_names(model)]
    if types and not find_nearest_name(key, siblings):
        return f"unknown key `{path}`; only the type {' or '.join(dict.fromkeys(types))} has it"
    if KEY_SYNONYMS.get(key) not in siblings and (paths := _find_key_locations(key, str(keys[0]))):
        return f"unknown key `{path}`; did you mean `{'` or `'.join(paths)}`?"
    return format_unknown_name_error("key", path, siblings, last_part=key)


def _walk_location(location: Sequence[Any], config: Mapping[str, Any]) -> Iterator[tuple[Any, bool]]:
    """Yield each step of pydantic's location, and true if it is a key of the file, not a branch of a union."""
    value: Any = config
    for step in location:
        if isinstance(value, list):
            is_key = isinstance(step, int) and step < len(value)
        else:
            is_key = isinstance(value, Mapping) and step in value
        yield step, is_key
        if is_key:
            value = value[step]


def _is_other_parser_type_key(location: Sequence[Any]) -> bool:
    """Return whether a key of a parser belongs to parsers of another type."""
    if len(location) != 3 or location[0] != "parsers":
        return False
    return any(
        location[2] in model.model_fields
        for model in _collect_section_classes(ExperimentConfig.model_fields["parsers"].annotation)
    )


def _find_typed_sections(validation_error: dict[str, Any]) -> list[type[BaseModel]]:
    """Return the sections of an entry, such as a parser, whose `type` was given instead of the entry."""
    field = ExperimentConfig.model_fields.get(validation_error["loc"][0])
    if field is None or len(validation_error["loc"]) != 2:
        return []
    models = _collect_section_classes(field.annotation)
    return [model for model in models if validation_error.get("input") in _get_type_names(model)]


def _find_key_locations(key: str, section: str) -> list[str]:
    """Return dotted paths of keys with this name or these initials, preferably in the section."""
    names = {path: path.rpartition(".")[2] for path in _iterate_nested_keys(ExperimentConfig) if "." in path}
    paths = [path for path, name in names.items() if name == key]
    paths = paths or [path for path, name in names.items() if get_initials(name) == key]
    section_paths = [path for path in paths if path.startswith(f"{section}.")]
    return section_paths or (paths if len(paths) <= MAX_LISTED_LOCATIONS else [])


def _iterate_nested_keys(section_class: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Yield dotted paths of the keys of a section and its subsections, except entries with user-defined names."""
    for name, field in section_class.model_fields.items():
        yield f"{prefix}{name}"
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _iterate_nested_keys(field.annotation, f"{prefix}{name}.")


def _find_sibling_sections(
    location: Sequence[Any], config: Mapping[str, Any]
) -> tuple[list[type[BaseModel]], list[type[BaseModel]]]:
    """Return classes of the section that contains the last step, and those of the section with other types."""
    models: list[type[BaseModel]] = [ExperimentConfig]
    other_type_models: list[type[BaseModel]] = []
    for step, is_key in [*_walk_location(location, config)][:-1]:
        other_type_models = []
        if not is_key:
            if branch_models := [model for model in models if step in _get_type_names(model)]:
                other_type_models = [model for model in models if model not in branch_models]
                models = branch_models
        # A step that is not a field is an index of a list or a user-defined name.
        elif fields := [model.model_fields[step].annotation for model in models if step in model.model_fields]:
            models = [inner for annotation in fields for inner in _collect_section_classes(annotation)]
    return models, other_type_models


def _get_type_names(section_class: type[BaseModel]) -> tuple[Any, ...]:
    """Return the allowed values of a section's `type`."""
    return get_args(section_class.model_fields["type"].annotation) if "type" in section_class.model_fields else ()


def _collect_section_classes(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in getattr(annotation, "__args__", ()) for model in _collect_section_classes(argument)]
