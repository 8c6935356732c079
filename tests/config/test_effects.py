"""Effects of settings, and their consequences for plans, cached outputs and comparisons."""

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

NO_EFFECT = {"seeds": [2], "tensorboard": True, "checkpoint_minutes": 1.0}
ROUNDING = {"graphs": False, "threads": 3}
EXECUTION = {"device": "cpu", "processes": 2, "accumulate": 3}
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


def iterate_sections(model: type[BaseModel] = ConfigSection) -> Iterator[type[BaseModel]]:
    """Yield all section classes of the configuration."""
    for below in model.__subclasses__():
        yield below
        yield from iterate_sections(below)


def test_field_metadata_names_existing_stages_and_keys():
    marks = [
        (model, mark)
        for model in iterate_sections()
        for field in model.model_fields.values()
        for mark in field.metadata
    ]
    assert {type(mark) for _, mark in marks} >= {SettingEffect, IgnoringStage, RequiredSetting}
    for model, mark in marks:
        if isinstance(mark, IgnoringStage):
            assert (PACKAGE / f"{mark.stage.replace('.', '/')}.py").is_file()
        if isinstance(mark, RequiredSetting):
            assert mark.key in model.model_fields


@pytest.mark.parametrize(
    ("effect", "keys"),
    [
        (SettingEffect.ROUNDING, {*NO_EFFECT}),
        (SettingEffect.EXECUTION, {*NO_EFFECT, *ROUNDING}),
        (SettingEffect.RESULT, {*NO_EFFECT, *ROUNDING, *EXECUTION}),
    ],
)
def test_effects_of_training_keys(effect, keys):
    assert TrainingConfig.model_fields.keys() == {*NO_EFFECT, *ROUNDING, *EXECUTION, *RESULT}, (
        "add the new key to one of these mappings"
    )
    assert TrainingConfig().collect_ineffective_keys(effect) == keys


def test_stage_ignores_keys_that_it_does_not_read():
    training_only_keys = {
        "epochs",
        "updates",
        "validate_every",
        "early_stopping",
        "patience",
        "loss_per",
        "average",
        "moving_average",
    }
    assert TrainingConfig().collect_ineffective_keys(SettingEffect.NO_EFFECT, "nmt.pretrain") == training_only_keys
    assert TrainingConfig().collect_ineffective_keys(SettingEffect.NO_EFFECT, "nmt.train") == set()
    assert DecodingConfig().collect_ineffective_keys(SettingEffect.NO_EFFECT, "nmt.translate") == {
        "attention",
        "replace_unknown",
        "length_floor",
    }
    assert DecodingConfig().collect_ineffective_keys(SettingEffect.NO_EFFECT, "nmt.choose_beam") == {
        "attention",
        "replace_unknown",
        "length_floor",
        "n_best",
    }


def test_null_settings_are_omitted_only_from_identities():
    assert DecodingConfig().omitted_keys == {"retry_beam"} and DecodingConfig(retry_beam=50).omitted_keys == set()
    assert "retry_beam" not in DecodingConfig().collect_ineffective_keys(SettingEffect.RESULT)


def test_key_counts_only_with_its_required_setting():
    assert DecodingConfig(length_model=False).collect_ineffective_keys(SettingEffect.RESULT) == {
        "batch_size",
        "n_best",
        "attention",
        "length_floor",
    }
    for text in (True, "dev"):
        assert DecodingConfig(length_model=text).collect_ineffective_keys(SettingEffect.EXECUTION) == {"batch_size"}
    assert SubwordConfig(scheme="words").collect_ineffective_keys(SettingEffect.RESULT) == {
        "merges",
        "joint",
        "min_frequency",
    }
    assert SubwordConfig(scheme="bpe").collect_ineffective_keys(SettingEffect.RESULT) == set()


@pytest.mark.parametrize(("key", "value"), [*{**NO_EFFECT, **ROUNDING, **EXECUTION, **RESULT}.items()])
def test_plans_and_comparisons_follow_effects(config, tmp_path, key: str, value: Any):
    """Two systems differ in one key of `training`; shared keys are changed for the experiment."""
    is_shared = key in ("seeds", "device", "threads", "processes")

    def build_plan(**changes: Any) -> ExperimentPlan:
        changed = {"Other": {} if is_shared else {"training": changes}}
        overrides = {"systems": changed, **({"training": changes} if is_shared else {})}
        return ExperimentPlan(
            load_experiment(config, overrides, should_check_files=False), ROOT, tmp_path / "contents.json"
        )

    before, after = build_plan(), build_plan(**{key: value})
    identities = [plan.compute_identity(plan.nmt.build_train_job("Other", "seed1")) for plan in (before, after)]
    is_planned = identities[0] != identities[1]
    assert is_planned == (key in {**EXECUTION, **RESULT})
    differences = find_setting_differences(after.nmt.experiment, ["GlobalAtt", "Other"])
    assert bool(differences) == (key in RESULT)
    settings = after.nmt.build_train_job("Other", "seed1").execution_settings["training"]
    assert settings.keys() == TrainingConfig.model_fields.keys(), "a job gets all keys"
