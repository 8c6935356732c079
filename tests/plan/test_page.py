"""Plan of the report page."""

import json
from pathlib import Path


def test_the_page_shows_requested_outputs(build_plan):
    page = build_plan(targets=["table1"]).page
    files = page.get_page_files()
    assert [*files["table"]] == ["table1"] and next(iter(files["words"])) == "table1:mixed"
    assert [*files["parser"]] == ["embedded"] and files["agreement"] == {} and files["figure"] == {}
    assert files["claims"] == {"all": "<results>/evaluation/all/claims.tsv"}
    assert build_plan(targets=["tree2seq/table1_2"]).page.get_page_files()["claims"] == {}
    assert "PBSMT:single" not in files["curve"] and "SDAtt:seed1" in files["curve"]
    assert page.find_paper_tables("table1") == ("sdatt", ["1"])
    assert page.find_paper_tables("tree2seq/table3_4") == ("tree2seq", ["3", "4"])
    assert page.find_paper_tables("controls") is None


def test_the_page_shows_contrastive_sets_of_its_tables(build_plan, tmp_path):
    (tmp_path / "g.tsv").write_text("source\tcorrect\tcontrastive\na\tb\tc\n")
    mine = {"title": "M", "systems": ["PBSMT", "GlobalAtt"], "baseline": "PBSMT"}
    plain = {"type": "measures", "title": "M", "systems": ["GlobalAtt"], "columns": ["bleu"]}
    over = {"corpora": {"contrast": [{"name": "gender", "file": "g.tsv"}]}, "data": str(tmp_path)}
    files = build_plan(**over, tables={"mine": mine, "plain": plain}, targets=["mine", "plain"]).page.get_page_files()
    assert files["contrast"] == {"mine:gender": "<results>/evaluation/mine/gender.contrast.tsv"}
    assert [*files["contrast_comparisons"]] == ["mine:gender"] and "mine:gender" not in files["words"]


def test_attention_is_drawn_for_proposed_systems(build_plan):
    """Systems with control trees are excluded."""
    page = build_plan().page
    assert page.get_drawn_networks("controls") == ["SDAtt", "Tree2Seq"]
    assert page.get_drawn_networks("tree2seq/table1_2") == []
    attention = page.get_attention_paths("controls")
    assert attention["SDAtt:mixed:gates"] == "<results>/nmt/SDAtt/seed1/mixed.gates.arrow"
    assert [name for name in attention if name.endswith(":tree")] == ["Tree2Seq:mixed:tree"]
    assert {name.partition(":")[0] for name in attention} == {"SDAtt", "Tree2Seq", "GlobalAtt"}
    assert page.get_source_tree_paths("controls") == {
        "controls:SDAtt:mixed": "<results>/syntax/embedded/mixed.conllu",
        "controls:Tree2Seq:mixed": "<results>/syntax/embedded/mixed.ptb",
    }


def test_the_manifest_has_paths_and_the_numbers_of_papers(build_plan):
    manifest = build_plan(name="mine", targets=["table1"]).page.build_manifest()
    file = "results/mine/evaluation/table1/long.sentence_scores.tsv"
    assert manifest["files"]["sentence_scores"]["table1:long"] == file
    assert manifest["published"] == {"table1": ["1"]}
    counts = build_plan(targets=["tree2seq/table1_2", "hierarchical/table2"]).page.build_manifest()
    assert counts["published"] == {"tree2seq/table1_2": ["1", "2"], "hierarchical/table2": ["2"]}
    assert "nmt.train" in manifest["code"]
    assert "report.write_page" in manifest["code"]
    assert "torch" in manifest["versions"]
    assert json.loads(json.dumps(manifest)) == manifest


def test_the_command_repeats_user_options(build_plan):
    page = build_plan(name="mine").page
    command = page.format_command([Path("a b.yaml").absolute()], {"preset": "fast", "training": {"epochs": 2}})
    assert command == (
        "snakemake --cores all results/mine/report.html --configfile 'a b.yaml' "
        """--config preset=fast 'training={"epochs": 2}'"""
    )
    assert build_plan().page.format_command([], {}) == "snakemake --cores all results/report.html"
