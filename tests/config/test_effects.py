"""What keys decide: every mark, and what follows from it for plans, kept outputs and comparisons."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from pipeline_py.config.base import Effect, ReadWith, Section, UnreadBy
from pipeline_py.config.load import load
from pipeline_py.config.subword import Subword
from pipeline_py.config.systems.differences import differences
from pipeline_py.config.systems.training import Decoding, Training
from pipeline_py.plan.plan import Plan

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pipeline_py"

NOTHING = {"seeds": [2], "tensorboard": True, "checkpoint_minutes": 1.0}
ROUNDING = {"graphs": False, "threads": 3}
MEANS = {"device": "cpu", "processes": 2, "accumulate": 3}
RESULT = {
    "optimizer": {"name": "sgd"},
    "batch_size": 7,
    "batch_unit": "tokens",
    "max_length": 7,
    "epochs": 7,
    "updates": 7,
    "clip": 7.0,
    "validate_every": 7,
    "early_stopping": "bleu",
    "patience": 7,
    "precision": "tf32",
    "loss_per": "word",
    "average": 7,
    "moving_average": 0.5,
}


def sections(model: type[BaseModel] = Section) -> Iterator[type[BaseModel]]:
    """All models of the configuration."""
    for below in model.__subclasses__():
        yield below
        yield from sections(below)


def test_every_mark_names_a_stage_and_a_key():
    marks = [(model, mark) for model in sections() for field in model.model_fields.values() for mark in field.metadata]
    assert {type(mark) for _, mark in marks} >= {Effect, UnreadBy, ReadWith}
    for model, mark in marks:
        if isinstance(mark, UnreadBy):
            assert (PACKAGE / f"{mark.stage.replace('.', '/')}.py").is_file()
        if isinstance(mark, ReadWith):
            assert mark.key in model.model_fields


@pytest.mark.parametrize(
    ("effect", "keys"),
    [
        (Effect.ROUNDING, {*NOTHING}),
        (Effect.MEANS, {*NOTHING, *ROUNDING}),
        (Effect.RESULT, {*NOTHING, *ROUNDING, *MEANS}),
    ],
)
def test_each_key_of_training_has_its_effect(effect, keys):
    assert Training.model_fields.keys() == {*NOTHING, *ROUNDING, *MEANS, *RESULT}, "say here what a new key decides"
    assert Training().without(effect) == keys


def test_a_stage_is_without_what_it_does_not_read():
    until = {
        "epochs",
        "updates",
        "validate_every",
        "early_stopping",
        "patience",
        "loss_per",
        "average",
        "moving_average",
    }
    assert Training().without(Effect.NOTHING, "nmt.pretrain") == until
    assert Training().without(Effect.NOTHING, "nmt.train") == set()
    assert Decoding().without(Effect.NOTHING, "nmt.translate") == {"attention", "replace_unknown", "length_floor"}


def test_a_key_that_is_read_only_with_another_counts_with_it():
    assert Decoding(length_model=False).without(Effect.RESULT) == {"batch_size", "n_best", "attention", "length_floor"}
    assert Decoding(length_model=True).without(Effect.MEANS) == {"batch_size"}
    assert Subword(scheme="words").without(Effect.RESULT) == {"merges", "joint", "min_frequency"}
    assert Subword(scheme="bpe").without(Effect.RESULT) == set()


@pytest.mark.parametrize(("key", "value"), [*{**NOTHING, **ROUNDING, **MEANS, **RESULT}.items()])
def test_plans_and_comparisons_follow_the_marks(config, tmp_path, key: str, value: Any):
    """Of two systems that differ in one key of `training`; keys that all systems share are the experiment's."""
    shared = key in ("seeds", "device", "threads")

    def planned(**changes: Any) -> Plan:
        changed = {"Other": {} if shared else {"training": changes}}
        laid_over = {"systems": changed, **({"training": changes} if shared else {})}
        return Plan(load(config, laid_over, check_files=False), ROOT, tmp_path / "contents.json")

    before, after = planned(), planned(**{key: value})
    identities = [plan.identity(plan.nmt.train("Other", "seed1")) for plan in (before, after)]
    is_planned = identities[0] != identities[1]
    assert is_planned == (key in {**MEANS, **RESULT})
    told = differences(after.nmt.experiment, ["GlobalAtt", "Other"])
    assert bool(told) == (key in RESULT)
    whole = after.nmt.train("Other", "seed1").execution["training"]
    assert whole.keys() == Training.model_fields.keys(), "a job is told all of it"
