"""Systems crossed with parsers: systems, labels of rows, and invalid crossings."""

from typing import Any

import pytest

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError

PARSERS = {"gold": {"type": "given"}, "random": {"type": "control", "shape": "random"}}
MEASURES = {"type": "measures", "title": "T", "columns": ["bleu"]}
BLEU = {"title": "T", "baseline": "GlobalAtt"}


def load_with_table(config: dict[str, Any], table: dict[str, Any] | None = None, **overrides: Any) -> Any:
    tables = {} if table is None else {"tables": {"t": table}}
    return load_experiment(config, command_line_config={"parsers": PARSERS, **tables, **overrides})


def test_crossing_copies_its_base_with_another_parser(config):
    config["systems"]["SDAtt"]["training"] = {"epochs": 9}
    experiment = load_with_table(config, {**BLEU, "systems": ["GlobalAtt", "SDAtt", "SDAtt [gold]"]})
    base, crossing = experiment.systems["SDAtt"], experiment.systems["SDAtt [gold]"]
    assert crossing.parser == "gold" and base.parser == "embedded"
    assert crossing.training.epochs == 9 and crossing.model == experiment.model
    assert crossing.model_copy(update={"parser": "embedded"}) == base
    assert {*experiment.systems} == {*config["systems"], "SDAtt [gold]"}, "nothing else is added"
    assert experiment.tables["t"].labels == {}


def test_preset_applies_to_crossings(config):
    config["presets"] = {
        "small": {"systems": {"SDAtt": {"model": {"hidden": 6}}}, "model": {"embedding": 10, "hidden": 10}}
    }
    table = {**BLEU, "systems": ["GlobalAtt", "SDAtt [gold]"]}
    model = load_with_table({**config, "preset": "small"}, table).systems["SDAtt [gold]"].model
    assert (model.hidden, model.embedding) == (6, 10)


def test_crossings_of_every_preset_are_validated(config):
    config["presets"] = {
        "other": {"parsers": PARSERS, "tables": {"t": {**BLEU, "systems": ["GlobalAtt", "SDAtt [gld]"]}}}
    }
    with pytest.raises(InputError, match=r"configuration with preset other: table `t`: .*unknown parser `gld`"):
        load_experiment(config)


def test_crossing_with_the_same_parser_only_changes_the_label(config):
    experiment = load_with_table(
        config, {**BLEU, "systems": ["GlobalAtt", "SDAtt [embedded]", "SDAtt [gold]"], "proposed": ["SDAtt [embedded]"]}
    )
    table = experiment.tables["t"]
    assert "SDAtt [embedded]" not in experiment.systems
    assert table.systems == ["GlobalAtt", "SDAtt", "SDAtt [gold]"] and table.proposed == ["SDAtt"]
    assert table.labels == {"SDAtt": "SDAtt [embedded]"}


@pytest.mark.parametrize(
    ("labels", "expected_labels"),
    [
        ({}, ["SDAtt [embedded]", "SDAtt [gold]"]),
        ({"SDAtt": "Ours"}, ["Ours [embedded]", "Ours [gold]"]),
        ({"SDAtt [embedded]": "a", "SDAtt [gold]": "b"}, ["a", "b"]),
        ({"SDAtt": "Ours", "SDAtt [gold]": "b"}, ["Ours [embedded]", "b"]),
        ({"SDAtt [embedded]": "a", "SDAtt": "Ours"}, ["a", "Ours [gold]"]),
    ],
)
@pytest.mark.parametrize(
    "rows",
    [
        {"systems": ["PBSMT", "SDAtt [embedded]", "SDAtt [gold]"]},
        {"systems": ["PBSMT", "SDAtt"], "parsers": ["embedded", "gold"]},
    ],
    ids=["named", "parsers"],
)
def test_label_of_base_applies_to_crossings(config, rows, labels, expected_labels):
    table = load_with_table(config, {**MEASURES, **rows, "labels": labels}).tables["t"]
    assert [table.labels.get(row, row) for row in table.systems] == ["PBSMT", *expected_labels]


