"""Suggestion of a recipe for trainings with too few updates."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from pipeline_py.config.config_files import read_config_file
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.plan.recipe_suggestion import suggest_recipe
from tests.project_copy import ROOT, merge_configs


@pytest.fixture
def config() -> dict[str, Any]:
    return read_config_file(ROOT / "config.yaml")


def suggest_for_pairs(config: dict[str, Any], folder: Path, pairs: int, **settings: Any) -> str | None:
    for name in ("train.fr", "train.en"):
        with gzip.open(folder / f"{name}.gz", "wt", encoding="utf-8") as file:
            file.writelines(f"{place}\n" for place in range(pairs))
    corpora = {
        "source": {"language": "fr"},
        "target": {"language": "en"},
        "train": [{"source": str(folder / "train.fr.gz"), "target": str(folder / "train.en.gz")}],
        "dev": {"name": "dev", "source": "dev.fr", "references": ["dev.en"]},
        "tests": [{"name": "test", "source": "test.fr", "references": ["test.en"]}],
    }
    settings = merge_configs(
        {"corpora": corpora, "targets": ["table1"], "training": {"batch_size": 64, "epochs": 10}}, settings
    )
    return suggest_recipe(
        load_experiment(merge_configs(config, settings), own_config=settings, should_check_files=False)
    )


def test_too_few_updates_suggest_a_recipe(config: dict[str, Any], tmp_path: Path) -> None:
    assert suggest_for_pairs(config, tmp_path, 2000) == (
        "2,000 training pairs make 313 updates with these settings, too few to learn to translate; write "
        "`recipe: pairs_2000` (workflow/recipes/pairs_2000.yaml) and leave out `model`, `training` and `subword`."
    )
    message = suggest_for_pairs(config, tmp_path, 20_000, training={"batch_size": 640})
    assert message is not None and "`recipe: pairs_30000`" in message


def test_a_recipe_for_far_more_pairs_is_not_accepted(config: dict[str, Any], tmp_path: Path) -> None:
    message = suggest_for_pairs(config, tmp_path, 2000, recipe="pairs_100000")
    assert message is not None and "`recipe: pairs_2000`" in message


def test_a_recipe_for_far_fewer_pairs_is_not_accepted(config: dict[str, Any], tmp_path: Path) -> None:
    settings = {"recipe": "pairs_2000", "training": {"epochs": 30}}
    assert suggest_for_pairs(config, tmp_path, 7_745, **settings) is None
    assert suggest_for_pairs(config, tmp_path, 9_000, **settings) == (
        "there are at least 7,746 training pairs, too many for `recipe: pairs_2000`; write `recipe: pairs_30000` "
        "(workflow/recipes/pairs_30000.yaml) and leave out `model`, `training` and `subword`."
    )
    assert suggest_for_pairs(config, tmp_path, 60_000, recipe="pairs_100000") is None


def test_fewer_pairs_than_any_recipe_is_for_are_reported(config: dict[str, Any], tmp_path: Path) -> None:
    message = suggest_for_pairs(config, tmp_path, 300, recipe="pairs_2000", training={"epochs": 30, "batch_size": 32})
    assert message == (
        "300 training pairs make 282 updates with these settings, too few to learn to translate; "
        "raise `training.epochs`, or add training text."
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"training": {"epochs": 40}},
        {"training": {"updates": 5000}},
        {"recipe": "pairs_2000", "training": {"epochs": 40}},
        {"targets": None, "systems": {}, "training": {"batch_size": 2048, "batch_unit": "tokens"}},
    ],
)
def test_settings_that_may_fit_suggest_no_recipe(
    config: dict[str, Any], tmp_path: Path, settings: dict[str, Any]
) -> None:
    assert suggest_for_pairs(config, tmp_path, 2000, **settings) is None


def test_generated_and_missing_text_suggest_no_recipe(config: dict[str, Any], tmp_path: Path) -> None:
    assert suggest_recipe(load_experiment(config)) is None
    assert suggest_for_pairs(config, tmp_path, 0) is None
