"""Trees in the user's files: files of each split, and errors about missing files."""

from typing import Any

import pytest

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError

GOLD = {"parsers": {"gold": {"type": "given"}}, "systems": {"SDAtt": {"parser": "gold"}}}


def build_tree_files(kind: str, *splits: str) -> dict[str, Any]:
    return {split: {kind: f"{split}.{kind}"} for split in splits}


@pytest.fixture
def texts() -> dict[str, Any]:
    """Return corpora in files: two training texts, dev and a test set; the second test set is generated."""
    return {
        "train": [{"source": "a.en", "target": "a.de"}, {"source": "b.en", "target": "b.de"}],
        "dev": {"name": "news", "source": "dev.en", "references": ["dev.de"]},
        "tests": [
            {"name": "test2014", "source": "t.en", "references": ["t.de"]},
            {"name": "long", "generate": {"sentences": 20}},
        ],
    }


def load_with_trees(config, texts, trees=None, **over):
    gold = {"parsers": {"gold": {"type": "given", "trees": trees or {}}}, "corpora": texts, "targets": ["table1"]}
    return load_experiment(config, command_line_config={**GOLD, **gold, **over}, should_check_files=False)


def test_generated_text_needs_no_tree_files(config):
    experiment = load_experiment(config, command_line_config=GOLD)
    assert experiment.can_provide_trees("gold", "conllu") and experiment.can_provide_trees("gold", "ptb")
    assert experiment.get_parser_tree_formats("gold") == ["conllu"]
    assert [experiment.resolve_tree_files("gold", split, "conllu") for split in ("train", "dev", "long")] == [
        [],
        [],
        [],
    ]


def test_tree_files_are_relative_to_data(config, texts):
    trees = build_tree_files("conllu", "train", "dev", "test2014") | {"train": {"conllu": ["a.conllu", "b.conllu"]}}
    experiment = load_with_trees(config, texts, trees, data="d")
    assert experiment.resolve_tree_files("gold", "train", "conllu") == ["d/a.conllu", "d/b.conllu"]
    assert experiment.resolve_tree_files("gold", "dev", "conllu") == ["d/dev.conllu"]
    assert experiment.resolve_tree_files("gold", "long", "conllu") == []
    assert {"d/a.conllu", "d/b.conllu", "d/dev.conllu", "d/test2014.conllu"} <= {*experiment.collect_file_paths()}
    assert experiment.can_provide_trees("gold", "conllu") and not experiment.can_provide_trees("gold", "ptb")
    assert experiment.get_parser_tree_formats("gold") == ["conllu"]


def test_tree_files_override_generated_trees(config):
    parsers = {"gold": {"type": "given", "trees": {"long": {"ptb": "long.ptb"}}}}
    experiment = load_experiment(config, command_line_config={**GOLD, "parsers": parsers}, should_check_files=False)
    assert experiment.resolve_tree_files("gold", "long", "ptb") == ["long.ptb"]


def test_missing_tree_file_is_reported(config):
    parsers = {"gold": {"type": "given", "trees": {"long": {"ptb": "long.ptb"}}}}
    with pytest.raises(InputError, match=r"nowhere/long.ptb: no such file; relative paths start"):
        load_experiment(config, command_line_config={**GOLD, "parsers": parsers, "data": "nowhere"})


@pytest.mark.parametrize(
    ("trees", "message"),
    [
        (
            build_tree_files("conllu", "train", "dev"),
            "parsers.gold: no CoNLL-U trees of `test2014`, which `SDAtt` reads; give `trees.test2014.conllu`",
        ),
        (
            build_tree_files("ptb", "train", "dev", "test2014"),
            "parsers.gold: no CoNLL-U trees of `train`, `dev`, `test2014`, which `SDAtt` reads; "
            "give `trees.train.conllu`, `trees.dev.conllu`, `trees.test2014.conllu`",
        ),
        (
            {"train": {"conllu": []}, **build_tree_files("conllu", "dev", "test2014")},
            "no CoNLL-U trees of `train`, which",
        ),
        (build_tree_files("conllu", "test2041"), "parsers.gold: unknown split `test2041`; did you mean `test2014`?"),
        (build_tree_files("conllu", "news"), "parsers.gold: unknown split `news`; did you mean `dev`?"),
    ],
)
def test_missing_trees_error_names_the_reader(config, texts, trees, message):
    with pytest.raises(InputError) as caught:
        load_with_trees(config, texts, trees)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "reader", "missing_splits"),
    [
        ({"type": "parses", "title": "T", "parser": "gold"}, "table `t`", ["train", "dev", "test2014"]),
        (
            {
                "type": "measures",
                "title": "T",
                "systems": ["PBSMT"],
                "columns": ["bleu"],
                "parsed_by": "gold",
                "sets": ["tests"],
            },
            "table `t`",
            ["test2014"],
        ),
        (
            {"type": "measures", "title": "T", "systems": ["Tree2Seq [gold]"], "columns": ["bleu"]},
            "`Tree2Seq [gold]`",
            ["train", "dev", "test2014"],
        ),
    ],
)
def test_missing_trees_of_tables_and_crossings_are_reported(config, texts, table, reader, missing_splits):
    trees = build_tree_files("conllu", "train", "dev", "test2014")
    with pytest.raises(InputError) as caught:
        load_with_trees(config, texts, trees, tables={"t": table}, targets=["t"])
    split_list = ", ".join(f"`{split}`" for split in missing_splits)
    assert f"parsers.gold: no PTB trees of {split_list}, which {reader} reads; give" in str(caught.value)


def test_unrequested_parser_needs_no_tree_files(config, texts):
    experiment = load_with_trees(config, texts, targets=["table2"])
    assert experiment.requested_parsers == ["embedded"]
    with pytest.raises(InputError, match=r"parsers.gold: no CoNLL-U trees of `train`; give `trees.train.conllu`"):
        experiment.resolve_tree_files("gold", "train", "conllu")


def test_a_partial_parser_needs_no_tree_files(config, texts):
    partial = {"type": "given", "partial": True, "fallback": "random", "trees": build_tree_files("conllu", "dev")}
    parsers = {"gold": partial, "random": {"type": "control", "shape": "random"}}
    over = {**GOLD, "parsers": parsers, "corpora": texts, "targets": ["table1"]}
    experiment = load_experiment(config, command_line_config=over, should_check_files=False)
    assert experiment.resolve_tree_files("gold", "train", "conllu") == []
    assert experiment.resolve_tree_files("gold", "dev", "conllu") == ["dev.conllu"]
    assert experiment.can_provide_trees("gold", "ptb")


def test_a_partial_parser_needs_a_complete_fallback(config, texts):
    with pytest.raises(InputError, match=r"partial: sentences without trees need .* name it in `fallback`"):
        load_with_trees(config, texts, parsers={"gold": {"type": "given", "partial": True}})
    parsers = {"gold": {"type": "given", "partial": True, "fallback": "mine"}, "mine": {"type": "given"}}
    message = r"parsers\.mine: no CoNLL-U trees of `train`, `dev`, `test2014`, which `parsers\.gold\.fallback` reads"
    with pytest.raises(InputError, match=message):
        load_with_trees(config, texts, parsers=parsers)
