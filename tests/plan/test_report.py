"""The cells of tables."""

import pytest

from pipeline_py.stage import InputError


def test_behind_an_ensemble_are_its_members(planned):
    systems = {"Both": {"type": "ensemble", "members": ["SDAtt", "GlobalAtt"]}}
    table = {"title": "T", "systems": ["PBSMT", "Both"], "baseline": "PBSMT"}
    report = planned(systems=systems, tables={"mine": table}).report
    assert report.trained_for("mine") == ["PBSMT", "SDAtt", "GlobalAtt"]
    assert report.facts("mine")["PBSMT", "single"] == "<results>/smt/PBSMT/single/facts.json"
    assert [*report.accuracy("mine")] == [("embedded", "conllu")]
    assert report.settings("PBSMT") == {} and report.settings("Both")["beam"] == "5"


def test_measures_come_from_the_scores_that_they_need(planned):
    table = {
        "type": "measures",
        "title": "T",
        "systems": ["SDAtt"],
        "columns": ["ribes", "beam"],
        "sets": ["dev", "tests"],
    }
    report = planned(tables={"mine": {**table, "parsed_by": "embedded"}}).report
    measures = report.measures("mine")
    assert {metric for *_, metric in measures} == {"ribes"} and len(measures) == 4
    file = "<results>/evaluation/SDAtt/seed1/dev.parsed-embedded.ribes.json"
    assert measures["SDAtt", "dev", "seed1", "ribes"] == file
    assert report.comparisons("mine") == {} and len(report.comparisons("table1")) == 3
    assert report.names_of_sets("mine") == {"dev": "Dev (mixed)"}


def test_printed_numbers_are_looked_for_when_the_plan_is_made(planned):
    published = {"paper": "sdatt", "table": 1, "task": "zh-en", "names": {"GlobalAtt": "G", "SDRNMT-2": "S"}}
    report = planned(tables={"table1": {"published": published}}).report
    assert report.published["table1"][0].endswith("workflow/published/sdatt.tsv") and report.published["table2"] == []
    assert report.published_options("table1")[1:] == [
        "--published-table=1",
        "--published-task=zh-en",
        "--published-name=GlobalAtt=G",
    ]
    with pytest.raises(
        InputError, match=r"tables\.table1.published: unknown paper `sdat`; known are hierarchical, sdatt"
    ):
        planned(tables={"table1": {"published": {**published, "paper": "sdat"}}})


def test_a_figure_needs_trees_only_of_systems_that_read_them(planned):
    figures = {"global": {"title": "T", "system": "GlobalAtt"}}
    report = planned(figures=figures).report
    assert "tree" not in report.picture_inputs("global") and "tree" in report.picture_inputs("tree2seq/attention")
    assert not report.reads_lexical_trees("global")
    assert report.pictures_of("global") == [f"<results>/figures/global.1.{ending}" for ending in ("svg", "pdf")]


def test_everything_of_a_table_is_what_its_type_has(planned):
    report = planned().report
    assert len(report.everything_of("table1")) == 6 and len(report.everything_of("tree2seq/table1_2")) == 3
