"""Claims held against outputs: which, on what, by which metric, and what trees that mean nothing do to a verdict."""

import random
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
import yaml
from sacrebleu.metrics.bleu import BLEU

from pipeline_py.config.claims import ClaimConfig, PublishedResultConfig
from pipeline_py.config.evaluation import TrainedThresholdsConfig
from pipeline_py.evaluation.column_files import write_sentence_columns
from pipeline_py.evaluation.judge_claims import CLAIM_COLUMNS, collect_claims, judge_claims, resolve_claims
from pipeline_py.run.errors import InputError
from tests.evaluation.statistics_files import write_output_statistics
from tests.evaluation.test_compare_systems import disturbed, text
from tests.nested_files import group_by_system
from tests.text_files import read_table

PRINTED = {"task": "en-de", "sets": "test", "difference": 1.5, "significance": "p < .01", "where": "Table 1"}
ANY_OUTPUT = {"score": 0, "chance": 0, "repetition": 1, "distinct": 0, "length": [0.001, 1000]}
RATES = {"GlobalAtt": 0.4, "SDAtt": 0.1, "SDAtt [random]": 0.4, "SDAtt [gold]": 0.05, "LocalAtt": 0.9}


def file(path: Path, *claims: dict, paper: str = "Chen") -> Path:
    path.write_text(yaml.safe_dump({"paper": paper, "claims": [{"says": "It is.", **claim} for claim in claims]}))
    return path


@pytest.fixture
def outputs() -> dict[str, dict[str, list[str]]]:
    """By set and NAME:RUN, two runs of each system; and the references of the sets."""
    state = random.Random(4)
    sets = {}
    for set_name in ("dev", "one", "two"):
        reference = text(state, 40)
        sets[set_name] = {"reference": reference} | {
            f"{name}:{run}": disturbed(reference, state, rate) for name, rate in RATES.items() for run in ("s1", "s2")
        }
    return sets


def run(folder: Path, outputs: dict, systems: list[str], claimed: list[dict], **options: object) -> list[dict]:
    """Rows of the TSV."""
    metrics = options.pop("metrics", ["bleu"])
    statistics = {}
    for set_name, of_set in outputs.items():
        (place := folder / set_name).mkdir(exist_ok=True)
        lines = {name: lines_of_run for name, lines_of_run in of_set.items() if name.partition(":")[0] in systems}
        statistics[set_name] = group_by_system(write_output_statistics(place, lines, [of_set["reference"]], metrics))  # type: ignore[arg-type]
    files = [file(folder / "claims.yaml", *claimed)] if claimed else []
    thresholds = TrainedThresholdsConfig.model_validate(options.pop("thresholds", ANY_OUTPUT))
    places = {"claims_output": folder / "claims.tsv", "exclusions_output": folder / "exclusions.tsv"}
    options = {"samples": 300, "metrics": metrics, "thresholds": thresholds, **places, **options}
    judge_claims(claims=files, statistics=statistics, **options)  # type: ignore[arg-type]
    rows = read_table(folder / "claims.tsv")
    assert all(tuple(row) == CLAIM_COLUMNS for row in rows)
    return rows


def averages(rows: list[dict], role: str = "claim") -> list[dict]:
    return [row for row in rows if row["set"] == "AVG" and row["role"] == role]


