"""Tests of the positive control: gold trees on sets with ambiguous attachments."""

import yaml

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.evaluation.measure_contrastive_accuracy import CONTRAST_ACCURACY_COLUMNS
from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.report.overview import describe_positive_controls
from pipeline_py.report.page_parts import PageManifest
from tests.project_copy import ROOT


def build_manifest(folder, rows) -> PageManifest:
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    for split in ("phenomena", "phrases"):
        write_tsv(
            folder / f"{split}.tsv",
            CONTRAST_ACCURACY_COLUMNS,
            [("all", "all", 300, system, accuracy, "", low, 99.0, 0) for system, accuracy, low in rows],
        )
    files = {"contrast": {f"calibration:{split}": folder / f"{split}.tsv" for split in ("phenomena", "phrases")}}
    return PageManifest(load_experiment(config), files, {}, {}, {}, "")


def test_describe_positive_controls_splits_systems_at_chance(tmp_path):
    rows = [
        ("GlobalAtt", 48.0, 43.0),
        ("Tree2Seq [gold]", 92.2, 88.0),
        ("Tree2Seq", 70.0, 60.0),
        ("SDAtt [gold]", 52.0, 46.5),
        ("SDAtt [random]", 80.0, 75.0),
    ]
    assert [*describe_positive_controls(build_manifest(tmp_path, rows))] == [
        "Positive control: in the set phrases, only the tree shows which of two translations is correct; guessing "
        "gives 50 %. With gold trees, above chance in these runs: Tree2Seq [gold] 92 %; not above chance: SDAtt "
        "[gold] 52 %."
    ]


def test_describe_positive_controls_omits_empty_groups(tmp_path):
    text = " ".join(describe_positive_controls(build_manifest(tmp_path, [("SDAtt [gold]", 52.0, 46.5)])))
    assert text.endswith("With gold trees, not above chance: SDAtt [gold] 52 %.")
    assert not [*describe_positive_controls(build_manifest(tmp_path, [("SDAtt", 90.0, 86.5)]))]
