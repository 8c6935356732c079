"""A recipe overrides the inherited configuration; the experiment's own files override the recipe."""

from typing import Any

import pytest
import yaml

from pipeline_py.config.load_experiment import RECIPES_FOLDER, load_experiment
from pipeline_py.run.errors import InputError
from tests.project_copy import merge_configs

NAMES = sorted(path.stem for path in RECIPES_FOLDER.glob("*.yaml"))
OWN = {"recipe": NAMES[0], "training": {"epochs": 77}}


def read_recipe(name: str) -> dict[str, Any]:
    return yaml.safe_load((RECIPES_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_every_recipe_is_compatible_with_the_default_experiment(config: dict[str, Any], name: str) -> None:
    own_config = {"recipe": name}
    experiment = load_experiment(merge_configs(config, own_config), own_config=own_config)
    assert experiment.training.epochs == read_recipe(name)["training"]["epochs"]
    assert not experiment.omitted_entries


def test_own_settings_override_a_recipe(config: dict[str, Any]) -> None:
    training = load_experiment(merge_configs(config, OWN), own_config=OWN).training
    assert training.epochs == 77
    assert training.batch_size == read_recipe(NAMES[0])["training"]["batch_size"]


def test_command_line_may_name_a_recipe(config: dict[str, Any]) -> None:
    experiment = load_experiment(config, {"recipe": NAMES[0], "training": {"epochs": 78}})
    assert experiment.training.epochs == 78
    assert experiment.subword.merges == read_recipe(NAMES[0])["subword"]["merges"]


def test_inherited_configuration_must_not_name_a_recipe(config: dict[str, Any]) -> None:
    config["recipe"] = NAMES[0]
    for own_config in (None, {"training": {"epochs": 77}}):
        with pytest.raises(InputError) as caught:
            load_experiment(merge_configs(config, own_config or {}), own_config=own_config)
        assert str(caught.value) == (
            f"configuration: recipe: config.yaml names `{NAMES[0]}`, which overrides the same keys of config.yaml; "
            f"name it in a file of your own (snakemake --configfile FILE), or with --config recipe={NAMES[0]}"
        )
    own_config = {"recipe": None}
    assert (
        load_experiment(merge_configs(config, own_config), own_config=own_config).training.epochs
        == config["training"]["epochs"]
    )
    assert load_experiment(config, {"recipe": NAMES[1]}).recipe == NAMES[1]


def test_unknown_recipe_is_rejected(config: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"unknown recipe `{NAMES[0]}0`; did you mean `{NAMES[0]}`"):
        load_experiment(config, {"recipe": f"{NAMES[0]}0"})


def test_preset_may_name_a_recipe(config: dict[str, Any]) -> None:
    own_config = {"presets": {"small": {"recipe": NAMES[0], "training": {"epochs": 79}}}, "preset": "small"}
    experiment = load_experiment(merge_configs(config, own_config), own_config=own_config)
    assert experiment.training.epochs == 79
    assert experiment.subword.merges == read_recipe(NAMES[0])["subword"]["merges"]
    own_config["presets"]["other"] = {"recipe": "pairs_3"}
    with pytest.raises(InputError, match="unknown recipe `pairs_3`"):
        load_experiment(merge_configs(config, own_config), own_config=own_config)


def test_recipe_list_is_rejected(config: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"recipe"):
        load_experiment(merge_configs(config, {"recipe": [NAMES[0]]}))