def test_a_claim_is_of_the_mean_over_test_sets_and_runs(tmp_path, outputs):
    rows = run(
        tmp_path, outputs, ["SDAtt", "GlobalAtt"], [{"system": "SDAtt", "above": "GlobalAtt", "printed": [PRINTED]}]
    )
    assert [row["set"] for row in rows] == ["AVG", "dev", "one", "two"]

    def score(set_name: str, system: str) -> float:
        of = outputs[set_name]
        runs = [
            BLEU(lowercase=True).corpus_score(of[f"{system}:{run}"], [of["reference"]]).score for run in ("s1", "s2")
        ]
        return fmean(runs)

    expected = {set_name: score(set_name, "SDAtt") - score(set_name, "GlobalAtt") for set_name in ("dev", "one", "two")}
    expected["AVG"] = (expected["one"] + expected["two"]) / 2
    for row in rows:
        assert float(row["difference"]) == pytest.approx(expected[row["set"]])
        assert float(row["low"]) < float(row["difference"]) < float(row["high"]) and (
            row["runs_system"],
            row["runs_other"],
        ) == ("2", "2")
    assert float(rows[0]["score_system"]) == pytest.approx(
        fmean(score(set_name, "SDAtt") for set_name in ("one", "two"))
    )
    assert rows[0]["verdict"] == "confirmed" and rows[0]["paper"] == "Chen" and rows[0]["says"] == "It is."
    assert rows[0]["printed"] == "+1.50 BLEU (p < .01) on en-de, test: Table 1"
    assert "on the development set" in rows[1]["sentence"] and "on" not in rows[0]["sentence"].split()
    low, high = (float(rows[0][end]) for end in ("low", "high"))
    assert rows[0]["excluded"] == f"+1.50 on en-de: {'not excluded' if low <= 1.5 <= high else 'excluded'}"
    assert (float(rows[0]["p_value"]) < 0.05) == (low > 0)


def test_claims_about_other_systems_are_left_out(tmp_path, outputs):
    claimed = [{"system": "SDAtt", "above": "Tree2Seq"}, {"system": "LocalAtt", "above": "GlobalAtt"}]
    rows = run(tmp_path, outputs, ["LocalAtt", "GlobalAtt"], claimed)
    (row,) = averages(rows)
    assert (row["system"], row["other"], row["verdict"]) == ("LocalAtt", "GlobalAtt", "contradicted")
    assert run(tmp_path, outputs, ["GlobalAtt"], claimed) == []


def test_systems_with_only_a_common_dev_set_are_compared_on_it(tmp_path, outputs):
    of_dev = {
        "dev": outputs["dev"],
        "one": {name: outputs["one"][name] for name in ("reference", "SDAtt:s1", "SDAtt:s2")},
    }
    rows = run(tmp_path, of_dev, ["SDAtt", "GlobalAtt"], [{"system": "SDAtt", "above": "GlobalAtt"}])
    assert [row["set"] for row in rows] == ["AVG", "dev"]
    assert rows[0]["difference"] == rows[1]["difference"] and "on the development set" in rows[0]["sentence"]


@pytest.mark.parametrize(
    ("random_trees", "syntax", "text"),
    [
        ("GlobalAtt", "yes", "SDAtt: yes, "),
        ("SDAtt", "not shown", "syntax is not shown to be the reason: it is not measurably better than with random"),
        ("SDAtt [gold]", "not shown", ""),
    ],
    ids=["worse", "as good", "better"],
)
def test_a_gain_that_control_trees_give_too_need_not_be_due_to_syntax(tmp_path, outputs, random_trees, syntax, text):
    for of_set in outputs.values():
        of_set |= {f"SDAtt [random]:{run}": of_set[f"{random_trees}:{run}"] for run in ("s1", "s2")}
        of_set |= {f"SDAtt [chain]:{run}": of_set[f"GlobalAtt:{run}"] for run in ("s1", "s2")}
    rows = run(
        tmp_path,
        outputs,
        ["SDAtt", "GlobalAtt", "SDAtt [random]", "SDAtt [chain]"],
        [{"system": "SDAtt", "above": "GlobalAtt"}],
        systems_with_trees=["SDAtt", "SDAtt [random]", "SDAtt [chain]"],
        controls=[("SDAtt", "random", "random", "SDAtt [random]"), ("SDAtt", "chain", "line", "SDAtt [chain]")],
    )
    (row,) = averages(rows)
    assert (row["verdict"], row["syntax"], row["about"]) == ("confirmed", syntax, "syntax")
    assert text in row["sentence"] and "with random trees " in row["sentence"] and row["missing_controls"] == ""
    control, chain = averages(rows, "control")
    against, _ = averages(rows, "against control")
    assert (control["system"], control["other"], control["trees"]) == ("SDAtt [random]", "GlobalAtt", "random")
    assert (against["system"], against["other"], chain["trees"]) == ("SDAtt", "SDAtt [random]", "line")
    gain = float(control["difference"]) + float(against["difference"])
    assert gain == pytest.approx(float(row["difference"]))


