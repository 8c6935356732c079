"""Tests of the chapter that explains names."""

import yaml

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.report.chapters.names import build_parser_table, build_set_table, build_system_table
from tests.report.page_files import ROOT


def test_tables_explain_every_name():
    default = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    experiment = load_experiment(default, {"targets": ["table1", "table2", "controls"]}, should_check_files=False)
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in build_system_table(experiment).rows}
    assert [*rows].count("SDAtt") == 1 and not any("[" in name for name in rows)
    made_of, read = rows["SDAtt"][1:]
    assert "Gaussian over the syntax distance" in made_of and {"embedded", "random", "right-branching"} == {
        *read.split(", ")
    }
    assert rows["SDRNMT-1"][0] == "Chen et al. (2017)" and "dependency unit" in rows["SDRNMT-1"][1]
    assert "Thot" in rows["PBSMT"][1] and "Tree2Seq" in rows
    assert rows["SDRNMT-2"][1].startswith("2 encoders. ") and "encoders" not in rows["SDRNMT-1"][1]
    set_descriptions = {row[0].text: row[1].text for row in build_set_table(experiment).rows}
    assert set_descriptions["mixed"] == "600 generated sentences of 3 to 16 words."
    assert "particle verb" in set_descriptions["particles"] and "negation dropped" in set_descriptions["phenomena"]
    assert {row[0].text for row in build_parser_table(experiment).rows} == {"embedded", "random", "right-branching"}


def test_parsers_are_followed_by_their_fallbacks():
    default = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    overrides = {"targets": ["table1"], "parsers": {"embedded": {"fallback": "gold"}, "gold": {"fallback": "random"}}}
    rows = build_parser_table(load_experiment(default, overrides, should_check_files=False)).rows
    descriptions = {row[0].text: row[1].text for row in rows}
    assert [*descriptions] == ["embedded", "gold", "random"]
    assert descriptions["embedded"].endswith("Where it fails: trees of gold.")
    assert descriptions["gold"].endswith("Where it fails: trees of random.") and "fails" not in descriptions["random"]
