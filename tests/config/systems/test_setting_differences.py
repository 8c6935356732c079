"""Differences in settings between rows of a table: notes and warnings."""

from typing import Any

import pytest

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.config.systems.setting_differences import (
    collect_differing_settings,
    find_setting_differences,
    format_difference_warning,
    format_table_notes,
)

MEASURES = {"type": "measures", "title": "T", "columns": ["bleu"]}


def load_with_table(config: dict[str, Any], rows: list[str], systems: dict[str, Any], **over: Any) -> Any:
    tables = {"t": {**MEASURES, "systems": rows, **over.pop("table", {})}}
    return load_experiment(config, command_line_config={"systems": systems, "tables": tables, **over})


def format_notes(experiment: Any) -> list[str]:
    return format_table_notes(experiment, experiment.tables["t"])


@pytest.mark.parametrize(
    ("systems", "sentence"),
    [
        ({"FlexAtt": {"decoding": {"beam": 9}}}, "Rows differ in search: beam 5 (GlobalAtt, PLAIN); beam 9 (FlexAtt)."),
        (
            {"FlexAtt": {"decoding": {"beam": [5, 9], "retry_beam": 20}}},
            "Rows differ in search: beam 5, retry_beam null (GlobalAtt, PLAIN); beam [5, 9], retry_beam 20 (FlexAtt).",
        ),
        (
            {"FlexAtt": {"decoding": {"length_model": True}}},
            "Rows differ in search: length_model false (GlobalAtt, PLAIN); length_model true (FlexAtt).",
        ),
        (
            {"FlexAtt": {"training": {"epochs": None, "updates": 9, "optimizer": {"learning_rate": 0.1}}}},
            "Rows differ in training: optimizer.learning_rate 0.01, epochs 2, updates null (GlobalAtt, PLAIN); "
            "optimizer.learning_rate 0.1, epochs null, updates 9 (FlexAtt).",
        ),
        (
            {"FlexAtt": {"training": {"early_stopping": "bleu"}}},
            "Rows differ in training: early_stopping loss (GlobalAtt, PLAIN); early_stopping bleu (FlexAtt).",
        ),
        (
            {"FlexAtt": {"training": {"max_length": 9}}},
            "Rows differ in data: max_length 80 (GlobalAtt, PLAIN); max_length 9 (FlexAtt).",
        ),
        (
            {"FlexAtt": {"subword": "pieces"}},
            "Rows differ in units: scheme words, generalise null (GlobalAtt, PLAIN); "
            "scheme bpe, merges 1200, generalise 3 (FlexAtt).",
        ),
    ],
)
def test_each_kind_of_settings_has_a_note(config, systems, sentence):
    rows = ["GlobalAtt", "LocalAtt", "FlexAtt"]
    experiment = load_with_table(config, rows, systems, table={"labels": {"LocalAtt": "PLAIN"}})
    assert format_notes(experiment) == [sentence]
    assert f"`about: [{sentence.split()[3].rstrip(':')}]`" in format_difference_warning(experiment, "t")


def test_many_equal_rows_are_not_listed(config):
    rows = ["PBSMT", "GlobalAtt", "LocalAtt", "FlexAtt", "SDAtt", "+LocalAtt", "+SDAtt", "Seq2Seq"]
    experiment = load_with_table(config, rows, {"GlobalAtt": {"decoding": {"beam": 9}}})
    assert format_notes(experiment) == ["Rows differ in search: beam 9 (GlobalAtt); beam 5 (all other rows)."]
    fewer = load_with_table(config, rows[:6], {"GlobalAtt": {"decoding": {"beam": 9}}})
    assert format_notes(fewer) == [
        "Rows differ in search: beam 9 (GlobalAtt); beam 5 (LocalAtt, FlexAtt, SDAtt, +LocalAtt)."
    ]


def test_equal_rows_have_no_notes(config):
    """Settings without effect on results and parts of the composition are not reported."""
    systems = {
        "FlexAtt": {"decoding": {"batch_size": 3, "n_best": 2, "attention": True}, "model": {"hidden": 9}},
        "LocalAtt": {"training": {"checkpoint_minutes": 1, "tensorboard": True}, "loss": {"type": "blackout"}},
    }
    experiment = load_with_table(config, ["PBSMT", "GlobalAtt", "FlexAtt", "LocalAtt", "SDAtt"], systems)
    assert format_notes(experiment) == [] and format_difference_warning(experiment, "t") is None
    assert collect_differing_settings(experiment, experiment.tables["t"]) == {}


