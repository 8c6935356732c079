"""The plan of the default configuration, of one seed and without contrastive sets, with something laid over it."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from pipeline_py.config.experiment import Experiment
from pipeline_py.config.load import load
from pipeline_py.plan.plan import Plan

ROOT = Path(__file__).parents[2]
DEFAULT = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
DEFAULT["targets"], DEFAULT["corpora"]["contrast"] = None, []
for name in ("calibration", "transformers_calibration", "three_seeds/table1", "three_seeds/table2"):
    del DEFAULT["tables"][name]


@pytest.fixture
def described() -> Callable[..., Experiment]:
    """The experiment, whether its files are there or not."""
    return lambda **laid_over: load(DEFAULT, laid_over, check_files=False)


@pytest.fixture
def planned(described: Callable[..., Experiment], tmp_path: Path) -> Callable[..., Plan]:
    return lambda **laid_over: Plan(described(**laid_over), ROOT, tmp_path / "contents.json")
