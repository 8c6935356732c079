"""Claims held against outputs: which, on what, by which metric, and what trees that mean nothing do to a verdict."""

import csv
import random
from pathlib import Path
from statistics import fmean

import pytest
import yaml
from sacrebleu.metrics.bleu import BLEU

from pipeline_py.evaluation.claims import COLUMNS, claims
from pipeline_py.input_error import InputError
from tests.evaluation.counted import counted
from tests.evaluation.test_compare import disturbed, text

PRINTED = {"task": "en-de", "sets": "test", "difference": 1.5, "significance": "p < .01", "where": "Table 1"}
RATES = {"GlobalAtt": 0.4, "SDAtt": 0.1, "SDAtt [random]": 0.4, "SDAtt [gold]": 0.05, "LocalAtt": 0.9}


def file(path: Path, *given: dict, paper: str = "Chen") -> Path:
    path.write_text(yaml.safe_dump({"paper": paper, "claims": [{"says": "It is.", **one} for one in given]}))
    return path


@pytest.fixture
def outputs() -> dict[str, dict[str, list[str]]]:
    """By set and NAME:RUN, two runs of each system; and the references of the sets."""
    state = random.Random(4)
    sets = {}
    for on in ("dev", "one", "two"):
        reference = text(state, 40)
        sets[on] = {"reference": reference} | {
            f"{name}:{run}": disturbed(reference, state, rate) for name, rate in RATES.items() for run in ("s1", "s2")
        }
    return sets


def run(folder: Path, outputs: dict, systems: list[str], claimed: list[dict], **options: object) -> list[dict]:
    """Rows of the TSV."""
    metric = options.pop("metric", ["bleu"])
    given = []
    for on, of_set in outputs.items():
        (place := folder / on).mkdir(exist_ok=True)
        lines = {name: said for name, said in of_set.items() if name.partition(":")[0] in systems}
        for pair in counted(place, lines, [of_set["reference"]], metric):  # type: ignore[arg-type]
            name, _, path = pair.partition("=")
            given.append(f"{name}:{on}={path}")
    files = [file(folder / "claims.yaml", *claimed)] if claimed else []
    options = {"samples": 300, "metric": metric, **options}
    claims(claims=files, statistics=given, output=folder / "claims.tsv", **options)  # type: ignore[arg-type]
    with (folder / "claims.tsv").open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened, delimiter="\t", quoting=csv.QUOTE_NONE))
        assert not rows or tuple(rows[0]) == COLUMNS
        return rows


def averages(rows: list[dict], role: str = "claim") -> list[dict]:
    return [row for row in rows if row["set"] == "AVG" and row["role"] == role]


def test_a_claim_is_of_the_mean_over_test_sets_and_runs(tmp_path, outputs):
    rows = run(
        tmp_path, outputs, ["SDAtt", "GlobalAtt"], [{"system": "SDAtt", "above": "GlobalAtt", "printed": [PRINTED]}]
    )
    assert [row["set"] for row in rows] == ["AVG", "dev", "one", "two"]

    def score(on: str, system: str) -> float:
        of = outputs[on]
        runs = [
            BLEU(lowercase=True).corpus_score(of[f"{system}:{run}"], [of["reference"]]).score for run in ("s1", "s2")
        ]
        return fmean(runs)

    expected = {on: score(on, "SDAtt") - score(on, "GlobalAtt") for on in ("dev", "one", "two")}
    expected["AVG"] = (expected["one"] + expected["two"]) / 2
    for row in rows:
        assert float(row["difference"]) == pytest.approx(expected[row["set"]])
        assert float(row["low"]) < float(row["difference"]) < float(row["high"]) and row["runs"] == "2"
    assert float(rows[0]["score_system"]) == pytest.approx(fmean(score(on, "SDAtt") for on in ("one", "two")))
    assert rows[0]["verdict"] == "confirmed" and rows[0]["paper"] == "Chen" and rows[0]["says"] == "It is."
    assert rows[0]["printed"] == "+1.50 BLEU (p < .01) on en-de, test: Table 1"
    assert "on the development set" in rows[1]["sentence"] and "on" not in rows[0]["sentence"].split()


