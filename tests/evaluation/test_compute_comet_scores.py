"""COMET by a Python of its own: scores become a metric with tests; what is absent is said before any job.

`COMET_PYTHON` names the Python of an environment that has unbabel-comet; without it, a stand-in writes what
`comet-score` 2.2.7 writes with `--to_json`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from pipeline_py.config.evaluation import find_comet_installation
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.evaluation.compare_systems import compare_systems
from pipeline_py.evaluation.compute_comet_scores import compute_comet_scores
from pipeline_py.evaluation.compute_metric_statistics import compute_metric_statistics
from pipeline_py.evaluation.system_statistics import read_statistics
from pipeline_py.run.errors import InputError
from tests.report.page_files import ROOT

STAND_IN = """#!{python}
import json, sys
from pathlib import Path
given = dict(zip(sys.argv[3:], sys.argv[4:]))
if "broken" in given["--model"]:
    sys.exit("RuntimeError: the weights are of another network")
names = ("--sources", "--translations", "--references")
read, said, right = (Path(given[name]).read_text().splitlines() for name in names)
assert len(read) == len(said) == len(right)
rows = [dict(src=s, mt=m, ref=r, COMET=len({{*m.split()}} & {{*r.split()}}) / 10) for s, m, r in zip(read, said, right)]
Path(given["--to_json"]).write_text(json.dumps({{given["--translations"]: rows}}))
"""


class Texts:
    """A source, a reference, two outputs, and weights that need not be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        right = [f"a{n} b c d e" for n in range(40)]
        self.write("source", [f"x{n}" for n in range(40)])
        self.write("reference", right)
        self.write("good", right)
        self.write("bad", [line.replace("c d", "u\rv") for line in right])
        self.weights("model")
        self.python = folder / "python"
        self.python.write_text(STAND_IN.format(python=sys.executable))
        self.python.chmod(0o755)

    def write(self, name: str, lines: list[str]) -> None:
        (self.folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")

    def weights(self, name: str) -> None:
        (self.folder / name / "checkpoints").mkdir(parents=True)
        (self.folder / name / "checkpoints" / "model.ckpt").touch()
        (self.folder / name / "hparams.yaml").touch()

    def scored(self, name: str, model: str = "model", python: str | None = None) -> Path:
        compute_comet_scores(
            source=self.folder / "source",
            hypothesis=self.folder / name,
            reference=self.folder / "reference",
            checkpoint=self.folder / model / "checkpoints" / "model.ckpt",
            signature="model:tiny|refs:1|version:2.2.7",
            output=self.folder / f"{name}.json",
            python=python or str(self.python),
        )
        return self.folder / f"{name}.json"

    def counted(self, name: str) -> Path:
        compute_metric_statistics(
            hypothesis=self.folder / name,
            references=[self.folder / "reference"],
            output=self.folder / f"{name}.arrow",
            metrics=["bleu", "comet"],
            scores_output=[self.folder / f"{name}.{metric}.json" for metric in ("bleu", "comet")],
            segment_scores={"comet": self.scored(name)},
        )
        return self.folder / f"{name}.arrow"


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    return Texts(tmp_path)


def test_it_is_a_metric_with_its_tests(texts: Texts):
    files = {name: [texts.counted(name)] for name in ("good", "bad")}
    model_scores = read_statistics(files, ["comet"])["comet"]
    assert model_scores["good"].run_scores == [pytest.approx(50)] and model_scores["bad"].run_scores == [
        pytest.approx(30)
    ]
    score = json.loads((texts.folder / "bad.comet.json").read_text())
    assert (score["name"], score["score"], score["sentences"]) == ("COMET", pytest.approx(30), 40)
    assert score["signature"] == "model:tiny|refs:1|version:2.2.7"
    resampled = model_scores["good"].metric.score_corpora(np.array([[3.0, 6.0], [1.0, 4.0]]))
    assert resampled == pytest.approx([50, 25]), "the mean over any sentences"
    output = texts.folder / "comparisons.tsv"
    compare_systems(
        statistics={name: {"single": path} for name, (path,) in files.items()},
        metrics=["comet"],
        comparisons_output=output,
        intervals_output=texts.folder / "intervals.tsv",
    )
    head, row = (line.split("\t") for line in output.read_text().splitlines())
    cells = dict(zip(head, row, strict=True))
    assert cells["metric"] == "comet"
    assert all(float(cells[f"p_{test}"]) < 0.01 for test in ("sign", "bootstrap", "randomization"))


def test_invalid_input_is_reported(texts: Texts):
    texts.weights("broken")
    with pytest.raises(InputError, match="COMET failed: RuntimeError: the weights are of another network"):
        texts.scored("good", "broken")
    texts.write("short", ["a b"])
    with pytest.raises(InputError, match="lines"):
        texts.scored("short")
    with pytest.raises(InputError, match="another program scores sentences by comet; give its file in `segment_"):
        compute_metric_statistics(
            hypothesis=texts.folder / "good",
            references=[texts.folder / "reference"],
            output=texts.folder / "x.arrow",
            metrics=["comet"],
        )


def test_missing_requirements_are_reported_before_any_job(tmp_path: Path):
    default = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    with pytest.raises(InputError, match="COMET needs weights; name them in"):
        load_experiment(default, {"evaluation": {"metrics": ["bleu", "comet"]}})
    (tmp_path / "python").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python").chmod(0o755)
    comet = {"python": str(tmp_path / "python"), "model": "Unbabel/wmt22-comet-da"}
    with pytest.raises(InputError, match="has no unbabel-comet; install it in a separate environment"):
        load_experiment(default, {"evaluation": {"metrics": ["bleu", "comet"], "comet": comet}})
    (tmp_path / "python").write_text("#!/bin/sh\necho '[\"2.2.7\", null]'\n")
    find_comet_installation.cache_clear()
    with pytest.raises(InputError, match="no weights of 'Unbabel/wmt22-comet-da'; give a folder"):
        load_experiment(default, {"evaluation": {"metrics": ["bleu", "comet"], "comet": comet}})
    # Where it is no metric, it need not be there.
    assert load_experiment(default, {"evaluation": {"comet": comet}}).find_comet_installation() is None


@pytest.mark.slow
def test_a_tiny_model_of_the_same_format(texts: Texts):
    python = os.environ.get("COMET_PYTHON")
    if python is None:
        pytest.skip("needs COMET_PYTHON, the Python of an environment with unbabel-comet (docs/how_to/metrics.md)")
    maker = Path(__file__).with_name("tiny_comet.py")
    subprocess.run([python, str(maker), str(texts.folder / "tiny")], check=True, capture_output=True)
    model_scores = find_comet_installation(python, "tiny", str(texts.folder / "tiny"))
    assert model_scores.checkpoint.endswith("tiny/checkpoints/model.ckpt") and model_scores.version
    scores = json.loads(texts.scored("bad", "tiny", python).read_text())["scores"]
    assert len(scores) == 40 and len({*scores}) > 1
    assert scores == json.loads(texts.scored("bad", "tiny", python).read_text())["scores"]