def test_base_row_keeps_its_label(config):
    rows = {"systems": ["SDAtt", "SDAtt [gold]"], "labels": {"SDAtt": "Ours"}}
    assert load_with_table(config, {**MEASURES, **rows}).tables["t"].labels == {
        "SDAtt": "Ours",
        "SDAtt [gold]": "Ours [gold]",
    }


def test_parsers_of_a_table_cross_all_rows_that_read_trees(config):
    table = {
        **MEASURES,
        "systems": ["GlobalAtt", "SDAtt", "Sequential-lexical", "+SDAtt", "Tree2Seq [gold]"],
        "parsers": ["random", "embedded"],
        "marks": [{"symbol": "†", "rows": ["SDAtt"], "against": ["GlobalAtt", "+SDAtt"]}],
    }
    table = load_with_table(config, table).tables["t"]
    assert table.systems == [
        "GlobalAtt",
        "SDAtt [random]",
        "SDAtt",
        "Sequential-lexical",
        "+SDAtt [random]",
        "+SDAtt",
        "Tree2Seq [gold]",
    ]
    assert table.marks[0].rows == ["SDAtt [random]", "SDAtt"]
    assert table.marks[0].against == ["GlobalAtt", "+SDAtt [random]", "+SDAtt"]
    assert table.labels == {"SDAtt": "SDAtt [embedded]", "+SDAtt": "+SDAtt [embedded]"}


def test_bleu_table_is_crossed_with_an_explicit_baseline(config):
    table = {**BLEU, "baseline": "SDAtt [embedded]", "systems": ["SDAtt", "SDRNMT-1"], "proposed": ["SDRNMT-1"]}
    table = load_with_table(config, {**table, "parsers": ["embedded", "gold"]}).tables["t"]
    assert table.systems == ["SDAtt", "SDAtt [gold]", "SDRNMT-1", "SDRNMT-1 [gold]"]
    assert table.baseline == "SDAtt" and table.proposed == ["SDRNMT-1", "SDRNMT-1 [gold]"]


def test_compared_rows_exclude_their_baselines(config):
    parsers = {"systems": ["GlobalAtt", "SDAtt"], "parsers": ["embedded", "gold", "random"]}
    table = load_with_table(config, {**BLEU, **parsers, "baseline": "SDAtt [random]", "proposed": ["SDAtt"]}).tables[
        "t"
    ]
    assert table.baseline == "SDAtt [random]" and table.proposed == ["SDAtt", "SDAtt [gold]"]
    marks = [
        {"symbol": "†", "rows": ["SDAtt"], "against": ["SDAtt [random]", "SDAtt [gold]"]},
        {"symbol": "‡", "rows": ["SDAtt [gold]"], "against": ["SDAtt", "GlobalAtt"]},
    ]
    first, second = load_with_table(config, {**MEASURES, **parsers, "marks": marks}).tables["t"].marks
    assert first.rows == ["SDAtt"] and first.against == ["SDAtt [random]", "SDAtt [gold]"]
    assert second.rows == ["SDAtt [gold]"] and second.against == ["SDAtt", "SDAtt [random]", "GlobalAtt"]


def test_published_names_apply_to_crossings(config):
    published = {
        "paper": "sdatt",
        "table": 1,
        "task": "en-de",
        "names": {"SDAtt [gold]": "SDAtt", "SDAtt [embedded]": "x"},
    }
    table = {**BLEU, "systems": ["GlobalAtt", "SDAtt", "SDAtt [gold]"], "published": published}
    assert load_with_table(config, table).tables["t"].published.names == {"SDAtt [gold]": "SDAtt", "SDAtt": "x"}


def test_ensembles_figures_and_like_may_name_crossings(config):
    systems = {
        "Parsers": {"type": "ensemble", "members": ["Tree2Seq [embedded]", "Tree2Seq [gold]"]},
        "Seq2Seq-capacity": {"like": "Tree2Seq [random]"},
    }
    figures = {
        "f": {"title": "T", "system": "Hierarchical [random]"},
        "own": {"title": "T", "system": "SDAtt [embedded]"},
    }
    experiment = load_with_table(config, systems=systems, figures=figures, targets=["f"])
    assert experiment.systems["Parsers"].members == ["Tree2Seq", "Tree2Seq [gold]"]
    assert experiment.systems["Seq2Seq-capacity"].like == "Tree2Seq [random]"
    assert experiment.figures["f"].system == "Hierarchical [random]" and experiment.figures["own"].system == "SDAtt"
    read = {name: experiment.systems[name].parser for name in ("Tree2Seq [gold]", "Tree2Seq [random]")}
    assert read == {"Tree2Seq [gold]": "gold", "Tree2Seq [random]": "random"}
    assert experiment.requested_parsers == ["random"] and experiment.get_parser_tree_formats("gold") == ["ptb"]


