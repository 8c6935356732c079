"""Inherited entries that are incompatible with an experiment are omitted; entries in its own files are errors."""

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


def load_with_overrides(inherited: dict[str, Any], own_config: dict[str, Any]) -> Any:
    return load_experiment(merge_configs(inherited, own_config), own_config=own_config)


CROSSED = "table `controls`: its baseline `GlobalAtt` is crossed with parsers; name one of "
SYNTACTIC = {"systems": {"GlobalAtt": {"contexts": ["syntax"]}}}


def test_incompatible_inherited_table_is_omitted(inherited):
    experiment = load_with_overrides(inherited, SYNTACTIC)
    assert {*experiment.omitted_entries} == {("tables", "controls")} and "controls" not in experiment.tables
    assert experiment.systems["GlobalAtt"].required_syntax_names == ["distances"]
    assert format_omission_warning(experiment.omitted_entries) == (
        "Left out from config.yaml, since incompatible with this experiment's own settings: `controls`; "
        f"{CROSSED}`GlobalAtt [embedded]`, `GlobalAtt [gold]`."
    )


@pytest.mark.parametrize(
    "naming_config",
    [{"targets": ["controls"]}, {"tables": {"controls": {"title": "Is it structure?"}}}, {"preset": "p"}],
)
def test_incompatible_table_in_overrides_is_an_error(inherited, naming_config):
    own_config = {
        **SYNTACTIC,
        "presets": {"p": {"targets": ["controls"]}} if "preset" in naming_config else {},
        **naming_config,
    }
    with pytest.raises(InputError, match="its baseline `GlobalAtt` is crossed"):
        load_with_overrides(inherited, own_config)


def test_contrastive_sets_are_not_inherited_with_other_training_text(inherited):
    inherited["corpora"]["contrast"] = [{"name": "gender", "generate": {"sentences": 9, "kinds": ["gender"]}}]
    inherited["tables"]["contrasts"] = {**MEASURES, "systems": ["GlobalAtt"], "columns": ["contrast"]}
    inherited["targets"] = ["table1", "contrasts"]
    assert [*load_with_overrides(inherited, {"name": "x"}).corpora.contrastive_sets] == ["gender"]
    other_corpora = {"corpora": {"train": {"generate": {"sentences": 99}}}}
    experiment = load_with_overrides(inherited, other_corpora)
    assert not experiment.corpora.contrast and experiment.targets == ["table1"]
    assert "contrasts" not in experiment.tables and not experiment.omitted_entries, "no warning is needed"
    assert load_with_overrides({**inherited, "targets": ["contrasts"]}, other_corpora).targets is None
    with pytest.raises(InputError, match="name contrastive sets"):
        load_with_overrides(inherited, {**other_corpora, "tables": {"contrasts": {"title": "M"}}})
    own_config = {"corpora": {**other_corpora["corpora"], "contrast": inherited["corpora"]["contrast"]}}
    assert [*load_with_overrides(inherited, own_config).corpora.contrastive_sets] == ["gender"]


def test_incompatible_table_without_inheritance_is_an_error(inherited):
    with pytest.raises(InputError, match="its baseline `GlobalAtt` is crossed"):
        load_experiment(merge_configs(inherited, SYNTACTIC))


def test_omitted_systems_omit_dependent_entries(inherited):
    experiment = load_with_overrides(inherited, {"model": {"embedding": 101, "hidden": 101}})
    omitted = experiment.omitted_entries
    assert ("systems", "Hierarchical-gated") in omitted and ("systems", "Tree-based") not in omitted
    assert {("tables", "hierarchical/table3"), ("figures", "hierarchical/attention")} <= {*omitted}
    assert "each direction has half the hidden size, but 101 is odd" in omitted["tables", "hierarchical/table3"]
    assert {"table1", "hierarchical/table2", "tree2seq/table9"} <= {*experiment.tables}
    warning = format_omission_warning(omitted)
    assert ": `hierarchical/attention`, `hierarchical/table3`, `hierarchical/table4`; systems." in warning
    assert warning.count("101 is odd") == 1 and "name these in `targets`" in warning


def test_incompatible_system_of_an_own_table_is_an_error(inherited):
    table = {**MEASURES, "systems": ["GlobalAtt", "Hierarchical-gated"]}
    with pytest.raises(InputError) as caught:
        load_with_overrides(inherited, {"model": {"embedding": 101, "hidden": 101}, "tables": {"mine": table}})
    assert str(caught.value) == (
        "configuration: systems.Hierarchical-gated: each direction has half the hidden size, but 101 is odd"
    )


def test_error_in_overrides_is_reported_without_inherited_errors(inherited):
    with pytest.raises(InputError) as caught:
        load_with_overrides(inherited, {**SYNTACTIC, "tables": {"mine": {**MEASURES, "systems": ["SDAt [gold]"]}}})
    assert str(caught.value) == "configuration: table `mine`: unknown system `SDAt [gold]`; did you mean `SDAtt`?"


def test_invalid_inherited_table_is_an_error(inherited):
    inherited["tables"]["controls"] = {**CONTROLS, "baselin": "SDAtt"}
    with pytest.raises(InputError, match=r"unknown key `tables.controls.baselin`"):
        load_with_overrides(inherited, {"training": {"epochs": 2}})


def test_labels_of_omitted_systems_are_removed(inherited):
    """Overriding the rows of `table1` also removes the inherited labels of other systems."""
    table = {"systems": ["GlobalAtt", "LocalAtt"], "proposed": []}
    own_config = {"parser": "mine", "parsers": {"mine": {"type": "given"}}, "tables": {"table1": table}}
    text = {"name": "news", "source": "a", "references": ["b"]}
    own_config["corpora"] = {"tests": [text]}
    experiment = load_experiment(merge_configs(inherited, own_config), own_config=own_config, should_check_files=False)
    assert ("systems", "SDRNMT-1") in experiment.omitted_entries and ("tables", "table2") in experiment.omitted_entries
    assert [*experiment.tables["table1"].labels] == ["PBSMT"]
    assert "no CoNLL-U trees of `news`" in experiment.omitted_entries["tables", "controls"]


def test_invalid_crossing_omits_its_table(inherited):
    own_config = {"corpora": {"tests": [{"name": "news", "source": "a", "references": ["b"]}]}, "parser": "embedded"}
    experiment = load_experiment(merge_configs(inherited, own_config), own_config=own_config, should_check_files=False)
    assert {*experiment.omitted_entries} == {("tables", "controls")} and "SDAtt [gold]" not in experiment.systems
    assert "`SDAtt [gold]` reads" in experiment.omitted_entries["tables", "controls"]
