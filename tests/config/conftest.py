"""The default configuration with one parser, no crossings and no contrastive sets, to lay changes over."""

from pathlib import Path
from typing import Any

import pytest
import yaml


@pytest.fixture
def config() -> dict[str, Any]:
    config = yaml.safe_load((Path(__file__).parents[2] / "config.yaml").read_text(encoding="utf-8"))
    config["parsers"] = {"embedded": config["parsers"]["embedded"]}
    for name in ("controls", "calibration", "transformers_controls", "transformers_calibration"):
        del config["tables"][name]
    config["targets"], config["corpora"]["contrast"] = None, []
    return config