def test_configured_system_may_have_brackets_in_its_name(config):
    systems = {"SDAtt [gold]": {"contexts": ["global"]}, "GlobalAtt [wide]": {"model": {"hidden": 8}}}
    table = {**BLEU, "systems": ["GlobalAtt", "GlobalAtt [wide]", "SDAtt [gold]"]}
    experiment = load_with_table(config, table, systems=systems)
    assert experiment.systems["SDAtt [gold]"].parser is None
    assert experiment.systems["GlobalAtt [wide]"].model.hidden == 8


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"systems": ["PBSMT", "SDAtt [gld]"]}, "table `t`: `SDAtt [gld]`: unknown parser `gld`; did you mean `gold`?"),
        ({"systems": ["PBSMT", "SDAt [gold]"]}, "table `t`: unknown system `SDAt [gold]`; did you mean `SDAtt`?"),
        (
            {"systems": ["PBSMT", "GlobalAtt [gold]"]},
            "table `t`: `GlobalAtt [gold]`: `GlobalAtt` reads no trees, so it cannot be crossed with the parser "
            "`gold`; leave out ` [gold]`",
        ),
        ({"systems": ["PBSMT [gold]"]}, "table `t`: `PBSMT [gold]`: `PBSMT` reads no trees, so"),
        (
            {"systems": ["Tree2Seq-ensemble [gold]"]},
            "table `t`: `Tree2Seq-ensemble [gold]`: an ensemble cannot be crossed with parsers; make one of cro",
        ),
        (
            {"systems": ["Tree2Seq-beam10"], "parsers": ["gold"]},
            "table `t`: `Tree2Seq-beam10`: an ensemble cannot be crossed with parsers; make one of crossed members",
        ),
        ({"systems": ["SDAtt"], "parsers": ["gld"]}, "table `t`: unknown parser `gld`; did you mean `gold`?"),
        (
            {"systems": ["PBSMT"], "parsers": ["gold"]},
            "table `t`: none of its rows has a part that reads trees, so leave out `parsers`",
        ),
        ({"systems": ["SDAt"], "parsers": ["gold"]}, "table `t`: unknown system `SDAt`; did you mean `SDAtt`?"),
        (
            {
                "systems": ["SDAtt"],
                "parsers": ["gold"],
                "marks": [{"symbol": "†", "rows": ["SDAtt"], "against": ["SDAtt"]}],
            },
            "the mark † compares `SDAtt [gold]` with itself",
        ),
        ({"systems": ["SDAtt"], "parsers": ["gold", "gold"]}, "a table may name each parser once; repeated: gold"),
        ({"systems": ["SDAtt"], "seeds": [1, 2, 1]}, "a table may name each seed once; repeated: 1"),
        ({"systems": ["SDAtt", "SDAtt [embedded]"]}, "a table may name each row once; repeated: SDAtt"),
        (
            {"systems": ["SDAtt", "SDAtt [gold]"], "parsers": ["gold"]},
            "a table may name each row once; repeated: SDAtt [g",
        ),
        ({"systems": ["PBSMT"], "labels": {"SDAtt [gld]": "x"}}, "table `t`: `SDAtt [gld]`: unknown parser `gld`"),
        (
            {"systems": ["PBSMT"], "marks": [{"symbol": "†", "rows": ["SDAtt [gld]"], "against": ["PBSMT"]}]},
            "table `t`: `SDAtt [gld]`: unknown parser `gld`",
        ),
        (
            {"systems": ["SDAtt"], "parsers": ["embedded", "gold"], "labels": {"SDAtt": "a\nb"}},
            "tables.t.labels.SDAtt: give printable text on one line",
        ),
        ({"systems": ["SDAtt"], "parsers": "gold"}, "tables.t.parsers: give a list, not gold; did you mean `[gold]`?"),
        (
            {"systems": "SDAtt", "parsers": ["gold"]},
            "tables.t.systems: give a list, not SDAtt; did you mean `[SDAtt]`?",
        ),
        ({"systems": ["SDAtt", 3], "parsers": ["gold"]}, "tables.t.systems.1: give text, not 3; put it in quotes"),
        ({"systems": ["SDAtt"], "parser": ["gold"]}, "unknown key `tables.t.parser`; did you mean `parsers`?"),
    ],
)
def test_error_is_one_sentence(config, overrides, message):
    with pytest.raises(InputError) as caught:
        load_with_table(config, {**MEASURES, **overrides})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value) and str(caught.value).count("table `t`") <= 1


