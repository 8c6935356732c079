"""A mistake in the configuration, as one sentence."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from pipeline_py.config.any_system import KINDS, type_of_system
from pipeline_py.config.experiment import Experiment
from pipeline_py.config.unknown import unknown


def sentence(mistake: dict[str, Any], config: Mapping[str, Any]) -> str:
    """Say what is wrong where.

    Args:
        mistake: one of pydantic's `errors()`.
        config: what was validated.
    """
    location = [part for part in mistake["loc"] if _is_key(part, mistake["loc"], config)]
    where = ".".join(map(str, location))
    if mistake["type"] == "extra_forbidden":
        known = _keys_beside(location, config)
        return f"{unknown('key', str(where), [*known], last=str(location[-1]))}"
    message = mistake["msg"].removeprefix("Value error, ")
    if mistake["type"] == "union_tag_not_found":
        message = f"give its `type`: {mistake['ctx']['discriminator']} is missing"
    given = mistake.get("input")
    shown = f", not {given!r}" if isinstance(given, str | int | float | bool) else ""
    return f"{where}: {message[0].lower() + message[1:]}{shown}" if where else message


def _is_key(part: Any, location: tuple[Any, ...], config: Mapping[str, Any]) -> bool:
    """Whether a part of pydantic's location is a key of the file, not the name of a union's branch."""
    value: Any = config
    for step in location:
        found = isinstance(step, int) if isinstance(value, list) else isinstance(value, Mapping) and step in value
        if step is part:
            branch = value.get("type", "neural") if isinstance(value, Mapping) else value
            return bool(found) or (step == location[-1] and step != branch)
        if found:
            value = value[step]
    return True


def _keys_beside(location: list[Any], config: Mapping[str, Any]) -> set[str]:
    """Keys that the configuration knows at a location (unions other than that of systems give all their branches')."""
    models: list[type[BaseModel]] = [Experiment]
    steps = location[:-1]
    if len(steps) > 1 and steps[0] == "systems":
        models, steps = [KINDS[type_of_system(config["systems"][steps[1]])]], steps[2:]
    for step in steps:
        fields = [model.model_fields[step].annotation for model in models if step in model.model_fields]
        # A step that no model knows is a list's index or a name that the user chose.
        models = [inner for annotation in fields for inner in _models_in(annotation)] if fields else models
    return {key for model in models for key in model.model_fields}


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in getattr(annotation, "__args__", ()) for model in _models_in(argument)]
