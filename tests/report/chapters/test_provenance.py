"""The configuration on the page has only what the targets need."""

from pathlib import Path

import yaml

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.report.chapters.provenance import select_requested_settings

ROOT = Path(__file__).parents[3]


def test_systems_and_tables_that_no_target_needs_are_left_out() -> None:
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    tables = {
        "mine": {
            "title": "Mine",
            "systems": ["Seq2Seq", "Seq2Seq-capacity", "Tree2Seq-ensemble"],
            "baseline": "Seq2Seq",
            "proposed": ["Tree2Seq-ensemble"],
        }
    }
    overrides = {"targets": ["mine"], "tables": tables}
    experiment = load_experiment(config, overrides, should_check_files=False)
    settings = select_requested_settings(experiment)
    assert [*settings["tables"]] == ["mine"] and not settings["figures"] and "presets" not in settings
    assert settings["training"]["epochs"] == experiment.training.epochs
    members = {"Tree2Seq-96", "Tree2Seq-160"}
    assert {"Seq2Seq", "Seq2Seq-capacity", "Tree2Seq", "Tree2Seq-ensemble"} | members <= {*settings["systems"]}
    assert "GlobalAtt" not in settings["systems"] and "Hierarchical" not in settings["systems"]
