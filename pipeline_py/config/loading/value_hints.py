"""Hints for values of a wrong type, and for values that are not among the options."""

import datetime
import json
import re
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from pipeline_py.config.base import Section
from pipeline_py.config.loading.unknown import listed, nearest, shortened

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
    if not isinstance(value, Scalar):
        return None
    written = _as_yaml(value)
    given = f", not {shortened(written)}"
    if kind == "string_type" and value is not None:
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
