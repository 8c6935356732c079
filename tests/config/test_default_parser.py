"""The default parser of an experiment: its systems, its name in tables, and the text that it may read."""

import pytest

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError

GOLD = {"gold": {"type": "given"}}
MEASURES = {"type": "measures", "title": "T", "columns": ["bleu"]}


def test_default_parser_applies_to_systems_that_read_trees(config):
    systems = {"SDAtt": {"parser": "embedded"}, "Pieces": {"contexts": ["syntax"], "parser": None}}
    over = {"parsers": GOLD, "parser": "gold", "systems": systems}
    read = {name: system.parser for name, system in load_experiment(config, command_line_config=over).systems.items()}
    assert read["SDAtt"] == "embedded"
    assert {read[name] for name in ("Pieces", "+SDAtt", "SDRNMT-1", "Tree2Seq", "Dep2Seq", "Hierarchical")} == {"gold"}
    systems_without_trees = ("GlobalAtt", "PBSMT", "Seq2Seq", "Sequential-lexical", "Tree2Seq-ensemble")
    assert {read[name] for name in systems_without_trees} == {None}


def test_system_without_a_parser_is_an_error(config):
    config["tables"] = {}
    with pytest.raises(
        InputError, match="system `SDAtt` reads distances: name its `parser`, or that of all systems in"
    ):
        load_experiment(config, command_line_config={"parser": None})


def test_default_in_tables_means_the_default_parser(config):
    tables = {
        "crossed": {**MEASURES, "systems": ["SDAtt"], "parsers": ["default", "embedded"], "parsed_by": "default"},
        "named": {**MEASURES, "systems": ["SDAtt [default]", "Tree2Seq [embedded]"]},
        "parses": {"type": "parses", "title": "T", "parser": "default"},
    }
    experiment = load_experiment(config, command_line_config={"parsers": GOLD, "parser": "gold", "tables": tables})
    tables = experiment.tables
    assert tables["crossed"].systems == ["SDAtt", "SDAtt [embedded]"] and tables["crossed"].parsed_by == "gold"
    assert tables["crossed"].labels == {"SDAtt": "SDAtt [gold]"}
    assert tables["named"].systems == ["SDAtt", "Tree2Seq [embedded]"]
    assert tables["parses"].parser == "gold"
    tables_with_both_names = {
        "t": {**MEASURES, "systems": ["SDAtt"], "parsers": ["default", "gold"], "parsed_by": "default"}
    }
    table = load_experiment(
        config, command_line_config={"parsers": GOLD, "parser": "gold", "tables": tables_with_both_names}
    ).tables["t"]
    assert table.parsers == ["gold"] and table.systems == ["SDAtt"] and table.parsed_by == "gold"
    systems = {"X": {"contexts": ["syntax"], "parser": "gold"}}
    tables = {"t": {**MEASURES, "systems": ["X [default]"]}}
    overrides = {"parsers": GOLD, "systems": systems, "tables": tables}
    other_experiment = load_experiment(config, command_line_config=overrides)
    assert (
        other_experiment.tables["t"].systems == ["X [embedded]"]
        and other_experiment.systems["X [embedded]"].parser == "embedded"
    )


@pytest.fixture
def text_in_files(tmp_path):
    """Return corpora with one test set in files."""
    for name in ("a", "b"):
        (tmp_path / name).write_text("x\n")
    text = {"name": "news", "source": str(tmp_path / "a"), "references": [str(tmp_path / "b")]}
    return {"corpora": {"tests": [{"name": "long", "generate": {"sentences": 20}}, text]}}


def test_parser_of_generated_trees_is_rejected_for_text_in_files(config, text_in_files):
    with pytest.raises(InputError) as caught:
        load_experiment(config, command_line_config=text_in_files)
    assert str(caught.value) == (
        "configuration: parser: `embedded` is trained on generated trees, but the text of `news` is in files; name a "
        "parser for such text in `parser` (docs/how_to/parsers.md lists the types), or choose `targets` that read no "
        "trees; to use it on purpose, write `parser: embedded` in a file of your own"
    )


@pytest.mark.parametrize(
    "named_config",
    [
        {"parser": "embedded"},
        {"systems": {"SDAtt": {"parser": "embedded"}}},
        {"tables": {"t": {**MEASURES, "systems": ["SDAtt"], "parsers": ["embedded"]}}},
        {"tables": {"t": {**MEASURES, "systems": ["SDAtt [embedded]"]}}},
        {"tables": {"t": {"type": "parses", "title": "T", "parser": "embedded"}}},
    ],
)
def test_parser_of_generated_trees_is_accepted_by_name(config, text_in_files, named_config):
    assert not load_experiment(
        config, command_line_config={**text_in_files, **named_config}
    ).generator_only_parser_errors


def test_parser_of_generated_trees_is_accepted_if_targets_read_no_trees(config, text_in_files):
    table = {**MEASURES, "systems": ["GlobalAtt", "LocalAtt"]}
    experiment = load_experiment(
        config, command_line_config={**text_in_files, "tables": {"t": table}, "targets": ["t"]}
    )
    assert [*experiment.generator_only_parser_errors] == ["embedded"]


def test_other_parsers_are_accepted_for_text_in_files(config, text_in_files):
    random = {"parsers": {"random": {"type": "control", "shape": "random"}}, "parser": "random"}
    load_experiment(config, command_line_config={**text_in_files, **random})
    preset = {"presets": {"real": random}, "preset": "real"}
    load_experiment({**config, **preset}, command_line_config=text_in_files)