def test_an_answer_names_the_control_trees_that_it_lacks(tmp_path, outputs):
    options = {"systems_with_trees": ["SDAtt"], "controls": [("SDAtt", "random", "random", "SDAtt [random]")]}
    claimed = [{"system": "SDAtt", "above": "GlobalAtt"}]
    (row,) = averages(run(tmp_path, outputs, ["SDAtt", "GlobalAtt"], claimed, **options))
    assert (row["verdict"], row["syntax"]) == ("confirmed", "open")
    assert row["missing_controls"] == "random trees | order-preserving trees (right-branching or a chain)"
    rows = run(tmp_path, outputs, ["SDAtt", "GlobalAtt", "SDAtt [random]"], claimed, **options)
    assert averages(rows)[0]["missing_controls"] == "order-preserving trees (right-branching or a chain)"


def test_a_part_of_the_experiment_gives_no_verdict(tmp_path, outputs):
    options = {"systems_with_trees": ["SDAtt"], "partial": True}
    claimed = [{"system": "SDAtt", "above": "GlobalAtt"}]
    (row,) = averages(run(tmp_path, outputs, ["SDAtt", "GlobalAtt"], claimed, **options))
    assert (row["verdict"], row["syntax"]) == ("", "") and float(row["low"]) > 0
    assert row["sentence"].startswith("SDAtt: +") and "better" not in row["sentence"]


def test_untrained_systems_and_small_sets_have_no_verdict(tmp_path, outputs):
    systems = ["SDAtt", "GlobalAtt", "LocalAtt", "SDAtt [random]"]
    claimed = [{"system": "SDAtt", "above": "GlobalAtt"}, {"system": "LocalAtt", "above": "GlobalAtt"}]
    for of_set in outputs.values():
        of_set["LocalAtt:s1"] = of_set["GlobalAtt:s1"]
        of_set["LocalAtt:s2"] = ["a man in a man in a man in a man"] * 40
        of_set["SDAtt [random]:s1"] = ["the the the"] * 40
    options = {
        "systems_with_trees": ["SDAtt"],
        "controls": [("SDAtt", "random", "random", "SDAtt [random]")],
        "thresholds": {},
    }
    exclusions = tmp_path / "exclusions.tsv"
    rows = run(tmp_path, outputs, systems, claimed, **options)
    first, second = averages(rows)
    assert first["syntax"] == "open" and "random trees: not learned to translate" in first["sentence"]
    assert second["verdict"] == "not tested" and second["difference"] == ""
    assert second["sentence"] == (
        "LocalAtt: not tested against GlobalAtt, since LocalAtt has not learned to translate."
    )
    assert "LocalAtt\ts2: BLEU" in exclusions.read_text()
    lines = [line.split("\t") for line in exclusions.read_text().splitlines()]
    assert [line[:2] for line in lines] == [["kind", "name"], ["system", "LocalAtt"], ["system", "SDAtt [random]"]]
    assert lines[1][2].count("s2: ") == 1 and lines[1][2].count(", ") > 1, "a run is named once, before its reasons"

    for of_set in outputs.values():
        of_set["SDAtt:s2"] = ["the the the"] * 40
    claimed_pair = [{"system": "SDAtt", "above": "LocalAtt"}]
    (row,) = averages(run(tmp_path, outputs, systems, claimed_pair, thresholds={}))
    assert row["sentence"].endswith("since SDAtt and LocalAtt have not learned to translate.")

    (row, _) = averages(run(tmp_path, outputs, systems, claimed, fewest_sentences=41))
    assert row["verdict"] == "not tested" and "dev has 40 different sentences, fewer than 41" in row["sentence"]
    assert "set\tone\t40 different sentences, fewer than 41" in exclusions.read_text()
    for set_name in ("dev", "two"):
        outputs[set_name] = {name: lines * 2 for name, lines in outputs[set_name].items()}
    (row, *_) = averages(run(tmp_path, outputs, systems, claimed, fewest_sentences=41))
    assert row["verdict"] == "not tested", "repeated sentences do not count"


