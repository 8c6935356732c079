"""Fixtures that plan the default configuration (one seed, no contrastive sets) with overrides."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.plan.plan import ExperimentPlan

ROOT = Path(__file__).parents[2]
DEFAULT_CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
DEFAULT_CONFIG["targets"], DEFAULT_CONFIG["corpora"]["contrast"] = None, []
for name in ("calibration", "transformers_calibration", "three_seeds/table1", "three_seeds/table2"):
    del DEFAULT_CONFIG["tables"][name]


@pytest.fixture
def load_config() -> Callable[..., ExperimentConfig]:
    """Return a function that loads the configuration without checking its files."""
    return lambda **overrides: load_experiment(DEFAULT_CONFIG, overrides, should_check_files=False)


@pytest.fixture
def build_plan(load_config: Callable[..., ExperimentConfig], tmp_path: Path) -> Callable[..., ExperimentPlan]:
    return lambda **overrides: ExperimentPlan(load_config(**overrides), ROOT, tmp_path / "contents.json")
