"""Contrastive sets in the configuration: what reads them, what they are refused for."""

from typing import Any

import pytest

from embedded_grammar.syntactic_phenomena import ContrastiveErrorKind
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError

SETS = [{"name": "negation", "file": ["a.tsv", "b.json.gz"]}, {"name": "gender", "file": "c.tsv"}]
MEASURED = {"type": "measures", "title": "M", "systems": ["PBSMT", "GlobalAtt"], "columns": ["bleu", "contrast"]}


def experiment(config: dict[str, Any], **over: Any):
    over = {"corpora": {"contrast": SETS}, "targets": ["table2"], **over}
    return load_experiment(config, command_line_config=over, should_check_files=False)


def test_a_set_is_of_one_file_or_several(config):
    found = experiment(config, data="d", tables={"mine": MEASURED}, targets=["mine"])
    assert found.corpora.contrastive_sets["gender"].file == ["c.tsv"]
    assert {"d/a.tsv", "d/b.json.gz", "d/c.tsv"} <= {*found.collect_file_paths()}
    assert found.corpora.splits_and_contrastive_sets == [
        "train",
        "dev",
        "mixed",
        "long",
        "particles",
        "negation",
        "gender",
    ]
    assert "negation" not in found.corpora.splits


def test_files_have_to_be_there(config):
    with pytest.raises(InputError, match=r"a\.tsv: no such file \(and 2 more\)"):
        load_experiment(
            config,
            command_line_config={"corpora": {"contrast": SETS}, "targets": ["mine"], "tables": {"mine": MEASURED}},
        )


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([{"name": "long", "file": "a"}], "test sets need different names; repeated: long"),
        ([{"name": "dev", "file": "a"}], "a test set cannot be called `dev`"),
        ([{"name": "a/b", "file": "a"}], "corpora.contrast.0.name"),
        ([{"name": "a", "file": []}], "corpora.contrast.0: give a `file`, or `generate`"),
        ([{"name": "a"}], "corpora.contrast.0: give a `file`, or `generate`"),
        ([{"name": "a", "generate": {"sentences": 5, "kinds": ["cases"]}}], "corpora.contrast.0.generate.kinds.0"),
        ([{"name": "a", "generate": {"sentences": 5, "kinds": []}}], "corpora.contrast.0.generate.kinds"),
    ],
)
def test_mistakes(config, sets, message):
    with pytest.raises(InputError) as told:
        experiment(config, corpora={"contrast": sets})
    assert message in str(told.value)


def test_a_column_needs_sets(config):
    with pytest.raises(
        InputError, match=r"table `mine`: has a column `contrast`; name contrastive sets in `corpora\.contrast`"
    ):
        experiment(config, corpora={}, tables={"mine": MEASURED})


def test_tables_of_bleu_and_those_with_the_column_try_systems_on_them(config):
    plain = {**MEASURED, "columns": ["bleu"]}
    found = experiment(config, tables={"mine": MEASURED, "plain": plain})
    tried = {name: table.get_contrastive_sets(found.corpora) for name, table in found.tables.items()}
    assert tried["mine"] == tried["table1"] == ["negation", "gender"]
    assert tried["plain"] == tried["tree2seq/table12"] == []


def test_only_networks_that_are_tried_need_trees_of_them(config):
    """Those of text in files, which the generator's trees are not of."""
    config["parsers"]["gold"] = {"type": "given"}
    config["systems"]["Given"] = {"contexts": [{"type": "syntax", "window": 4}], "parser": "gold"}
    tables = {"mine": {**MEASURED, "systems": ["Given", "GlobalAtt"]}}
    message = "no CoNLL-U trees of `negation`, `gender`, which `Given` reads; give `trees.negation.conllu`, `trees.g"
    with pytest.raises(InputError, match=message):
        experiment(config, tables=tables, targets=["mine"])
    tables["mine"] = {**tables["mine"], "columns": ["bleu"]}
    assert experiment(config, tables=tables, targets=["mine"]).can_provide_trees("gold", "conllu")
    given = {"gold": {"type": "given", "trees": {name: {"conllu": name} for name in ("negation", "gender")}}}
    tables["mine"] = {**tables["mine"], "columns": ["contrast"]}
    found = experiment(config, tables=tables, targets=["mine"], parsers=given)
    assert found.resolve_tree_files("gold", "gender", "conllu") == ["gender"]


def test_a_generated_set_needs_no_trees_from_users(config):
    over = {"parsers": {"given": {"type": "given"}}, "parser": "given"}
    made = {"name": "made", "generate": {"sentences": 20, "kinds": ["case", "agreement"]}}
    found = experiment(config, corpora={"contrast": [made]}, **over)
    assert found.corpora.is_generated_by_split["made"] and "made" not in found.splits_in_files
    with_files = experiment(config, corpora={"contrast": [{**made, "file": "a.tsv"}]})
    assert not with_files.corpora.is_generated_by_split["made"]
    every = experiment(config, corpora={"contrast": [{"name": "made", "generate": {"sentences": 20}}]})
    assert every.corpora.contrastive_sets["made"].generate.kinds == [*ContrastiveErrorKind]
