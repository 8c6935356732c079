"""Validation errors of the configuration as one sentence."""

import datetime
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from pipeline_py.config.base import Section
from pipeline_py.config.corpora import IDENTIFIER, LANGUAGE, NAME
from pipeline_py.config.entry_errors import SYNONYMS, initials, listed, nearest, shortened, unknown
from pipeline_py.config.experiment import Experiment

MAPPING_EXPECTED = ("model_type", "model_attributes_type", "dict_type", "mapping_type")
NULLS = ("none", "null", "~")
TRUTH_IN_YAML = {True: ("yes", "on", "true"), False: ("no", "off", "false")}
"""Words that YAML reads as true or false unless they are in quotes."""

MOST_KEYS = 6
"""Keys of a section that are named."""

MOST_OPTIONS = 6
"""Options that are listed where another sentence tells enough."""

Scalar = str | int | float | bool | datetime.date | None


def describe_value(mistake: dict[str, Any], models: list[type[BaseModel]]) -> str | None:
    """Say what a value should be, and what was probably meant; None of mistakes that are not about a scalar's type.

    Args:
        mistake: one of pydantic's `errors()`.
        models: the sections that may be in the place of the value.
    """
    value, kind = mistake.get("input"), mistake["type"]
    if kind == "string_type" and (value is None or not isinstance(value, Scalar)):
        return f"give text, not {'null' if value is None else _kind_of(value)}"
    if kind == "list_type" and isinstance(value, Mapping):
        return "give a list, not a mapping; begin each of its entries with `- `"
    if not isinstance(value, Scalar):
        return None
    written = _as_yaml(value)
    given = f", not {shortened(written)}"
    if kind == "string_type":
        return f"give text{given}; {_in_quotes(value)}"
    if kind == "literal_error":
        options = re.findall(r"'([^']*)'", mistake["ctx"]["expected"])
        if not options:
            return None
        words = [word for word in TRUTH_IN_YAML.get(value, ()) if word in options] if isinstance(value, bool) else []
        near = nearest(value, options) if isinstance(value, str) else None
        if near and len(options) > MOST_OPTIONS:
            return f"`{shortened(written)}` is no option; did you mean `{near}`?"
        hint = f"; {_in_quotes(value)}" if words else f"; did you mean `{near}`?" if near else ""
        return f"give {' or '.join(filter(None, [', '.join(options[:-1]), options[-1]]))}{given}{hint}"
    if kind in MAPPING_EXPECTED:
        name = mistake.get("ctx", {}).get("class_name")
        models = [model for model in _sections() if model.__name__ == name] or models
        keys = list(dict.fromkeys(key for model in models for key in _keys_with(model, value)))
        if len(keys) == 1 or "type" in keys:
            key = "type" if "type" in keys else keys[0]
            return f"give a mapping{given}; did you mean `{{{key}: {written}}}`?"
        names = list(dict.fromkeys(name for model in models for name in model.model_fields))[:MOST_KEYS]
        return f"give a mapping of keys to values{f', such as {listed(names)}' if names else ''}{given}"
    if kind == "list_type":
        return f"give a list{given}; did you mean `[{written}]`?" if value is not None else f"give a list{given}"
    if kind.startswith(("int_", "float_")):
        what = "a whole number" if kind.startswith("int_") else "a number"
        if isinstance(value, str) and value.lower() in NULLS:
            return f"give {what}{given}; where there may be none, write null"
        number = _read_number(value) if isinstance(value, str) else None
        whole = number is not None and number.is_integer() and abs(number) < 1e15
        return f"give {what}{given}{f'; did you mean {number:.0f}?' if whole else ''}"
    if kind.startswith("bool_"):
        return f"give true or false{given}"
    return None


def _kind_of(value: Any) -> str:
    return "a mapping" if isinstance(value, Mapping) else "a list"


def _as_yaml(value: Scalar) -> str:
    """Show a value as it is written in YAML, text without quotes."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return str(value)


def _in_quotes(value: Scalar) -> str:
    if isinstance(value, bool):
        words = TRUTH_IN_YAML[value]
        return f'YAML reads {", ".join(words)} as {_as_yaml(value)}; write the word in quotes: "{words[0]}"'
    return f'put it in quotes: "{value}"'


def _keys_with(model: type[BaseModel], value: Scalar) -> list[str]:
    """Return the keys of a section that can have a value: for text, those with such an option."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return [
        name
        for name, field in model.model_fields.items()
        if (
            value in _options(field.annotation)
            if isinstance(value, str)
            else is_number and _is_number(field.annotation)
        )
    ]


