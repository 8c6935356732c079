"""What an experiment inherits and its own settings do not fit is left out; what it names is a mistake."""

from typing import Any

import pytest

from pipeline_py.config.inherited_entries import format_omission_warning
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError
from tests.project_copy import merge_configs

MEASURES = {"type": "measures", "title": "T", "columns": ["bleu"]}
CONTROLS = {"title": "T", "systems": ["GlobalAtt", "SDAtt"], "parsers": ["default", "gold"], "baseline": "GlobalAtt"}


@pytest.fixture
def inherited(config) -> dict[str, Any]:
    config["parsers"]["gold"] = {"type": "given"}
    config["tables"]["controls"] = CONTROLS
    return config


def over(inherited: dict[str, Any], own: dict[str, Any]) -> Any:
    return load_experiment(merge_configs(inherited, own), own_config=own)


CROSSED = "table `controls`: its baseline `GlobalAtt` is crossed with parsers; name one of "
SYNTACTIC = {"systems": {"GlobalAtt": {"contexts": ["syntax"]}}}


def test_a_table_that_is_not_named_is_left_out(inherited):
    experiment = over(inherited, SYNTACTIC)
    assert {*experiment.omitted_entries} == {("tables", "controls")} and "controls" not in experiment.tables
    assert experiment.systems["GlobalAtt"].required_syntax_names == ["distances"]
    assert format_omission_warning(experiment.omitted_entries) == (
        "Left out from config.yaml, since incompatible with this experiment's own settings: `controls`; "
        f"{CROSSED}`GlobalAtt [embedded]`, `GlobalAtt [gold]`."
    )


@pytest.mark.parametrize(
    "named", [{"targets": ["controls"]}, {"tables": {"controls": {"title": "Is it structure?"}}}, {"preset": "p"}]
)
def test_a_table_that_is_named_is_a_mistake(inherited, named):
    own = {**SYNTACTIC, "presets": {"p": {"targets": ["controls"]}} if "preset" in named else {}, **named}
    with pytest.raises(InputError, match="its baseline `GlobalAtt` is crossed"):
        over(inherited, own)


def test_contrastive_sets_are_of_the_text_that_they_belong_to(inherited):
    inherited["corpora"]["contrast"] = [{"name": "gender", "generate": {"sentences": 9, "kinds": ["gender"]}}]
    inherited["tables"]["told"] = {**MEASURES, "systems": ["GlobalAtt"], "columns": ["contrast"]}
    inherited["targets"] = ["table1", "told"]
    assert [*over(inherited, {"name": "x"}).corpora.contrastive_sets] == ["gender"]
    other = {"corpora": {"train": {"generate": {"sentences": 99}}}}
    experiment = over(inherited, other)
    assert not experiment.corpora.contrast and experiment.targets == ["table1"]
    assert "told" not in experiment.tables and not experiment.omitted_entries, "nobody needs to be told"
    assert over({**inherited, "targets": ["told"]}, other).targets is None
    with pytest.raises(InputError, match="name contrastive sets"):
        over(inherited, {**other, "tables": {"told": {"title": "M"}}})
    own = {"corpora": {**other["corpora"], "contrast": inherited["corpora"]["contrast"]}}
    assert [*over(inherited, own).corpora.contrastive_sets] == ["gender"]


def test_what_is_no_overlay_is_named(inherited):
    with pytest.raises(InputError, match="its baseline `GlobalAtt` is crossed"):
        load_experiment(merge_configs(inherited, SYNTACTIC))


def test_systems_go_with_all_that_is_made_of_them(inherited):
    experiment = over(inherited, {"model": {"embedding": 101, "hidden": 101}})
    gone = experiment.omitted_entries
    assert ("systems", "Hierarchical-gated") in gone and ("systems", "Tree-based") not in gone
    assert {("tables", "hierarchical/table3"), ("figures", "hierarchical/attention")} <= {*gone}
    assert "each direction has half the hidden size, but 101 is odd" in gone["tables", "hierarchical/table3"]
    assert {"table1", "hierarchical/table2", "tree2seq/table9"} <= {*experiment.tables}
    said = format_omission_warning(gone)
    assert ": `hierarchical/attention`, `hierarchical/table3`, `hierarchical/table4`; systems." in said
    assert said.count("101 is odd") == 1 and "name these in `targets`" in said


def test_what_a_named_table_needs_is_a_mistake(inherited):
    table = {**MEASURES, "systems": ["GlobalAtt", "Hierarchical-gated"]}
    with pytest.raises(InputError) as caught:
        over(inherited, {"model": {"embedding": 101, "hidden": 101}, "tables": {"mine": table}})
    assert str(caught.value) == (
        "configuration: systems.Hierarchical-gated: each direction has half the hidden size, but 101 is odd"
    )


def test_own_mistakes_are_told_without_inherited_ones(inherited):
    with pytest.raises(InputError) as caught:
        over(inherited, {**SYNTACTIC, "tables": {"mine": {**MEASURES, "systems": ["SDAt [gold]"]}}})
    assert str(caught.value) == "configuration: table `mine`: unknown system `SDAt [gold]`; did you mean `SDAtt`?"


def test_an_inherited_table_that_is_none_is_a_mistake(inherited):
    inherited["tables"]["controls"] = {**CONTROLS, "baselin": "SDAtt"}
    with pytest.raises(InputError, match=r"unknown key `tables.controls.baselin`"):
        over(inherited, {"training": {"epochs": 2}})


def test_names_of_systems_that_are_left_out_go_too(inherited):
    """`table1` is the user's, with rows of its own; what the inherited one calls other systems is of no matter."""
    table = {"systems": ["GlobalAtt", "LocalAtt"], "proposed": []}
    own = {"parser": "mine", "parsers": {"mine": {"type": "given"}}, "tables": {"table1": table}}
    text = {"name": "news", "source": "a", "references": ["b"]}
    own["corpora"] = {"tests": [text]}
    experiment = load_experiment(merge_configs(inherited, own), own_config=own, should_check_files=False)
    assert ("systems", "SDRNMT-1") in experiment.omitted_entries and ("tables", "table2") in experiment.omitted_entries
    assert [*experiment.tables["table1"].labels] == ["PBSMT"]
    assert "no CoNLL-U trees of `news`" in experiment.omitted_entries["tables", "controls"]


def test_a_crossing_goes_with_the_table_that_makes_it(inherited):
    own = {"corpora": {"tests": [{"name": "news", "source": "a", "references": ["b"]}]}, "parser": "embedded"}
    experiment = load_experiment(merge_configs(inherited, own), own_config=own, should_check_files=False)
    assert {*experiment.omitted_entries} == {("tables", "controls")} and "SDAtt [gold]" not in experiment.systems
    assert "`SDAtt [gold]` reads" in experiment.omitted_entries["tables", "controls"]
