"""Plan of claims: tables, claim files and systems that differ in trees."""

import pytest

from pipeline_py.run.errors import InputError


def test_claims_of_a_table_cover_its_systems_and_sets(build_plan):
    claims = build_plan(training={"seeds": [1, 2]}).claims
    table_paths = claims.get_statistics_paths("table1")
    assert {split for _, _, split in table_paths} == {"dev", "mixed", "long", "particles"}
    assert {run for system, run, _ in table_paths if system == "SDAtt"} == {"seed1", "seed2"}
    assert {run for system, run, _ in table_paths if system == "PBSMT"} == {"single"}
    assert {split for _, _, split in claims.get_statistics_paths("tree2seq/table3_4")} == {"dev"}


def test_claims_of_all_tables_need_the_union_of_their_statistics(build_plan):
    plan = build_plan()
    all_paths = plan.claims.get_statistics_paths("all")
    places_by_table = {
        place for table in plan.claims.experiment.tables for place in plan.claims.get_statistics_paths(table)
    }
    assert {*all_paths} == places_by_table
    single_table_claims = build_plan(targets=["table1"]).claims
    assert single_table_claims.get_statistics_paths("all") == single_table_claims.get_statistics_paths("table1")


def test_systems_that_differ_only_in_trees_are_variants_or_controls(build_plan):
    assert build_plan().claims.build_judge_claims_job("controls").settings == {
        "metrics": ["bleu", "ribes"],
        "table_comparisons": [["SDAtt", "GlobalAtt"], ["Tree2Seq", "GlobalAtt"]],
        "systems_with_trees": [
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
    phrases = {"title": "x", "systems": ["PBSMT", "SDAtt"], "baseline": "PBSMT"}
    settings = build_plan(tables={"mine": phrases}).claims.build_judge_claims_job("mine").settings
    assert settings["phrase_based"] == ["PBSMT"]
    crossed = {"title": "x", "systems": ["GlobalAtt", "SDAtt"], "baseline": "GlobalAtt", "parsers": ["default", "gold"]}
    settings = build_plan(tables={"mine": crossed}).claims.build_judge_claims_job("mine").settings
    assert ["SDAtt", "gold", "SDAtt [gold]"] in settings["variants"] and settings["controls"] == []


def test_claims_are_read_from_papers_and_user_files(build_plan, tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text("paper: me\nclaims: [{system: SDAtt, above: GlobalAtt, says: y}]\n")
    plan = build_plan(claims=["sdatt", str(mine)])
    assert [file.rpartition("/")[2] for file in plan.claims.claims_by_file] == ["sdatt.yaml", "mine.yaml"]
    assert build_plan(claims=[]).claims.claims_by_file == {}
    assert str(mine) in plan.claims.experiment.collect_file_paths(), (
        "whether it is there is checked before the first job"
    )


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("sdat", r"claims: unknown paper `sdat`; did you mean `sdatt`\?"),
        ("{}", "mine.yaml: unknown system `SDAt`; did you mean `SDAtt`?"),
    ],
)
def test_unknown_papers_and_systems_are_reported_by_the_plan(build_plan, tmp_path, settings, sentence):
    mine = tmp_path / "mine.yaml"
    mine.write_text("paper: me\nclaims: [{system: SDAt, above: GlobalAtt, says: y}]\n")
    with pytest.raises(InputError, match=sentence):
        build_plan(claims=[settings.format(mine)])


def test_answers_are_shown_for_requested_tables(build_plan):
    plan = build_plan()
    claims = plan.claims
    assert claims.answer_tables == [] and plan.report.get_displayed_files() == []
    plan.report.add_requested_table("table1")
    claims.add_requested_table("sdrnmt")
    claims.add_requested_table("table1")
    assert claims.answer_tables == ["table1", "sdrnmt"]
    claims.add_requested_table("all")
    assert claims.answer_tables == ["all"]
    assert plan.report.get_displayed_files() == ["report.html", "table1.md"]


def test_a_table_is_partial_if_the_experiment_has_more_runs_or_controls(build_plan):
    """A verdict needs all runs and control trees of the experiment."""
    single_table, several = build_plan(targets=["table1"]).claims, build_plan(targets=["table1", "controls"]).claims
    assert not single_table.is_partial_table("table1") and not several.is_partial_table("all")
    assert several.is_partial_table("table1") and several.is_partial_table("controls")
    again = {"title": "x", "systems": ["GlobalAtt", "SDAtt"], "baseline": "GlobalAtt", "seeds": [1, 2]}
    seeds = build_plan(targets=["table1", "again"], tables={"again": again}).claims
    assert seeds.is_partial_table("table1"), "there is another seed elsewhere"


def test_systems_with_the_same_network_are_listed(build_plan):
    assert build_plan().claims.build_judge_claims_job("tree2seq/table5").settings["networks"] == {
        f"Tree2Seq-{search}": "Tree2Seq" for search in ("length-model", "beam10", "beam15", "beam20")
    }


def test_claims_about_lengths_read_sentence_properties(build_plan, tmp_path):
    assert build_plan(claims=["pascal"]).claims.get_property_paths("table1") == {}
    mine = tmp_path / "mine.yaml"
    claim = "{system: SDAtt, above: GlobalAtt, says: y, sentences: {longer_than: 20}}"
    mine.write_text(f"paper: me\nclaims: [{claim}]\n")
    assert build_plan(claims=[str(mine)]).claims.get_property_paths("table1") == {
        split: f"<results>/evaluation/source/{split}.words.arrow" for split in ("dev", "mixed", "long", "particles")
    }