def test_a_run_has_learned_by_its_bleu_on_all_sets_together(tmp_path, outputs):
    """The run of least BLEU decides, and BLEU is that of one text of all sets, as sacrebleu scores it."""
    for of_set, system in zip(outputs.values(), ("SDAtt", "GlobalAtt", "LocalAtt"), strict=True):
        of_set["LocalAtt:s2"] = of_set[f"{system}:s2"]
    scores = {
        run: BLEU(lowercase=True)
        .corpus_score(
            [line for of_set in outputs.values() for line in of_set[f"LocalAtt:{run}"]],
            [[line for of_set in outputs.values() for line in of_set["reference"]]],
        )
        .score
        for run in ("s1", "s2")
    }
    assert 0 < scores["s1"] < scores["s2"] - 5
    claimed = [{"system": "LocalAtt", "above": "GlobalAtt"}]
    exclusions = tmp_path / "exclusions.tsv"
    for threshold, failed in (
        (scores["s1"] - 0.01, []),
        (scores["s1"] + 0.01, ["s1"]),
        (scores["s2"] - 0.01, ["s1"]),
        (scores["s2"] + 0.01, ["s1", "s2"]),
    ):
        thresholds = {**ANY_OUTPUT, "score": threshold}
        rows = run(tmp_path, outputs, ["LocalAtt", "GlobalAtt"], claimed, thresholds=thresholds)
        reasons = [line for line in exclusions.read_text().splitlines() if line.startswith("system\tLocalAtt\t")]
        assert [name for line in reasons for name in scores if f"{name}: BLEU" in line] == failed
        assert (rows[0]["verdict"] == "not tested") == bool(failed)


def test_networks_far_below_phrases_are_untrained(tmp_path, outputs):
    claimed = [{"system": "LocalAtt", "above": "GlobalAtt"}]
    systems = ["LocalAtt", "GlobalAtt", "SDAtt"]
    options = {"phrase_based": ["SDAtt"], "thresholds": {**ANY_OUTPUT, "share_of_phrase_based": 0.5}}
    (row,) = averages(run(tmp_path, outputs, systems, claimed, **options))
    assert row["verdict"] == "not tested" and "not learned to translate" in row["sentence"]
    (row,) = averages(run(tmp_path, outputs, systems, claimed))
    assert row["verdict"] == "contradicted"
    for run_name in ("s1", "s2"):
        outputs["two"].pop(f"SDAtt:{run_name}")
    (row,) = averages(run(tmp_path, outputs, systems, claimed, **options))
    assert row["verdict"] == "contradicted", "the phrase-based system lacks a set"