def test_claims_about_other_systems_are_left_out(tmp_path, outputs):
    claimed = [{"system": "SDAtt", "above": "Tree2Seq"}, {"system": "LocalAtt", "above": "GlobalAtt"}]
    rows = run(tmp_path, outputs, ["LocalAtt", "GlobalAtt"], claimed)
    (row,) = averages(rows)
    assert (row["system"], row["other"], row["verdict"]) == ("LocalAtt", "GlobalAtt", "contradicted")
    assert run(tmp_path, outputs, ["GlobalAtt"], claimed) == []


def test_a_system_that_is_on_dev_alone_is_compared_there(tmp_path, outputs):
    of_dev = {
        "dev": outputs["dev"],
        "one": {name: outputs["one"][name] for name in ("reference", "SDAtt:s1", "SDAtt:s2")},
    }
    rows = run(tmp_path, of_dev, ["SDAtt", "GlobalAtt"], [{"system": "SDAtt", "above": "GlobalAtt"}])
    assert [row["set"] for row in rows] == ["AVG", "dev"]
    assert rows[0]["difference"] == rows[1]["difference"] and "on the development set" in rows[0]["sentence"]


@pytest.mark.parametrize(
    ("random_trees", "of_syntax", "said"),
    [
        ("GlobalAtt", "yes", "SDAtt: yes"),
        ("SDAtt", "not shown", "SDAtt: better, but syntax is not shown to be the reason"),
        ("SDAtt [gold]", "not shown", ""),
    ],
    ids=["worse", "as good", "better"],
)
def test_a_gain_that_meaningless_trees_give_too_need_not_be_one_of_syntax(
    tmp_path, outputs, random_trees, of_syntax, said
):
    for of_set in outputs.values():
        of_set |= {f"SDAtt [random]:{run}": of_set[f"{random_trees}:{run}"] for run in ("s1", "s2")}
    rows = run(
        tmp_path,
        outputs,
        ["SDAtt", "GlobalAtt", "SDAtt [random]"],
        [{"system": "SDAtt", "above": "GlobalAtt"}],
        reads_trees=["SDAtt", "SDAtt [random]"],
        control=["SDAtt:random=SDAtt [random]"],
    )
    (row,) = averages(rows)
    assert (row["verdict"], row["of_syntax"], row["about"]) == ("confirmed", of_syntax, "syntax")
    assert row["sentence"].startswith(said) and "random trees: " in row["sentence"]
    (control,) = averages(rows, "control")
    (against,) = averages(rows, "against control")
    assert (control["system"], control["other"], control["trees"]) == ("SDAtt [random]", "GlobalAtt", "random")
    assert (against["system"], against["other"]) == ("SDAtt", "SDAtt [random]")
    gain = float(control["difference"]) + float(against["difference"])
    assert gain == pytest.approx(float(row["difference"]))


def test_without_controls_a_gain_need_not_be_one_of_syntax(tmp_path, outputs):
    options = {"reads_trees": ["SDAtt"], "control": ["SDAtt:random=SDAtt [random]"]}
    claimed = [{"system": "SDAtt", "above": "GlobalAtt"}]
    (row,) = averages(run(tmp_path, outputs, ["SDAtt", "GlobalAtt"], claimed, **options))
    assert (row["verdict"], row["of_syntax"]) == ("confirmed", "untested")


def test_a_system_that_reads_trees_answers_beside_its_first_twin_alone(tmp_path, outputs):
    claimed = [{"system": "SDAtt", "above": other} for other in ("GlobalAtt", "LocalAtt")]
    rows = averages(run(tmp_path, outputs, ["SDAtt", "GlobalAtt", "LocalAtt"], claimed, reads_trees=["SDAtt"]))
    assert [row["about"] for row in rows] == ["syntax", "syntax"]
    assert [row["of_syntax"] for row in rows] == ["untested", "untested"]
    assert rows[0]["sentence"].startswith("SDAtt: better,")
    assert rows[1]["sentence"].startswith("SDAtt above LocalAtt: confirmed,")


