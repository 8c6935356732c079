"""Contrastive sets in the configuration: their readers and invalid options."""

from typing import Any

import pytest

from embedded_grammar.syntactic_phenomena import ContrastiveErrorKind
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError

SETS = [{"name": "negation", "file": ["a.tsv", "b.json.gz"]}, {"name": "gender", "file": "c.tsv"}]
MEASURED = {"type": "measures", "title": "M", "systems": ["PBSMT", "GlobalAtt"], "columns": ["bleu", "contrast"]}


def load_with_contrast(config: dict[str, Any], **over: Any):
    over = {"corpora": {"contrast": SETS}, "targets": ["table2"], **over}
    return load_experiment(config, command_line_config=over, should_check_files=False)


def test_set_has_one_file_or_several(config):
    loaded_experiment = load_with_contrast(config, data="d", tables={"mine": MEASURED}, targets=["mine"])
    assert loaded_experiment.corpora.contrastive_sets["gender"].file == ["c.tsv"]
    assert {"d/a.tsv", "d/b.json.gz", "d/c.tsv"} <= {*loaded_experiment.collect_file_paths()}
    assert loaded_experiment.corpora.splits_and_contrastive_sets == [
        "train",
        "dev",
        "mixed",
        "long",
        "particles",
        "negation",
        "gender",
    ]
    assert "negation" not in loaded_experiment.corpora.splits


def test_missing_files_are_reported(config):
    with pytest.raises(InputError, match=r"a\.tsv: no such file \(and 2 more\)"):
        load_experiment(
            config,
            command_line_config={"corpora": {"contrast": SETS}, "targets": ["mine"], "tables": {"mine": MEASURED}},
        )


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([{"name": "long", "file": "a"}], "test sets and length texts need different names; repeated: long"),
        ([{"name": "dev", "file": "a"}], "a test set or length text cannot be called `dev`"),
        ([{"name": "a/b", "file": "a"}], "corpora.contrast.0.name"),
        ([{"name": "a", "file": []}], "corpora.contrast.0: give a `file`, or `generate`"),
        ([{"name": "a"}], "corpora.contrast.0: give a `file`, or `generate`"),
        ([{"name": "a", "generate": {"sentences": 5, "kinds": ["cases"]}}], "corpora.contrast.0.generate.kinds.0"),
        ([{"name": "a", "generate": {"sentences": 5, "kinds": []}}], "corpora.contrast.0.generate.kinds"),
    ],
)
def test_invalid_sets_are_rejected(config, sets, message):
    with pytest.raises(InputError) as error:
        load_with_contrast(config, corpora={"contrast": sets})
    assert message in str(error.value)


def test_contrast_column_needs_sets(config):
    with pytest.raises(
        InputError, match=r"table `mine`: has a column `contrast`; name contrastive sets in `corpora\.contrast`"
    ):
        load_with_contrast(config, corpora={}, tables={"mine": MEASURED})


def test_bleu_tables_and_contrast_columns_use_contrastive_sets(config):
    plain = {**MEASURED, "columns": ["bleu"]}
    loaded_experiment = load_with_contrast(config, tables={"mine": MEASURED, "plain": plain})
    tried = {
        name: table.get_contrastive_sets(loaded_experiment.corpora) for name, table in loaded_experiment.tables.items()
    }
    assert tried["mine"] == tried["table1"] == ["negation", "gender"]
    assert tried["plain"] == tried["tree2seq/table12"] == []


def test_trees_of_contrastive_sets_are_needed_only_by_evaluated_networks(config):
    config["parsers"]["gold"] = {"type": "given"}
    config["systems"]["Given"] = {"contexts": [{"type": "syntax", "window": 4}], "parser": "gold"}
    tables = {"mine": {**MEASURED, "systems": ["Given", "GlobalAtt"]}}
    message = "no CoNLL-U trees of `negation`, `gender`, which `Given` reads; give `trees.negation.conllu`, `trees.g"
    with pytest.raises(InputError, match=message):
        load_with_contrast(config, tables=tables, targets=["mine"])
    tables["mine"] = {**tables["mine"], "columns": ["bleu"]}
    assert load_with_contrast(config, tables=tables, targets=["mine"]).can_provide_trees("gold", "conllu")
    tree_parsers = {"gold": {"type": "given", "trees": {name: {"conllu": name} for name in ("negation", "gender")}}}
    tables["mine"] = {**tables["mine"], "columns": ["contrast"]}
    loaded_experiment = load_with_contrast(config, tables=tables, targets=["mine"], parsers=tree_parsers)
    assert loaded_experiment.resolve_tree_files("gold", "gender", "conllu") == ["gender"]


def test_generated_set_needs_no_files(config):
    over = {"parsers": {"given": {"type": "given"}}, "parser": "given"}
    generated_set = {"name": "made", "generate": {"sentences": 20, "kinds": ["case", "agreement"]}}
    loaded_experiment = load_with_contrast(config, corpora={"contrast": [generated_set]}, **over)
    assert loaded_experiment.corpora.is_generated_by_split["made"] and "made" not in loaded_experiment.splits_in_files
    with_files = load_with_contrast(config, corpora={"contrast": [{**generated_set, "file": "a.tsv"}]})
    assert not with_files.corpora.is_generated_by_split["made"]
    every = load_with_contrast(config, corpora={"contrast": [{"name": "made", "generate": {"sentences": 20}}]})
    assert every.corpora.contrastive_sets["made"].generate.kinds == [*ContrastiveErrorKind]