def test_claims_about_sentences_of_some_length(tmp_path, outputs):
    lengths = {set_name: np.arange(40.0) for set_name in outputs}
    for set_name, values in lengths.items():
        write_sentence_columns(tmp_path / f"{set_name}.properties.arrow", {"length": values})
    property_files = {set_name: tmp_path / f"{set_name}.properties.arrow" for set_name in outputs}
    claimed = [{"system": "SDAtt", "above": "GlobalAtt", "sentences": {"longer_than": 9, "up_to": 29}}]
    rows = run(tmp_path, outputs, ["SDAtt", "GlobalAtt"], claimed, properties=property_files)
    worse = [{**claimed[0], "system": "LocalAtt"}, {"system": "LocalAtt", "above": "GlobalAtt"}]
    options = {"properties": property_files, "systems_with_trees": ["LocalAtt"]}
    sentences = [
        row["sentence"] for row in averages(run(tmp_path, outputs, ["LocalAtt", "GlobalAtt"], worse, **options))
    ]
    assert sentences[0].startswith("LocalAtt: no difference found, ") and sentences[1].startswith("LocalAtt: no, ")
    kind = "sentences of more than 9 words and at most 29 words"
    assert {row["sentences"] for row in rows} == {kind} and f" on {kind} (" in rows[0]["sentence"]
    some = {set_name: {name: lines[10:30] for name, lines in of_set.items()} for set_name, of_set in outputs.items()}
    (tmp_path / "some").mkdir()
    selected_rows = run(tmp_path / "some", some, ["SDAtt", "GlobalAtt"], [{"system": "SDAtt", "above": "GlobalAtt"}])
    assert [row["difference"] for row in rows] == [row["difference"] for row in selected_rows]
    with pytest.raises(InputError, match=r"a claim is about sentences of .*, which needs the properties of dev"):
        run(tmp_path, outputs, ["SDAtt", "GlobalAtt"], claimed)


def test_the_order_of_rows_changes_nothing_but_the_order(tmp_path, outputs):
    claimed = [{"system": "SDAtt", "above": "GlobalAtt"}, {"system": "LocalAtt", "above": "SDAtt"}]
    systems = ["SDAtt", "GlobalAtt", "LocalAtt"]
    first = run(tmp_path, outputs, systems, claimed, systems_with_trees=["SDAtt"])
    turned = {set_name: dict(reversed(of_set.items())) for set_name, of_set in outputs.items()}
    runs = {
        set_name: {name: turned[set_name][name] for name in sorted(turned[set_name], key=lambda name: name[-1])}
        for set_name in turned
    }
    assert run(tmp_path, runs, systems, claimed, systems_with_trees=["SDAtt"]) == first


def test_only_the_first_baseline_without_trees_answers_about_syntax(tmp_path, outputs):
    claimed = [{"system": "SDAtt", "above": other_system} for other_system in ("GlobalAtt", "LocalAtt")]
    rows = averages(run(tmp_path, outputs, ["SDAtt", "GlobalAtt", "LocalAtt"], claimed, systems_with_trees=["SDAtt"]))
    assert [row["about"] for row in rows] == ["syntax", "syntax"]
    assert [row["syntax"] for row in rows] == ["open", "open"]
    assert " BLEU better than GlobalAtt (" in rows[0]["sentence"]
    assert " BLEU better than LocalAtt (" in rows[1]["sentence"]


def test_claim_of_equivalence_leaves_the_answer_about_syntax_to_a_gain(tmp_path, outputs):
    first = {"system": "LocalAtt", "above": "SDAtt"}
    gain = {"system": "LocalAtt", "above": "GlobalAtt"}
    sentences = [
        averages(run(tmp_path, outputs, ["SDAtt", "GlobalAtt", "LocalAtt"], claimed, systems_with_trees=["LocalAtt"]))[
            -1
        ]["sentence"]
        for claimed in ([gain], [{**first, "relation": "comparable", "margin": 5}, gain], [first, gain])
    ]
    assert sentences[0].startswith("LocalAtt: no, ") and sentences[1] == sentences[0]
    assert sentences[2] == sentences[0].replace("no, ", ""), "an earlier gain answers"