def test_about_suppresses_warnings_but_not_notes(config):
    systems = {"FlexAtt": {"decoding": {"beam": 9}, "training": {"epochs": 1}}}
    rows = ["GlobalAtt", "FlexAtt"]
    experiment = load_with_table(config, rows, systems)
    assert format_difference_warning(experiment, "t") == (
        "Table `t`: its systems also differ in search: beam 5 (GlobalAtt); beam 9 (FlexAtt), and in training: epochs 2 "
        "(GlobalAtt); epochs 1 (FlexAtt); give them the same settings, or allow it in the table by "
        "`about: [search, training]`."
    )
    about_search = load_with_table(config, rows, systems, table={"about": ["search"]})
    warning = format_difference_warning(about_search, "t")
    assert "search" not in warning and "training" in warning
    assert format_notes(about_search) == format_notes(experiment) and len(format_notes(about_search)) == 2
    assert (
        format_difference_warning(load_with_table(config, rows, systems, table={"about": ["search", "training"]}), "t")
        is None
    )


def test_units_of_phrase_based_systems_give_a_note_without_a_warning(config):
    experiment = load_with_table(config, ["PBSMT", "GlobalAtt"], {}, subword={"scheme": "bpe", "merges": 70})
    assert format_notes(experiment) == [
        "Rows differ in units: scheme words (PBSMT); scheme bpe, merges 70 (GlobalAtt)."
    ]
    assert format_difference_warning(experiment, "t") is None


def test_decoding_applies_to_all_systems_without_own_search_settings(config):
    experiment = load_experiment(config, command_line_config={"decoding": {"beam": 2, "length_model": True}})
    own_search_systems = {"Tree2Seq-beam10", "Tree2Seq-beam15", "Tree2Seq-beam20", "Tree2Seq-length-model"}
    for name, system in experiment.systems.items():
        if experiment.is_neural(name) and name not in own_search_systems:
            assert (system.decoding.beam, system.decoding.length_model) == (2, True), name
    searches = [experiment.systems[row].decoding for row in experiment.tables["tree2seq/table5"].systems]
    assert [(search.beam, search.length_model) for search in searches] == [
        (20, True),
        (10, False),
        (15, False),
        (20, False),
    ]


def test_default_tables_need_no_warning(config):
    experiment = load_experiment(config)
    differing = {
        name: [difference.setting_kind for difference in find_setting_differences(experiment, table.systems)]
        for name, table in experiment.tables.items()
        if getattr(table, "systems", None)
    }
    assert {name: kinds for name, kinds in differing.items() if kinds} == {
        "tree2seq/table5": ["search"],
        "tree2seq/table8": ["training"],
        "hierarchical/table3": ["units"],
        "transformers": ["training", "data"],
    }
    assert not [name for name in experiment.tables if format_difference_warning(experiment, name)]


def test_search_settings_of_all_rows_of_a_network_are_collected(config):
    systems = {"Wide": {"type": "ensemble", "members": ["GlobalAtt"], "decoding": {"beam": 9}}}
    experiment = load_with_table(
        config, ["GlobalAtt", "Wide", "FlexAtt"], {**systems, "FlexAtt": {"training": {"epochs": 1}}}
    )
    assert collect_differing_settings(experiment, experiment.tables["t"]) == {
        ("GlobalAtt", "training"): "epochs 2",
        ("FlexAtt", "training"): "epochs 1",
        ("GlobalAtt", "search"): "beam 5; Wide: beam 9",
        ("FlexAtt", "search"): "beam 5",
    }


def test_different_settings_of_members_are_joined(config):
    systems = {
        "FlexAtt": {"training": {"epochs": 1}},
        "Both": {"type": "ensemble", "members": ["GlobalAtt", "FlexAtt"]},
    }
    experiment = load_with_table(config, ["GlobalAtt", "Both"], systems)
    assert format_notes(experiment) == ["Rows differ in training: epochs 2 (GlobalAtt); epochs 2 or 1 (Both)."]
