"""The experiment's parser: which systems get it, what tables call it, and which text it may read."""

import pytest

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError

GOLD = {"gold": {"type": "given"}}
MEASURES = {"type": "measures", "title": "T", "columns": ["bleu"]}


def test_systems_that_read_trees_and_name_no_parser_have_that_of_the_experiment(config):
    systems = {"SDAtt": {"parser": "embedded"}, "Pieces": {"contexts": ["syntax"], "parser": None}}
    over = {"parsers": GOLD, "parser": "gold", "systems": systems}
    read = {name: system.parser for name, system in load_experiment(config, command_line_config=over).systems.items()}
    assert read["SDAtt"] == "embedded"
    assert {read[name] for name in ("Pieces", "+SDAtt", "SDRNMT-1", "Tree2Seq", "Dep2Seq", "Hierarchical")} == {"gold"}
    without = ("GlobalAtt", "PBSMT", "Seq2Seq", "Sequential-lexical", "Tree2Seq-ensemble")
    assert {read[name] for name in without} == {None}


def test_a_system_without_any_parser_is_told(config):
    config["tables"] = {}
    with pytest.raises(
        InputError, match="system `SDAtt` reads distances: name its `parser`, or that of all systems in"
    ):
        load_experiment(config, command_line_config={"parser": None})


def test_tables_call_it_default(config):
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
    beside = {"t": {**MEASURES, "systems": ["SDAtt"], "parsers": ["default", "gold"], "parsed_by": "default"}}
    same = load_experiment(config, command_line_config={"parsers": GOLD, "parser": "gold", "tables": beside}).tables[
        "t"
    ]
    assert same.parsers == ["gold"] and same.systems == ["SDAtt"] and same.parsed_by == "gold"
    moved = load_experiment(config, command_line_config={"parsers": GOLD, "systems": {"X": {"contexts": ["syntax"], "parser": "gold"}},
                                       "tables": {"t": {**MEASURES, "systems": ["X [default]"]}}})  # fmt: skip
    assert moved.tables["t"].systems == ["X [embedded]"] and moved.systems["X [embedded]"].parser == "embedded"


@pytest.fixture
def in_files(tmp_path):
    """Corpora of which one test set is in files."""
    for name in ("a", "b"):
        (tmp_path / name).write_text("x\n")
    text = {"name": "news", "source": str(tmp_path / "a"), "references": [str(tmp_path / "b")]}
    return {"corpora": {"tests": [{"name": "long", "generate": {"sentences": 20}}, text]}}


def test_a_parser_of_generated_trees_reads_no_text_in_files(config, in_files):
    with pytest.raises(InputError) as caught:
        load_experiment(config, command_line_config=in_files)
    assert str(caught.value) == (
        "configuration: parser: `embedded` is trained on generated trees, but the text of `news` is in files; name a "
        "parser for such text in `parser` (docs/how_to/parsers.md lists the types), or choose `targets` that read no trees; "
        "to use it on purpose, write `parser: embedded` in a file of your own"
    )


@pytest.mark.parametrize(
    "said",
    [
        {"parser": "embedded"},
        {"systems": {"SDAtt": {"parser": "embedded"}}},
        {"tables": {"t": {**MEASURES, "systems": ["SDAtt"], "parsers": ["embedded"]}}},
        {"tables": {"t": {**MEASURES, "systems": ["SDAtt [embedded]"]}}},
        {"tables": {"t": {"type": "parses", "title": "T", "parser": "embedded"}}},
    ],
)
def test_unless_it_is_asked_for_by_name(config, in_files, said):
    assert not load_experiment(config, command_line_config={**in_files, **said}).generator_only_parsers


def test_what_reads_no_trees_needs_no_parser_of_them(config, in_files):
    table = {**MEASURES, "systems": ["GlobalAtt", "LocalAtt"]}
    experiment = load_experiment(config, command_line_config={**in_files, "tables": {"t": table}, "targets": ["t"]})
    assert [*experiment.generator_only_parsers] == ["embedded"], "for what else is asked for by its path"


def test_another_parser_reads_such_text(config, in_files):
    random = {"parsers": {"random": {"type": "control", "shape": "random"}}, "parser": "random"}
    load_experiment(config, command_line_config={**in_files, **random})
    preset = {"presets": {"real": random}, "preset": "real"}
    load_experiment({**config, **preset}, command_line_config=in_files)