def test_claim_is_repeated_for_other_parsers(tmp_path, outputs):
    """Beside what reads none it is compared with the same, beside what reads trees with that on the same trees."""
    rows = run(
        tmp_path,
        outputs,
        ["SDAtt", "GlobalAtt", "SDAtt [gold]", "LocalAtt"],
        [{"system": "SDAtt", "above": "GlobalAtt"}, {"system": "SDAtt", "above": "LocalAtt"}],
        systems_with_trees=["SDAtt", "SDAtt [gold]", "LocalAtt"],
        variants=[("SDAtt", "gold", "SDAtt [gold]")],
    )
    pairs = [(row["system"], row["other"]) for row in averages(rows)]
    assert pairs == [("SDAtt", "GlobalAtt"), ("SDAtt [gold]", "GlobalAtt"), ("SDAtt", "LocalAtt")]


def test_published_differences_of_several_papers_are_combined():
    first, second = (PublishedResultConfig.model_validate({**PRINTED, "difference": value}) for value in (0.92, 0.75))
    pair = {"system": "SDAtt", "above": "GlobalAtt", "says": "It gains."}
    claimed = [(paper, ClaimConfig(**pair, printed=[printed])) for paper, printed in (("A", first), ("B", second))]
    questions = [*resolve_claims(claimed, ["SDAtt", "GlobalAtt"], ["SDAtt"], {}, {})]
    assert [question.paper for question in questions] == ["A", "B"]
    assert all([*question.published_differences] == [first, second] for question in questions)


def test_table_comparisons_are_not_repeated(tmp_path, outputs):
    table_comparisons = [("SDAtt", "GlobalAtt"), ("LocalAtt", "GlobalAtt"), ("LocalAtt", "GlobalAtt")]
    claimed = [{"system": "SDAtt", "above": "GlobalAtt"}]
    rows = averages(
        run(tmp_path, outputs, ["SDAtt", "GlobalAtt", "LocalAtt"], claimed, table_comparisons=table_comparisons)
    )
    assert [(row["paper"], row["system"]) for row in rows] == [("Chen", "SDAtt"), ("", "LocalAtt")]
    (row,) = averages(run(tmp_path, outputs, ["LocalAtt", "GlobalAtt"], [], table_comparisons=table_comparisons))
    assert row["system"] == "LocalAtt"
    _, claims = (
        collect_claims([file(tmp_path / f"{name}.yaml", {**claimed[0], **sentences})], table_comparisons[:1])
        for name, sentences in (("all", {}), ("long", {"sentences": {"longer_than": 9}}))
    )
    assert [paper for paper, _ in claims] == ["Chen", ""], "a claim about some sentences is another one"


def test_missing_metric_is_replaced_by_bleu_and_named(tmp_path, outputs):
    claimed = [
        {"system": "SDAtt", "above": "GlobalAtt", "metrics": ["ribes"]},
        {"system": "LocalAtt", "above": "GlobalAtt", "metrics": ["bleu", "ribes"]},
    ]
    systems = ["SDAtt", "GlobalAtt", "LocalAtt"]
    rows = averages(run(tmp_path, outputs, systems, claimed))
    assert [row["metric"] for row in rows] == ["bleu", "bleu"]
    assert "since RIBES is not computed" in rows[0]["sentence"] and "RIBES" not in rows[1]["sentence"]
    rows = averages(run(tmp_path, outputs, systems, claimed, metrics=["bleu", "ribes"]))
    assert [row["metric"] for row in rows] == ["ribes", "bleu", "ribes"] and "RIBES" in rows[0]["sentence"]


def test_single_runs_use_the_default_deviation(tmp_path, outputs):
    for of_set in outputs.values():
        for name in RATES:
            of_set[name] = of_set.pop(f"{name}:s1")
            of_set.pop(f"{name}:s2")
            of_set[f"{name}:single"] = of_set.pop(name)
    claimed = [{"system": "SDAtt", "above": "GlobalAtt"}]
    (row,) = averages(run(tmp_path, outputs, ["SDAtt", "GlobalAtt"], claimed, run_deviation={"bleu": 2.0}))
    assert (row["runs_system"], row["run_deviation"], row["run_deviation_from"]) == ("1", "2.0", "default")
    assert "1 run each, assuming a standard deviation of 2 between runs (the default)" in row["sentence"]


