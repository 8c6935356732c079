"""Which claims are held against which results, and what is known of the systems' trees."""

import pytest

from pipeline_py.run.errors import InputError


def test_a_table_is_asked_about_its_systems_on_its_sets(planned):
    claims = planned(training={"seeds": [1, 2]}).claims
    of_table = claims.get_statistics_paths("table1")
    assert {split for _, _, split in of_table} == {"dev", "mixed", "long", "particles"}
    assert {run for system, run, _ in of_table if system == "SDAtt"} == {"seed1", "seed2"}
    assert {run for system, run, _ in of_table if system == "PBSMT"} == {"single"}
    assert {split for _, _, split in claims.get_statistics_paths("tree2seq/table3_4")} == {"dev"}


def test_all_tables_together_need_no_more_than_each(planned):
    plan = planned()
    together = plan.claims.get_statistics_paths("all")
    alone = {place for table in plan.claims.experiment.tables for place in plan.claims.get_statistics_paths(table)}
    assert {*together} == alone
    of_one = planned(targets=["table1"]).claims
    assert of_one.get_statistics_paths("all") == of_one.get_statistics_paths("table1")


def test_systems_that_differ_in_trees_alone_are_found(planned):
    assert planned().claims.build_claims_job("controls").settings == {
        "metrics": ["bleu", "ribes"],
        "asked": [["SDAtt", "GlobalAtt"], ["Tree2Seq", "GlobalAtt"]],
        "reads_trees": [
            f"{name}{trees}" for name in ("SDAtt", "Tree2Seq") for trees in ("", " [random]", " [right-branching]")
        ],
        "controls": [
            [name, trees, trees, f"{name} [{trees}]"]
            for name in ("SDAtt", "Tree2Seq")
            for trees in ("random", "right-branching")
        ],
        "variants": [],
        "fewest_sentences": 100,
        "run_deviation": {"bleu": 1.8},
        "networks": {},
        "phrase_based": [],
        "thresholds": {
            **{"score": 5.0, "share_of_phrase_based": 0.3, "distinct": 0.5},
            **{"chance": 5.0, "repetition": 0.15, "length": (0.5, 2.0)},
        },
        "partial": True,
    }
    crossed = {"title": "x", "systems": ["GlobalAtt", "SDAtt"], "baseline": "GlobalAtt", "parsers": ["default", "gold"]}
    settings = planned(tables={"mine": crossed}).claims.build_claims_job("mine").settings
    assert ["SDAtt", "gold", "SDAtt [gold]"] in settings["variants"] and settings["controls"] == []


def test_claims_are_papers_and_files_of_ones_own(planned, tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text("paper: me\nclaims: [{system: SDAtt, above: GlobalAtt, says: y}]\n")
    plan = planned(claims=["sdatt", str(mine)])
    assert [file.rpartition("/")[2] for file in plan.claims.claims_by_file] == ["sdatt.yaml", "mine.yaml"]
    assert planned(claims=[]).claims.claims_by_file == {}
    assert str(mine) in plan.claims.experiment.collect_file_paths(), (
        "whether it is there is checked before the first job"
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("sdat", r"claims: unknown paper `sdat`; did you mean `sdatt`\?"),
        ("{}", "mine.yaml: unknown system `SDAt`; did you mean `SDAtt`?"),
    ],
)
def test_what_is_unknown_is_told_before_the_first_job(planned, tmp_path, given, sentence):
    mine = tmp_path / "mine.yaml"
    mine.write_text("paper: me\nclaims: [{system: SDAt, above: GlobalAtt, says: y}]\n")
    with pytest.raises(InputError, match=sentence):
        planned(claims=[given.format(mine)])


def test_a_run_tells_of_what_it_makes(planned):
    plan = planned()
    claims = plan.claims
    assert claims.answer_tables == [] and plan.report.get_displayed_files() == []
    plan.report.add_requested_table("table1")
    claims.add_requested_table("sdrnmt")
    claims.add_requested_table("table1")
    assert claims.answer_tables == ["table1", "sdrnmt"]
    claims.add_requested_table("all")
    assert claims.answer_tables == ["all"]
    assert plan.report.get_displayed_files() == ["report.html", "table1.md"]


def test_a_table_decides_if_the_experiment_has_no_more(planned):
    """A verdict needs all runs and control trees of the experiment."""
    one, several = planned(targets=["table1"]).claims, planned(targets=["table1", "controls"]).claims
    assert not one.is_partial_table("table1") and not several.is_partial_table("all")
    assert several.is_partial_table("table1") and several.is_partial_table("controls")
    again = {"title": "x", "systems": ["GlobalAtt", "SDAtt"], "baseline": "GlobalAtt", "seeds": [1, 2]}
    seeds = planned(targets=["table1", "again"], tables={"again": again}).claims
    assert seeds.is_partial_table("table1"), "there is another seed elsewhere"


def test_searches_of_one_network_are_named(planned):
    assert planned().claims.build_claims_job("tree2seq/table5").settings["networks"] == {
        f"Tree2Seq-{search}": "Tree2Seq" for search in ("length-model", "beam10", "beam15", "beam20")
    }


def test_properties_are_read_for_claims_about_lengths(planned, tmp_path):
    assert planned(claims=["pascal"]).claims.get_property_paths("table1") == {}
    mine = tmp_path / "mine.yaml"
    claim = "{system: SDAtt, above: GlobalAtt, says: y, sentences: {longer_than: 20}}"
    mine.write_text(f"paper: me\nclaims: [{claim}]\n")
    assert planned(claims=[str(mine)]).claims.get_property_paths("table1") == {
        split: f"<results>/evaluation/source/{split}.words.arrow" for split in ("dev", "mixed", "long", "particles")
    }
