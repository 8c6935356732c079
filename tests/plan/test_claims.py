"""Which claims are held against which results, and what is known of the systems' trees."""

import pytest

from pipeline_py.input_error import InputError


def test_a_table_is_asked_about_its_systems_on_its_sets(planned):
    claims = planned(training={"seeds": [1, 2]}).claims
    of_table = claims.statistics("table1")
    assert {split for _, _, split in of_table} == {"dev", "mixed", "long", "particles"}
    assert {run for system, run, _ in of_table if system == "SDAtt"} == {"seed1", "seed2"}
    assert {run for system, run, _ in of_table if system == "PBSMT"} == {"single"}
    assert {split for _, _, split in claims.statistics("tree2seq/table3_4")} == {"dev"}


def test_all_tables_together_need_no_more_than_each(planned):
    plan = planned()
    together = plan.claims.statistics("all")
    alone = {place for table in plan.claims.experiment.tables for place in plan.claims.statistics(table)}
    assert {*together} == alone
    of_one = planned(targets=["table1"]).claims
    assert of_one.statistics("all") == of_one.statistics("table1")


def test_systems_that_differ_in_trees_alone_are_found(planned):
    options = planned().claims.options("controls")
    assert options == [
        "--asked=SDAtt=GlobalAtt",
        "--asked=Tree2Seq=GlobalAtt",
        *(
            f"--reads-trees={name}{trees}"
            for name in ("SDAtt", "Tree2Seq")
            for trees in ("", " [random]", " [right-branching]")
        ),
        *(
            f"--control={name}:{trees}={name} [{trees}]"
            for name in ("SDAtt", "Tree2Seq")
            for trees in ("random", "right-branching")
        ),
    ]
    crossed = {"title": "x", "systems": ["GlobalAtt", "SDAtt"], "baseline": "GlobalAtt", "parsers": ["default", "gold"]}
    options = planned(tables={"mine": crossed}).claims.options("mine")
    assert "--variant=SDAtt:gold=SDAtt [gold]" in options and not any("--control" in option for option in options)


def test_claims_are_papers_and_files_of_ones_own(planned, tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text("paper: me\nclaims: [{system: SDAtt, above: GlobalAtt, says: y}]\n")
    plan = planned(claims=["sdatt", str(mine)])
    assert [file.rpartition("/")[2] for file in plan.claims.files] == ["sdatt.yaml", "mine.yaml"]
    assert planned(claims=[]).claims.files == {}
    assert str(mine) in plan.claims.experiment.files(), "whether it is there is checked before the first job"


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
    assert claims.told == [] and plan.report.shown_of_run() == []
    plan.report.in_this_run("table1")
    claims.in_this_run("sdrnmt")
    claims.in_this_run("table1")
    assert claims.told == [f"<results>/evaluation/{table}/claims.tsv" for table in ("table1", "sdrnmt")]
    claims.in_this_run("all")
    assert claims.told == ["<results>/evaluation/all/claims.tsv"]
    assert plan.report.shown_of_run() == ["report.html", "table1.md"]