@pytest.mark.parametrize("is_trained", [True, False], ids=["trained", "untrained"])
def test_single_runs_have_the_variance_of_the_other_trained_systems(tmp_path, outputs, is_trained):
    for of_set in outputs.values():
        for name in ("SDAtt", "GlobalAtt"):
            of_set.pop(f"{name}:s2")
        if not is_trained:
            of_set["LocalAtt:s2"] = ["the the the"] * 40
    systems, claimed = ["SDAtt", "GlobalAtt", "LocalAtt"], [{"system": "SDAtt", "above": "GlobalAtt"}]
    rows = run(
        tmp_path, outputs, systems, claimed, run_deviation={"bleu": 2.0}, thresholds={**ANY_OUTPUT, "score": 0.1}
    )
    (row,) = [row for row in rows if row["set"] == "one"]
    scores = [
        BLEU(lowercase=True).corpus_score(outputs["one"][f"LocalAtt:{number}"], [outputs["one"]["reference"]]).score
        for number in ("s1", "s2")
    ]
    expected = (float(np.std(scores, ddof=1)), "pooled") if is_trained else (2.0, "default")
    assert (float(row["run_deviation"]), row["run_deviation_from"]) == (pytest.approx(expected[0]), expected[1])


def test_searches_of_the_same_networks_are_compared_run_by_run(tmp_path, outputs):
    claimed, networks = [{"system": "SDAtt", "above": "GlobalAtt"}], {"SDAtt": "one", "GlobalAtt": "one"}
    (row,) = averages(run(tmp_path, outputs, ["SDAtt", "GlobalAtt"], claimed, networks=networks))
    assert row["run_deviation_from"] == "same networks"


def test_the_same_outputs_are_tied(tmp_path, outputs):
    for of_set in outputs.values():
        of_set |= {f"LocalAtt:{run}": of_set["GlobalAtt:s1"] for run in ("s1", "s2")}
        of_set |= {f"GlobalAtt:{run}": of_set["GlobalAtt:s1"] for run in ("s1", "s2")}
    (row,) = averages(run(tmp_path, outputs, ["LocalAtt", "GlobalAtt"], [{"system": "LocalAtt", "above": "GlobalAtt"}]))
    assert row["verdict"] == "not distinguishable" and "no difference found, 0 BLEU" in row["sentence"]


def test_same_files_same_bytes(tmp_path, outputs):
    claimed = [{"system": "SDAtt", "above": "GlobalAtt"}]
    run(tmp_path, outputs, ["SDAtt", "GlobalAtt"], claimed)
    first = (tmp_path / "claims.tsv").read_bytes()
    run(tmp_path, outputs, ["SDAtt", "GlobalAtt"], claimed)
    assert (tmp_path / "claims.tsv").read_bytes() == first


