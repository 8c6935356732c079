"""Plan of tables and figures."""

import pytest

from pipeline_py.run.errors import InputError


def test_an_ensemble_is_replaced_by_its_members(build_plan):
    systems = {"Both": {"type": "ensemble", "members": ["SDAtt", "GlobalAtt"]}}
    table = {"title": "T", "systems": ["PBSMT", "Both"], "baseline": "PBSMT"}
    report = build_plan(systems=systems, tables={"mine": table}).report
    assert report.get_trained_systems("mine") == ["PBSMT", "SDAtt", "GlobalAtt"]
    assert report.get_facts_paths("mine")["PBSMT", "single"] == "<results>/smt/PBSMT/single/facts.json"
    assert [*report.get_accuracy_paths("mine")] == [("embedded", "conllu")]
    assert report.format_system_settings("PBSMT") == {} and report.format_system_settings("Both")["beam"] == "5"


def test_facts_read_the_beams_that_rows_chose(build_plan):
    systems = {"Both": {"type": "ensemble", "members": ["SDAtt", "GlobalAtt"], "decoding": {"beam": [3, 9]}}}
    table = {"title": "T", "systems": ["GlobalAtt", "Both"], "baseline": "GlobalAtt"}
    report = build_plan(systems=systems, tables={"mine": table}, training={"seeds": [1, 2]}).report
    assert report.get_facts_files("mine")["beams"] == {
        f"{system}:seed{seed}:Both": f"<results>/nmt/Both/seed{seed}/dev.beam.json"
        for system in ("SDAtt", "GlobalAtt")
        for seed in (1, 2)
    }
    assert "beams" not in report.get_facts_files("table1")
    assert report.format_system_settings("Both")["beam"] == "3 or 9"


def test_a_table_of_measures_reads_files_for_its_columns(build_plan):
    table = {
        "type": "measures",
        "title": "T",
        "systems": ["SDAtt"],
        "columns": ["ribes", "beam"],
        "sets": ["dev", "tests"],
    }
    tables = {"mine": {**table, "parsed_by": "embedded"}, "set": {**table, "columns": ["beam"]}}
    report = build_plan(tables=tables).report
    files = report.get_table_files("mine")
    assert len(files["statistics"]) == len(files["parsed"]) == 4
    file = "<results>/evaluation/SDAtt/seed1/dev.statistics.arrow"
    assert files["statistics"]["SDAtt:seed1:dev"] == file
    assert report.get_table_files("set")["statistics"] == {}
    assert report.get_comparison_paths("mine") == {} and len(report.get_comparison_paths("table1")) == 3
    description = report.build_table_description("mine")
    assert description["table"]["sets"] == ["dev", "mixed", "long", "particles"]
    assert description["set_names"] == {"dev": "Dev (mixed)"} and description["settings"]["SDAtt"]["beam"] == "5"


def test_tables_of_counts_read_texts_and_counts(build_plan):
    report = build_plan().report
    counts = report.get_table_files("tree2seq/table1_2")["counts"]
    assert [*counts] == ["train", "dev", "mixed", "long", "particles"]
    forms = report.get_table_files("hierarchical/table2")
    assert [*forms] == ["original", "generalised", "bpe"]
    assert all([*files] == ["en", "de"] for files in forms.values())
    assert report.get_table_files("tree2seq/table12") == {
        "shares": {"": "<results>/evaluation/tree2seq/table12/attention.tsv"}
    }


def test_sides_of_one_language_are_counted_apart(build_plan):
    text = {"name": "dev", "source": "d.old", "references": ["d.new"]}
    corpora = {
        "source": {"language": "de"},
        "target": {"language": "de"},
        "train": {"source": "t.old", "target": "t.new"},
        "dev": text,
        "tests": [{**text, "name": "test"}],
    }
    table = {"type": "vocabulary", "title": "T", "subword": "pieces"}
    parsers = {"right-branching": {"type": "control", "shape": "right-branching"}}
    options = {"corpora": corpora, "tables": {"t": table}, "targets": ["t"]}
    forms = build_plan(parsers=parsers, parser="right-branching", **options).report.get_table_files("t")
    assert all([*files] == ["de (source)", "de (target)"] for files in forms.values())


def test_unknown_papers_are_rejected_by_the_plan(build_plan):
    published = {"paper": "sdatt", "table": 1, "task": "zh-en", "names": {"GlobalAtt": "G", "SDRNMT-2": "S"}}
    report = build_plan(tables={"table1": {"published": published}}).report
    assert report.published_files["table1"][0].endswith("workflow/published/sdatt.tsv")
    assert report.published_files["table2"] == []
    assert [*report.get_table_files("table1")["published"]] == [""]
    assert "published" not in report.get_table_files("table2")
    with pytest.raises(
        InputError, match=r"tables\.table1.published: unknown paper `sdat`; known are hierarchical, pascal, sdatt"
    ):
        build_plan(tables={"table1": {"published": {**published, "paper": "sdat"}}})


def test_tables_of_all_types_read_published_numbers(build_plan):
    """Without the key, the job of a table is the same as before there was one."""
    names = ["tree2seq/table1_2", "tree2seq/table3_4", "hierarchical/table2", "tree2seq/table12"]
    published = {"paper": "tree2seq", "table": 4, "task": "en-ja"}
    report = build_plan(tables={name: {"published": published} for name in names}).report
    plain_report = build_plan().report
    for name in names:
        files, plain_files = report.get_table_files(name), plain_report.get_table_files(name)
        assert files.pop("published")[""].endswith("workflow/published/tree2seq.tsv") and files == plain_files
        description, plain_description = map(dict, (r.build_table_description(name) for r in (report, plain_report)))
        assert description["dev"] == report.experiment.corpora.dev.name
        assert description["table"].pop("published")["table"] == "4" and "published" not in plain_description["table"]
        assert description["table"] == plain_description["table"]


def test_a_figure_needs_trees_only_of_systems_that_read_them(build_plan):
    figures = {"global": {"title": "T", "system": "GlobalAtt"}}
    report = build_plan(figures=figures).report
    plain, tree = (
        report.build_draw_attention_job("global", "1"),
        report.build_draw_attention_job("tree2seq/attention", "1"),
    )
    assert "tree" not in plain.files and "tree" in tree.files
    assert plain.settings == {"sentence": 1, "title": "T", "words": [], "lexical": False}
    assert report.get_figure_outputs("global") == [f"<results>/figures/global.1.{ending}" for ending in ("svg", "pdf")]


def test_outputs_of_a_table_depend_on_its_type(build_plan):
    report = build_plan().report
    assert len(report.get_table_outputs("table1")) == 6 and len(report.get_table_outputs("tree2seq/table1_2")) == 3
