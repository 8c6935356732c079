"""Error messages about unknown targets."""

import pytest
import yaml

from pipeline_py.config.load_experiment import format_unknown_target_error, load_experiment
from tests.project_copy import ROOT

TABLES = (
    "tables: table1, table2, sdrnmt, tree2seq, hierarchical, transformers, transformers_controls, "
    "transformers_calibration, three_seeds, calibration, controls"
)
FILE = "results/nmt/SDAtt/seed1/model.safetensors"


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("tabel1", "did you mean `table1`? "),
        ("treeseq", "did you mean `tree2seq`? "),
        ("genrate", "did you mean `generate`? "),
        ("mine", ""),
        ("results/tabel1.tsv", "did you mean results/table1.tsv? "),
        ("tree2seq/table5", "ask for its folder `tree2seq`, or for the file results/tree2seq/table5.tsv; "),
        (
            "tree2seq/attention",
            "ask for its folder `tree2seq`, or for the file results/figures/tree2seq/attention.1.svg; ",
        ),
        (FILE.replace("SDAtt", "SDAt"), f"did you mean {FILE}? "),
        (FILE.replace("SDAtt", "SDAtt [random]"), f"did you mean {FILE.replace('SDAtt', 'SDAtt@random')}? "),
        (FILE.replace("SDAtt", "SDAt@random"), f"did you mean {FILE.replace('SDAtt', 'SDAtt@random')}? "),
        (
            FILE.replace("SDAtt/", "SDAtt@random/").replace("model", "modl"),
            "no rule makes this file (see docs/reference/files.md); ",
        ),
        ("nothing/like.it", "no rule makes this file (see docs/reference/files.md); "),
    ],
)
def test_unknown_target_error_suggests_a_target(target: str, hint: str) -> None:
    experiment = load_experiment(
        yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")), should_check_files=False
    )
    message = format_unknown_target_error(target, experiment, ["all", "generate"])
    assert message == f"there is no target `{target}`; {hint}{TABLES}"