def test_baseline_cannot_be_the_only_proposed_crossing(config):
    table = {**BLEU, "baseline": "SDAtt [gold]", "systems": ["GlobalAtt", "SDAtt"], "parsers": ["gold"]}
    with pytest.raises(InputError, match=r"`SDAtt \[gold\]` is the baseline; it cannot be proposed as well"):
        load_with_table(config, {**table, "proposed": ["SDAtt"]})


def test_crossed_baseline_needs_a_parser(config):
    table = {**BLEU, "baseline": "SDAtt", "systems": ["SDAtt", "GlobalAtt"], "parsers": ["embedded", "gold"]}
    with pytest.raises(InputError) as caught:
        load_with_table(config, table)
    assert str(caught.value) == (
        "configuration: table `t`: its baseline `SDAtt` is crossed with parsers; "
        "name one of `SDAtt [embedded]`, `SDAtt [gold]`"
    )


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"figures": {"f": {"title": "T", "system": "SDAtt [gld]"}}},
            "figure `f`: `SDAtt [gld]`: unknown parser `gld`",
        ),
        (
            {"systems": {"E": {"type": "ensemble", "members": ["SDAtt [gld]"]}}},
            "system `E`: `SDAtt [gld]`: unknown parser `gld`; did you mean `gold`?",
        ),
        (
            {"systems": {"SDAtt": {"like": "Tree2Sq [gold]"}}},
            "system `SDAtt`: unknown system `Tree2Sq [gold]`; did you",
        ),
    ],
)
def test_invalid_crossings_in_figures_and_systems_are_rejected(config, overrides, message):
    with pytest.raises(InputError) as caught:
        load_with_table(config, **overrides)
    assert message in str(caught.value) and str(caught.value).count("unknown") == 1


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"contexts": [{"type": "syntax", "windw": 3}]}, "unknown key `systems.SDAtt.contexts.0.windw`; did you mean"),
        (
            {"training": {"epochs": None, "optimizer": {"schedule": "constant"}}},
            "system `SDAtt`: training: give `epochs`, `updates` or both",
        ),
        (
            {"contexts": ["global"], "parser": "embedded"},
            "system `SDAtt` names a parser, but none of its parts reads syntax; leave it out",
        ),
        ({"training": {"clip": -1}}, "systems.SDAtt.training.clip: input should be greater than 0, not -1"),
    ],
)
def test_error_of_the_base_is_reported_once(config, overrides, message):
    table = {**MEASURES, "systems": ["SDAtt"], "parsers": ["embedded", "gold", "random"]}
    with pytest.raises(InputError) as caught:
        load_with_table(config, table, systems={"SDAtt": overrides})
    assert str(caught.value).count("SDAtt") == 1 and message in str(caught.value)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"parsers": 3}, "parsers: give a mapping"),
        ({"tables": 3}, "tables: give a mapping"),
        (
            {"tables": {"t": {**MEASURES, "systems": ["SDAtt"], "marks": ["SDAtt"]}}},
            "tables.t.marks.0: give a mapping",
        ),
        ({"figures": {"f": 3}}, "figures.f: give a mapping"),
        ({"systems": {"SDAtt": {"parser": ["gold"]}}}, "systems.SDAtt.parser: give text"),
    ],
)
def test_malformed_values_are_reported_by_validation(config, overrides, message):
    with pytest.raises(InputError, match=message):
        load_experiment(config, command_line_config=overrides)