def test_claims_of_equivalence_are_tested_against_their_margin(tmp_path, outputs):
    """Each relation of a pair is a question of its own; the difference and its interval are the same."""
    relations = [
        *(("better", None), ("comparable", 99), ("comparable", 0.01), ("not worse", 0.01)),
        *(("comparable", 99), ("not worse", 0.01), ("not worse", 99)),
    ]
    pairs = [("SDAtt", "GlobalAtt")] * 4 + [("LocalAtt", "GlobalAtt")] * 3
    claimed = [
        {
            "system": system,
            "above": other_system,
            "relation": relation,
            **({} if margin is None else {"margin": margin}),
        }
        for (system, other_system), (relation, margin) in zip(pairs, relations, strict=True)
    ]
    rows = []
    for number, claim in enumerate(claimed):  # the same relation with another margin is a claim of another paper
        (place := tmp_path / str(number)).mkdir()
        rows += averages(run(place, outputs, ["SDAtt", "GlobalAtt", "LocalAtt"], [claim], systems_with_trees=["SDAtt"]))
    assert [(row["system"], row["relation"]) for row in rows] == [
        (system, relation) for (system, _), (relation, _) in zip(pairs, relations, strict=True)
    ]
    assert len({(row["difference"], row["low"], row["high"]) for row in rows[:4]}) == 1
    assert float(rows[0]["low"]) > 0 and float(rows[4]["high"]) < 0
    assert [row["verdict"] for row in rows] == [
        *("confirmed", "confirmed", "contradicted", "confirmed"),
        *("confirmed", "contradicted", "confirmed"),
    ]
    assert [row["syntax"] for row in rows] == ["open", *[""] * 6], "only a gain can be due to syntax"
    assert "SDAtt, comparable to GlobalAtt within 99 BLEU: confirmed, +" in rows[1]["sentence"]
    assert "LocalAtt, not worse by 0.01 BLEU: contradicted, -" in rows[5]["sentence"]


def test_claims_with_different_relations_are_separate(tmp_path, outputs):
    claim = {"system": "SDAtt", "above": "GlobalAtt"}
    claimed = [claim, {**claim, "relation": "comparable", "margin": 5}, {**claim, "relation": "not worse", "margin": 5}]
    rows = run(tmp_path, outputs, ["SDAtt", "GlobalAtt"], claimed, table_comparisons=[("SDAtt", "GlobalAtt")])
    assert [row["relation"] for row in averages(rows)] == ["better", "comparable", "not worse"]
    (proposed, *_), only = [
        averages(run(tmp_path, outputs, ["SDAtt", "GlobalAtt"], claims, table_comparisons=[("SDAtt", "GlobalAtt")]))
        for claims in (claimed[1:2], claimed[:1])
    ]
    assert proposed["relation"] == "comparable" and len(only) == 1, "a table asks only which system is better"


@pytest.mark.parametrize("claimed", ["SDAtt", "LocalAtt"])
def test_published_differences_are_excluded_or_not(tmp_path, outputs, claimed):
    claim = {"system": claimed, "above": "GlobalAtt", "metrics": ["bleu", "ribes"]}
    first = averages(run(tmp_path, outputs, [claimed, "GlobalAtt"], [claim]))[0]
    low, high = float(first["low"]), float(first["high"])
    inside, outside = round((low + high) / 2, 2), [round(low - 1, 2), round(high + 1, 2)]
    printed = [
        {"task": f"task {value}", "sets": "test", "metric": metric, "difference": value, "where": "Table 1"}
        for metric, value in (("bleu", outside[0]), ("bleu", inside), ("ribes", inside), ("bleu", outside[1]))
    ]
    (row,) = averages(run(tmp_path, outputs, [claimed, "GlobalAtt"], [{**claim, "printed": printed}]))
    assert row["excluded"].split(" | ") == [
        f"{value:+.2f} on task {value}: {'not ' * (value == inside)}excluded"
        for value in (outside[0], inside, outside[1])
    ]
    assert row["printed"].count(" | ") == 3, "what is printed by any metric is named"
    assert ("Published: " in row["sentence"]) == (row["verdict"] == "contradicted") == (claimed == "LocalAtt")


def test_fewer_edits_confirm_a_claim(tmp_path, outputs):
    claimed = [{"system": "SDAtt", "above": "GlobalAtt", "metrics": ["ter"]}]
    (row,) = averages(run(tmp_path, outputs, ["SDAtt", "GlobalAtt"], claimed, metrics=["bleu", "ter"]))
    assert row["metric"] == "ter" and float(row["high"]) < 0 and row["verdict"] == "confirmed"
    assert row["sentence"].startswith(f"SDAtt: {-float(row['difference']):.1f} TER better than GlobalAtt (")