def _options(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(option for argument in get_args(annotation) for option in _options(argument))


def _is_number(annotation: Any) -> bool:
    return annotation in (int, float) or any(map(_is_number, get_args(annotation)))


def _sections(base: type[Section] = Section) -> Iterator[type[Section]]:
    for section in base.__subclasses__():
        yield section
        yield from _sections(section)


def _read_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


PATTERNS = {
    NAME: "letters, digits, _ and -, a letter or digit first",
    IDENTIFIER: "mtdata: or sacrebleu: and the name of a data set there, e.g. sacrebleu:wmt14/full",
    LANGUAGE: "an ISO 639 code, e.g. en or zh",
}
"""What patterns ask for."""


MOST_PLACES = 3
"""Keys of other sections that are named."""


def sentence(mistake: dict[str, Any], config: Mapping[str, Any]) -> str:
    """Say what is wrong where.

    Args:
        mistake: one of pydantic's `errors()`.
        config: what was validated.
    """
    location = [step for step, is_key in _steps(mistake["loc"], config) if is_key]
    if mistake["type"] == "missing":
        location.append(mistake["loc"][-1])
    where = ".".join(map(str, location))
    if mistake["type"] == "extra_forbidden":
        if _is_of_another_parser(location):
            kind = config["parsers"][location[1]]["type"]
            return (
                f"unknown key `{where}`; type {kind} has no such key (files are merged: if another file gives "
                f"`{location[1]}` another type, choose a new name)"
            )
        models, of_other_types = _models_beside(mistake["loc"], config)
        key = str(location[-1])
        beside = list(dict.fromkeys(name for model in models for name in model.model_fields))
        types = [str(name) for model in of_other_types if key in model.model_fields for name in _types_of(model)]
        if types and not nearest(key, beside):
            return f"unknown key `{where}`; only the type {' or '.join(dict.fromkeys(types))} has it"
        if SYNONYMS.get(key) not in beside and (places := _places_of(key, str(location[0]))):
            return f"unknown key `{where}`; did you mean `{'` or `'.join(places)}`?"
        return unknown("key", where, beside, last=key)
    if mistake["type"] == "union_tag_invalid":
        known = [tag.strip().strip("'") for tag in mistake["ctx"]["expected_tags"].split(",")]
        return unknown(f"type of {where}", mistake["ctx"]["tag"], known)
    if mistake["type"] == "string_type" and mistake["loc"][-1] == "[key]":
        return f"{mistake['loc'][0]}: the name {mistake['input']!r} is not text; put it in quotes"
    if where and (description := describe_value(mistake, _models_of_type(mistake))):
        return f"{where}: {description}"
    message = mistake["msg"].removeprefix("Value error, ")
    if mistake["type"] == "missing" and len(mistake["loc"]) == 1:
        message += " (is config.yaml in this folder?)"
    if mistake["type"] == "union_tag_not_found":
        message = f"give its `type`: {mistake['ctx']['discriminator']} is missing"
    if mistake["type"] == "string_pattern_mismatch":
        message = f"give {PATTERNS[mistake['ctx']['pattern']]}"
    given = mistake.get("input")
    shown = f", not {shortened(repr(given))}" if isinstance(given, str | int | float | bool) else ""
    return f"{where}: {message[0].lower() + message[1:]}{shown}" if where else message


def _steps(location: Sequence[Any], config: Mapping[str, Any]) -> Iterator[tuple[Any, bool]]:
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


def _is_of_another_parser(location: Sequence[Any]) -> bool:
    """Whether a key of a parser is one that parsers of another type have."""
    if len(location) != 3 or location[0] != "parsers":
        return False
    return any(location[2] in model.model_fields for model in _models_in(Experiment.model_fields["parsers"].annotation))


def _models_of_type(mistake: dict[str, Any]) -> list[type[BaseModel]]:
    """Return the sections of an entry, such as a parser, whose `type` is given in the place of the entry."""
    field = Experiment.model_fields.get(mistake["loc"][0])
    models = _models_in(field.annotation) if field is not None and len(mistake["loc"]) == 2 else []
    return [model for model in models if mistake.get("input") in _types_of(model)]


def _places_of(key: str, section: str) -> list[str]:
    """Return where the configuration has a key of this name, or of these initials: in a section, if it has such."""
    names = {place: place.rpartition(".")[2] for place in _keys_below(Experiment) if "." in place}
    places = [place for place, name in names.items() if name == key]
    places = places or [place for place, name in names.items() if initials(name) == key]
    within = [place for place in places if place.startswith(f"{section}.")]
    return within or (places if len(places) <= MOST_PLACES else [])


def _keys_below(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Yield the keys of a section and of the sections in it, with dots; not of what the user gives a name."""
    for name, field in model.model_fields.items():
        yield f"{prefix}{name}"
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _keys_below(field.annotation, f"{prefix}{name}.")


def _models_beside(
    location: Sequence[Any], config: Mapping[str, Any]
) -> tuple[list[type[BaseModel]], list[type[BaseModel]]]:
    """Models of the section that the last step is a key of, and those that it would have if it had another type."""
    models: list[type[BaseModel]] = [Experiment]
    others: list[type[BaseModel]] = []
    for step, is_key in [*_steps(location, config)][:-1]:
        if not is_key:
            of_branch = [model for model in models if step in _types_of(model)]
            models, others = of_branch or models, [model for model in models if of_branch and model not in of_branch]
            continue
        fields = [model.model_fields[step].annotation for model in models if step in model.model_fields]
        # A step that no model knows is a list's index or a name that the user chose.
        models = [inner for annotation in fields for inner in _models_in(annotation)] if fields else models
        others = []
    return models, others


def _types_of(model: type[BaseModel]) -> tuple[Any, ...]:
    """What may stand as `type` in a mapping of a union's branch."""
    return get_args(model.model_fields["type"].annotation) if "type" in model.model_fields else ()


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in getattr(annotation, "__args__", ()) for model in _models_in(argument)]
