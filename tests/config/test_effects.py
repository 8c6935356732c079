"""What keys decide: every mark, and what follows from it for plans, kept outputs and comparisons."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from pipeline_py.config.base import ConfigSection, IgnoringStage, RequiredSetting, SettingEffect
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.config.subword import SubwordConfig
from pipeline_py.config.systems.setting_differences import find_setting_differences
from pipeline_py.config.systems.training import DecodingConfig, TrainingConfig
from pipeline_py.plan.plan import ExperimentPlan

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


def sections(model: type[BaseModel] = ConfigSection) -> Iterator[type[BaseModel]]:
    """All models of the configuration."""
    for below in model.__subclasses__():
        yield below
        yield from sections(below)


def test_every_mark_names_a_stage_and_a_key():
    marks = [(model, mark) for model in sections() for field in model.model_fields.values() for mark in field.metadata]
    assert {type(mark) for _, mark in marks} >= {SettingEffect, IgnoringStage, RequiredSetting}
    for model, mark in marks:
        if isinstance(mark, IgnoringStage):
            assert (PACKAGE / f"{mark.stage.replace('.', '/')}.py").is_file()
        if isinstance(mark, RequiredSetting):
            assert mark.key in model.model_fields


@pytest.mark.parametrize(
    ("effect", "keys"),
    [
        (SettingEffect.ROUNDING, {*NOTHING}),
        (SettingEffect.EXECUTION, {*NOTHING, *ROUNDING}),
        (SettingEffect.RESULT, {*NOTHING, *ROUNDING, *MEANS}),
    ],
)
def test_each_key_of_training_has_its_effect(effect, keys):
    assert TrainingConfig.model_fields.keys() == {*NOTHING, *ROUNDING, *MEANS, *RESULT}, (
        "say here what a new key decides"
    )
    assert TrainingConfig().collect_ineffective_keys(effect) == keys


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
    assert TrainingConfig().collect_ineffective_keys(SettingEffect.NO_EFFECT, "nmt.pretrain") == until
    assert TrainingConfig().collect_ineffective_keys(SettingEffect.NO_EFFECT, "nmt.train") == set()
    assert DecodingConfig().collect_ineffective_keys(SettingEffect.NO_EFFECT, "nmt.translate") == {
        "attention",
        "replace_unknown",
        "length_floor",
    }


def test_a_key_that_is_read_only_with_another_counts_with_it():
    assert DecodingConfig(length_model=False).collect_ineffective_keys(SettingEffect.RESULT) == {
        "batch_size",
        "n_best",
        "attention",
        "length_floor",
    }
    assert DecodingConfig(length_model=True).collect_ineffective_keys(SettingEffect.EXECUTION) == {"batch_size"}
    assert SubwordConfig(scheme="words").collect_ineffective_keys(SettingEffect.RESULT) == {
        "merges",
        "joint",
        "min_frequency",
    }
    assert SubwordConfig(scheme="bpe").collect_ineffective_keys(SettingEffect.RESULT) == set()


@pytest.mark.parametrize(("key", "value"), [*{**NOTHING, **ROUNDING, **MEANS, **RESULT}.items()])
def test_plans_and_comparisons_follow_the_marks(config, tmp_path, key: str, value: Any):
    """Of two systems that differ in one key of `training`; keys that all systems share are the experiment's."""
    shared = key in ("seeds", "device", "threads")

    def planned(**changes: Any) -> ExperimentPlan:
        changed = {"Other": {} if shared else {"training": changes}}
        laid_over = {"systems": changed, **({"training": changes} if shared else {})}
        return ExperimentPlan(
            load_experiment(config, laid_over, should_check_files=False), ROOT, tmp_path / "contents.json"
        )

    before, after = planned(), planned(**{key: value})
    identities = [plan.compute_identity(plan.nmt.build_train_job("Other", "seed1")) for plan in (before, after)]
    is_planned = identities[0] != identities[1]
    assert is_planned == (key in {**MEANS, **RESULT})
    told = find_setting_differences(after.nmt.experiment, ["GlobalAtt", "Other"])
    assert bool(told) == (key in RESULT)
    whole = after.nmt.build_train_job("Other", "seed1").execution_settings["training"]
    assert whole.keys() == TrainingConfig.model_fields.keys(), "a job is told all of it"
