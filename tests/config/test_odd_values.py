"""Whatever stands anywhere in a configuration gives a valid experiment or one sentence."""

import copy
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from pipeline_py.config.config_files import read_config_file
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError
from tests.project_copy import ROOT

CONFIG = read_config_file(ROOT / "config.yaml")
ODD = [
    *(None, "", "1", "x" * 300, "{}", "{x}", "../x", "a b", "é", "a\nb", "\x00", "\ud800", "-x", "a=b", "~/x"),
    *(-1, 0, 1, 10**30, -(10**30), 1e300, 1e-300, 2.5, math.nan, math.inf, True, False),
    *([], {}, [None], [[]], [{}], [1], {"a": 1}, {1: 2}),
]
PER_SEED = 150


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*place, key)
        yield from places(inner, (*place, key))


def with_value(place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(CONFIG)
    at = changed
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    return changed


@pytest.mark.parametrize("seed", range(4))
def test_odd_values_are_valid_or_told_in_one_sentence(seed: int) -> None:
    chance, there, valid = random.Random(seed), list(places(CONFIG)), 0
    for _ in range(PER_SEED):
        place, value = chance.choice(there), chance.choice(ODD)
        try:
            load_experiment(with_value(place, value), should_check_files=False)
            valid += 1
        except InputError as error:
            assert str(error).isprintable() and len(str(error)) < 1500, (place, value)
    assert 0 < valid < PER_SEED


@pytest.mark.parametrize("name", [None, True, 2018, 1.5])
@pytest.mark.parametrize("section", ["tables", "systems", "figures", "parsers", "subwords"])
def test_a_name_that_is_not_text_is_told(section: str, name: Any) -> None:
    own = {section: {name: {"system": "SDAtt"}}}
    with pytest.raises(InputError, match=rf"{section}: the name {name} is not text; put it in quotes"):
        load_experiment(
            {**CONFIG, section: {**CONFIG.get(section, {}), **own[section]}}, own_config=own, should_check_files=False
        )


NUMBERS = [
    ("corpora.train.generate", ["sentences", "seed", "min_length", "max_length"]),
    ("corpora.limits", ["min_length", "max_length", "max_ratio"]),
    ("parsers.embedded", ["max_words", "batch_size", "seed"]),
    ("parsers.embedded.treebank", ["generate"]),
    ("parsers.embedded.tagger", ["epochs", "hidden"]),
    ("parsers.random", ["seed"]),
    ("parsing", ["shard_size"]),
    ("subword", ["merges", "min_frequency", "generalise"]),
    ("subword.source_vocabulary", ["max_size", "min_count"]),
    ("model", ["embedding", "hidden", "dropout"]),
    ("systems.PBSMT", ["language_model_order", "reordering", "iterations"]),
    ("systems.PBSMT.tuning", ["sentences", "evaluations", "minutes"]),
    ("systems.LocalAtt.contexts.0", ["window", "score"]),
    ("systems.Hierarchical-words.decoder", ["phrase_weight"]),
    ("systems.Hierarchical-words.scores.0", ["encoder", "width"]),
    ("systems.Sennrich-deponly.encoders.0.inputs.1", ["size", "share"]),
    ("systems.Seq2Seq-K50.loss", ["samples", "power"]),
    ("training.optimizer", ["learning_rate", "rho", "epsilon", "decay", "decay_patience"]),
    ("training", ["batch_size", "max_length", "epochs", "updates", "clip", "validate_every", "patience"]),
    ("training", ["checkpoint_minutes", "threads", "processes"]),
    ("decoding", ["beam", "batch_size", "length_normalization", "max_length_ratio", "max_length", "length_floor"]),
    ("decoding", ["n_best"]),
]
EVERY_NUMBER = [(*section.split("."), key) for section, keys in NUMBERS for key in keys]


def spoilt(place: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The configuration with a number, whether or not its section is there."""
    changed = copy.deepcopy(CONFIG)
    at: Any = changed
    for key in place[:-1]:
        at = at[int(key)] if isinstance(at, list) else at.setdefault(key, {})
    at[place[-1]] = value
    return changed


@pytest.mark.parametrize("place", EVERY_NUMBER, ids=".".join)
@pytest.mark.parametrize("value", [10**40, -(10**40), 1e300, math.nan, math.inf, True])
def test_no_number_is_beyond_what_a_job_bears(place: tuple[str, ...], value: Any) -> None:
    with pytest.raises(InputError, match=rf"\b{place[-1]}: ") as caught:
        load_experiment(spoilt(place, value), should_check_files=False)
    messages = ("input should be", "give a number", "give a whole number", "parse")
    assert any(message in str(caught.value) for message in messages)
