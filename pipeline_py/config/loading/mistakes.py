"""A mistake in the configuration, as one sentence."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel

from pipeline_py.config.corpora import IDENTIFIER, LANGUAGE, NAME
from pipeline_py.config.experiment import Experiment
from pipeline_py.config.loading.unknown import initials, nearest, shortened, unknown
from pipeline_py.config.loading.value_hints import describe_value

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
        if places := _places_of(key, str(location[0])):
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