def test_a_claim_goes_for_other_trees_that_mean_something(tmp_path, outputs):
    """Beside what reads none it is compared with the same, beside what reads trees with that on the same trees."""
    rows = run(
        tmp_path,
        outputs,
        ["SDAtt", "GlobalAtt", "SDAtt [gold]", "LocalAtt"],
        [{"system": "SDAtt", "above": "GlobalAtt"}, {"system": "SDAtt", "above": "LocalAtt"}],
        reads_trees=["SDAtt", "SDAtt [gold]", "LocalAtt"],
        variant=["SDAtt:gold=SDAtt [gold]"],
    )
    pairs = [(row["system"], row["other"]) for row in averages(rows)]
    assert pairs == [("SDAtt", "GlobalAtt"), ("SDAtt [gold]", "GlobalAtt"), ("SDAtt", "LocalAtt")]


def test_what_a_table_asks_is_answered_once(tmp_path, outputs):
    asked = ["SDAtt=GlobalAtt", "LocalAtt=GlobalAtt", "LocalAtt=GlobalAtt"]
    claimed = [{"system": "SDAtt", "above": "GlobalAtt"}]
    rows = averages(run(tmp_path, outputs, ["SDAtt", "GlobalAtt", "LocalAtt"], claimed, asked=asked))
    assert [(row["paper"], row["system"]) for row in rows] == [("Chen", "SDAtt"), ("", "LocalAtt")]
    (row,) = averages(run(tmp_path, outputs, ["LocalAtt", "GlobalAtt"], [], asked=asked))
    assert row["system"] == "LocalAtt"


def test_a_metric_that_is_not_counted_gives_way_to_bleu_and_that_is_said(tmp_path, outputs):
    claimed = [
        {"system": "SDAtt", "above": "GlobalAtt", "metrics": ["ribes"]},
        {"system": "LocalAtt", "above": "GlobalAtt", "metrics": ["bleu", "ribes"]},
    ]
    systems = ["SDAtt", "GlobalAtt", "LocalAtt"]
    rows = averages(run(tmp_path, outputs, systems, claimed))
    assert [row["metric"] for row in rows] == ["bleu", "bleu"]
    assert "BLEU, as RIBES is not counted here" in rows[0]["sentence"] and "RIBES" not in rows[1]["sentence"]
    rows = averages(run(tmp_path, outputs, systems, claimed, metric=["bleu", "ribes"]))
    assert [row["metric"] for row in rows] == ["ribes", "bleu", "ribes"] and "RIBES" in rows[0]["sentence"]


def test_single_runs_are_told_from_several(tmp_path, outputs):
    for of_set in outputs.values():
        for name in RATES:
            of_set[name] = of_set.pop(f"{name}:s1")
            of_set.pop(f"{name}:s2")
            of_set[f"{name}:single"] = of_set.pop(name)
    (row,) = averages(run(tmp_path, outputs, ["SDAtt", "GlobalAtt"], [{"system": "SDAtt", "above": "GlobalAtt"}]))
    assert row["runs"] == "1" and "1 run: variation between runs is not included" in row["sentence"]


def test_the_same_outputs_are_tied(tmp_path, outputs):
    for of_set in outputs.values():
        of_set |= {f"LocalAtt:{run}": of_set["GlobalAtt:s1"] for run in ("s1", "s2")}
        of_set |= {f"GlobalAtt:{run}": of_set["GlobalAtt:s1"] for run in ("s1", "s2")}
    (row,) = averages(run(tmp_path, outputs, ["LocalAtt", "GlobalAtt"], [{"system": "LocalAtt", "above": "GlobalAtt"}]))
    assert row["verdict"] == "not distinguishable" and "both score the same" in row["sentence"]


def test_same_files_same_bytes(tmp_path, outputs):
    claimed = [{"system": "SDAtt", "above": "GlobalAtt"}]
    run(tmp_path, outputs, ["SDAtt", "GlobalAtt"], claimed)
    first = (tmp_path / "claims.tsv").read_bytes()
    run(tmp_path, outputs, ["SDAtt", "GlobalAtt"], claimed)
    assert (tmp_path / "claims.tsv").read_bytes() == first


def test_mistakes_are_one_sentence(tmp_path, outputs):
    with pytest.raises(InputError, match=r"--control 'SDAtt=x' is not of the form SYSTEM:PARSER=NAME; correct it"):
        run(tmp_path, outputs, ["SDAtt"], [], control=["SDAtt=x"])
    del outputs["two"]["SDAtt:s2"]
    with pytest.raises(
        InputError, match="'SDAtt' has other runs on one set than on another; give each run on each set"
    ):
        run(tmp_path, outputs, ["SDAtt"], [])
