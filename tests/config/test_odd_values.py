"""Odd values anywhere in a configuration give a valid experiment or an error of one sentence."""

import copy
import math
import random
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from pydantic import ConfigDict, Discriminator, Tag, TypeAdapter, ValidationError

from pipeline_py.config.config_files import read_config_file
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError
from tests.config.test_effects import iterate_sections
from tests.project_copy import ROOT

CONFIG = read_config_file(ROOT / "config.yaml")
ODD = [
    *(None, "", "1", "x" * 300, "{}", "{x}", "../x", "a b", "é", "a\nb", "\x00", "\ud800", "-x", "a=b", "~/x"),
    *(-1, 0, 1, 10**30, -(10**30), 1e300, 1e-300, 2.5, math.nan, math.inf, True, False),
    *([], {}, [None], [[]], [{}], [1], {"a": 1}, {1: 2}),
]
VALUES_PER_SEED = 100


def iterate_places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*place, key)
        yield from iterate_places(inner, (*place, key))


def replace_value(place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(CONFIG)
    parent: Any = changed
    for key in place[:-1]:
        parent = parent.setdefault(key, {}) if isinstance(parent, dict) else parent[key]
    parent[place[-1]] = value
    return changed


@pytest.mark.parametrize("seed", range(2))
def test_odd_values_are_valid_or_rejected_in_one_sentence(seed: int) -> None:
    chance, all_places, valid = random.Random(seed), list(iterate_places(CONFIG)), 0
    for _ in range(VALUES_PER_SEED):
        place, value = chance.choice(all_places), chance.choice(ODD)
        try:
            load_experiment(replace_value(place, value), should_check_files=False)
            valid += 1
        except InputError as error:
            assert str(error).isprintable() and len(str(error)) < 1500, (place, value)
    assert 0 < valid < VALUES_PER_SEED


@pytest.mark.parametrize("name", [None, True, 2018, 1.5])
@pytest.mark.parametrize("section", ["tables", "systems", "figures", "parsers", "subwords"])
def test_name_that_is_not_text_is_rejected(section: str, name: Any) -> None:
    own_config = {section: {name: {"system": "SDAtt"}}}
    with pytest.raises(InputError, match=rf"{section}: the name {name} is not text; put it in quotes"):
        load_experiment(
            {**CONFIG, section: {**CONFIG.get(section, {}), **own_config[section]}},
            own_config=own_config,
            should_check_files=False,
        )


HUGE_OR_NOT_FINITE = [10**40, -(10**40), 1e300, math.nan, math.inf, True]
UNLIMITED_KEYS = {"difference", "margin", "run_deviation"}
"""Keys of scores, which no job multiplies."""


def iterate_number_types(annotation: Any, metadata: tuple[Any, ...] = ()) -> Iterator[Any]:
    """Yield the numeric types within a type, with their constraints."""
    if annotation in (int, float):
        yield Annotated[annotation, *metadata] if metadata else annotation
    elif get_origin(annotation) is Annotated:
        inner, *inner_metadata = get_args(annotation)
        yield from iterate_number_types(inner, (*metadata, *inner_metadata))
    elif get_origin(annotation) in (Union, UnionType):
        constraints = tuple(constraint for constraint in metadata if not isinstance(constraint, Discriminator | Tag))
        for inner in get_args(annotation):
            yield from iterate_number_types(inner, constraints)
    else:
        for inner in get_args(annotation):
            yield from iterate_number_types(inner)


def is_accepted(number_type: Any, value: Any) -> bool:
    try:
        TypeAdapter(number_type, config=ConfigDict(allow_inf_nan=False)).validate_python(value)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("value", HUGE_OR_NOT_FINITE)
def test_all_numbers_have_limits(value: Any) -> None:
    number_types = [
        (section.__name__, key, number_type)
        for section in iterate_sections()
        for key, field in section.model_fields.items()
        for number_type in iterate_number_types(field.annotation, tuple(field.metadata))
        if key not in UNLIMITED_KEYS
    ]
    assert len(number_types) > 60
    assert not [(section, key) for section, key, number_type in number_types if is_accepted(number_type, value)]


@pytest.mark.parametrize("place", ["decoding.beam", "training.optimizer.learning_rate", "parsers.embedded.seed"])
@pytest.mark.parametrize("value", HUGE_OR_NOT_FINITE)
def test_error_of_a_number_names_the_key(place: str, value: Any) -> None:
    with pytest.raises(InputError, match=rf"\b{place}: (input should be|give a (whole )?number|.*parse)"):
        load_experiment(replace_value(tuple(place.split(".")), value), should_check_files=False)
