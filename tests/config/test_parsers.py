"""Parsers in the configuration: options of each type, and the tree formats that they provide."""

from typing import Any

import pytest

from pipeline_py.config.corpora import LanguageConfig
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.config.parsers import StanzaParserConfig, TrainedParserConfig
from pipeline_py.run.errors import InputError


def with_parsers(config: dict[str, Any], **parsers: Any) -> Any:
    return load_experiment(config, command_line_config={"parsers": parsers}, should_check_files=False)


TREEBANK = {"train": "a.conllu", "dev": "b.conllu", "test": "c.conllu"}
PHRASES = {"constituency_train": "a.ptb", "constituency_dev": "b.ptb", "constituency_test": "c.ptb"}


@pytest.mark.parametrize(
    ("options", "runs_stanza", "formats"),
    [
        ({"type": "trained", "treebank": {"generate": 60}}, True, ["conllu", "ptb"]),
        ({"type": "trained", "treebank": TREEBANK}, True, ["conllu"]),
        ({"type": "trained", "treebank": TREEBANK | PHRASES}, True, ["conllu", "ptb"]),
        ({"type": "stanza"}, True, ["conllu", "ptb"]),
        ({"type": "given"}, False, ["conllu", "ptb"]),
        ({"type": "control", "shape": "random", "seed": 7}, False, ["conllu", "ptb"]),
        ({"type": "control", "shape": "permuted", "parser": "embedded", "seed": 7}, False, ["conllu"]),
    ],
)
def test_parser_type_determines_tree_formats_and_use_of_stanza(config, options, runs_stanza, formats):
    experiment = with_parsers(config, other=options)
    assert experiment.parsers["other"].runs_stanza is runs_stanza
    assert [trees for trees in ("conllu", "ptb") if experiment.can_provide_trees("other", trees)] == formats
    assert experiment.get_parser_tree_formats("other") == formats, "no system reads it"


@pytest.mark.parametrize("shape", ["right-branching", "left-branching", "balanced", "random", "chain"])
def test_every_parser_has_a_branching(config, shape):
    parsers = with_parsers(
        config,
        control={"type": "control", "shape": shape},
        gold={"type": "given", "branching": "left"},
        stanza={"type": "stanza", "branching": "head-outward"},
    ).parsers
    assert {name: parser.branching for name, parser in parsers.items()} == {
        "embedded": "head-outward",
        "control": "right",
        "gold": "left",
        "stanza": "head-outward",
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"type": "controll"}, "unknown type of parsers.other `controll`; did you mean `control`?"),
        ({"type": "control"}, "parsers.other.shape: field required"),
        (
            {"type": "control", "shape": "balance"},
            "chain or permuted, not balance; did you mean `balanced`?",
        ),
        (
            {"type": "control", "shape": "chain", "seed": 2},
            "a shape of chain uses no random numbers; leave out `seed`",
        ),
        ({"type": "control", "shape": "chain", "branching": "left"}, "unknown key `parsers.other.branching`"),
        ({"type": "control", "shape": "chain", "max_words": 9}, "unknown key `parsers.other.max_words`"),
        (
            {"type": "given", "branching": "left", "heads": "rules"},
            "branching: left uses no heads; leave out `heads`, or choose head-outward",
        ),
        ({"type": "given", "heads": "collins"}, "parsers.other.heads: give auto, dependencies or rules, not collins"),
        ({"type": "given", "batch_size": 9}, "unknown key `parsers.other.batch_size`"),
        ({"type": "given", "tree": {}}, "unknown key `parsers.other.tree`; did you mean `trees`?"),
        (
            {"type": "given", "trees": {"train": {"conlu": "a"}}},
            "unknown key `parsers.other.trees.train.conlu`; did you mean `conllu`?",
        ),
        (
            {"type": "given", "trees": {"train": "a.conllu"}},
            "parsers.other.trees.train: give a mapping of keys to values, such as `conllu`, `ptb`, not a.conllu",
        ),
        (
            {"type": "given", "trees": {"train": {"ptb": 3}}},
            "parsers.other.trees.train.ptb: give a list, not 3; did you mean `[3]`?",
        ),
        ({"type": "given", "trees": {"lnog": {}}}, "parsers.other: unknown split `lnog`; did you mean `long`?"),
        (
            {"type": "trained", "treebank": TREEBANK | {"dev": None}},
            "a treebank needs all of `train`, `dev` and `test`",
        ),
        (
            {"type": "stanza", "words": "treebank"},
            "parsers.other: a Stanza package has no treebank here; set `words` to auto, stanza, text or english",
        ),
        (
            {"type": "stanza", "words": "moses"},
            "parsers.other.words: give text, english, treebank or stanza, not moses",
        ),
        ({"type": "given", "words": "text"}, "unknown key `parsers.other.words`"),
        (
            {"type": "given", "fallback": "embeded"},
            "parsers.other.fallback: unknown parser `embeded`; did you mean `emb",
        ),
        ({"type": "given", "fallback": "default"}, "unknown parser `default`; known are embedded, other"),
        ({"type": "given", "fallback": "other"}, "parsers.other.fallback: other → other is a cycle; name another"),
        ({"type": "control", "shape": "chain", "fallback": "embedded"}, "unknown key `parsers.other.fallback`"),
        (
            {"type": "control", "shape": "permuted"},
            "parsers.other: a shape of permuted needs trees; name their parser in `parser`",
        ),
        (
            {"type": "control", "shape": "chain", "parser": "embedded"},
            "a shape of chain reads no trees; leave out `parser`, or choose `shape: permuted`",
        ),
        (
            {"type": "control", "shape": "permuted", "parser": "embeded"},
            "parsers.other.parser: unknown parser `embeded`; did you mean `embedded`?",
        ),
        (
            {"type": "control", "shape": "permuted", "parser": "other"},
            "parsers.other.parser: `other` is this parser; name a parser whose trees are not permuted",
        ),
    ],
)
def test_error_is_one_sentence(config, options, message):
    with pytest.raises(InputError) as caught:
        with_parsers(config, other=options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_fallbacks_must_end(config):
    parsers = {name: {"type": "given", "fallback": fallback} for name, fallback in ("xa", "ab", "bc")}
    parsers |= {"c": {"type": "control", "shape": "chain"}}
    assert with_parsers(config, **parsers).get_parser_chain("x") == ["x", "a", "b", "c"]
    parsers["c"] = {"type": "given", "fallback": "a"}
    with pytest.raises(InputError, match=r"parsers\.(\w)\.fallback: \1 → \w → \w → \1 is a cycle; name another parser"):
        with_parsers(config, **parsers)


def test_a_fallback_needs_the_trees_that_are_read(config):
    """Systems of the target read phrase trees."""
    treebank = {"type": "trained", "treebank": {"generate": None, **TREEBANK}}
    parsers = {"embedded": {"fallback": "other"}, "other": treebank}
    config["targets"] = ["table1"]
    experiment = with_parsers(config, **parsers)
    assert [trees for trees in ("conllu", "ptb") if experiment.can_provide_trees("embedded", trees)] == ["conllu"]
    config["targets"] = ["tree2seq/table1_2"]
    with pytest.raises(InputError) as caught:
        with_parsers(config, **parsers)
    assert "parsers.other.treebank: no PTB trees, but `parsers.embedded.fallback` reads phrases" in str(caught.value)


PERMUTED = {"type": "control", "shape": "permuted", "parser": "embedded"}


def test_permuted_trees_are_not_permuted_again_and_no_fallback(config):
    with pytest.raises(InputError, match=r"parsers.again.parser: `other` is itself permuted; name a parser whose"):
        with_parsers(config, other=PERMUTED, again={**PERMUTED, "parser": "other"})
    with pytest.raises(InputError, match=r"parsers.embedded.fallback: `other` has permuted trees, which can fail"):
        with_parsers(config, other=PERMUTED, embedded={"fallback": "other"})


def test_permuted_trees_need_the_trees_of_their_parser(config):
    config["systems"]["SDAtt"]["parser"] = config["systems"]["Tree2Seq"]["parser"] = "other"
    config["targets"] = ["table1"]
    parsers = {"other": PERMUTED, "embedded": {"fallback": "chain"}, "chain": {"type": "control", "shape": "chain"}}
    experiment = with_parsers(config, **parsers)
    assert experiment.get_tree_sources("other") == ["other", "embedded", "chain"]
    assert experiment.get_parser_chain("other") == ["other"]
    foreign = {"type": "stanza", "language": "de"}
    with pytest.raises(InputError, match=r"is for `de` .*; name another parser in `parsers.other.parser` \(docs"):
        load_experiment(config, {"parsers": {"other": {**PERMUTED, "parser": "foreign"}, "foreign": foreign}})
    rows = {"systems": ["Seq2Seq", "Tree2Seq"], "baseline": "Seq2Seq", "proposed": ["Tree2Seq"]}
    config["tables"]["mine"], config["targets"] = {"title": "T", **rows}, ["mine"]
    with pytest.raises(InputError) as caught:
        with_parsers(config, other=PERMUTED)
    message = "parsers.other.shape: permuted has no PTB trees, but `Tree2Seq` reads phrases; cross it with another"
    assert message in str(caught.value)


def test_shard_size_is_validated(config):
    assert load_experiment(config).parsing.shard_size == 200_000
    assert load_experiment(config, command_line_config={"parsing": {"shard_size": 10}}).parsing.shard_size == 10
    with pytest.raises(InputError, match=r"parsing.shard_size: input should be greater than 0, not 0"):
        load_experiment(config, command_line_config={"parsing": {"shard_size": 0}})
    with pytest.raises(InputError, match=r"unknown key `parsing.shard`; did you mean `shard_size`\?"):
        load_experiment(config, command_line_config={"parsing": {"shard": 10}})


def test_tree_formats_of_a_parser_follow_from_its_systems(config):
    random = {"type": "control", "shape": "random"}
    systems = {
        "Heads": {**config["systems"]["Dep2Seq"], "parser": "heads"},
        "Distances": {"contexts": ["syntax"], "parser": "distances"},
        "Phrases": {**config["systems"]["Tree2Seq"], "parser": "phrases"},
        # Reads lexical trees, which need no parser, and the parser's labels.
        "Lexical": {
            "encoders": [{"type": "tree_gru", "trees": "lexical", "inputs": ["words", {"type": "labels", "size": 8}]}],
            "decoder": "gru",
            "subword": "pieces",
            "parser": "labels",
        },
    }
    parsers = {name: random for name in ("heads", "distances", "phrases", "labels", "unread")}
    experiment = load_experiment(config, command_line_config={"parsers": parsers, "systems": systems})
    assert {name: experiment.get_parser_tree_formats(name) for name in experiment.parsers} == {
        "embedded": ["conllu", "ptb"],
        "heads": ["conllu"],
        "distances": ["conllu"],
        "phrases": ["ptb"],
        "labels": ["conllu"],
        "unread": ["conllu", "ptb"],
    }
    assert experiment.get_network_tree_formats("Phrases") == ["ptb"]
    assert experiment.get_network_tree_formats("PBSMT") == experiment.get_network_tree_formats("GlobalAtt") == []
    assert experiment.get_network_tree_formats("Sequential-lexical") == []


@pytest.mark.parametrize(
    ("targets", "trees"),
    [(["table1"], ["conllu"]), (["hierarchical/table3"], ["ptb"]), (["hierarchical/table2"], ["conllu", "ptb"])],
)
def test_tree_formats_of_a_parser_follow_from_targets(config, targets, trees):
    assert load_experiment({**config, "targets": targets}).get_parser_tree_formats("embedded") == trees


def test_test_file_depends_on_the_tree_format(config):
    parser = with_parsers(config, other={"type": "stanza", "constituency_test": "test.ptb"}).parsers["other"]
    assert (parser.get_test_file("conllu"), parser.get_test_file("ptb")) == (None, "test.ptb")


def test_treebank_without_phrases_gives_dependency_trees_only(config):
    embedded = {"type": "trained", "treebank": {"generate": None, **TREEBANK}}
    assert with_parsers({**config, "targets": ["table1"]}, embedded=embedded).get_parser_tree_formats("embedded") == [
        "conllu"
    ]


@pytest.mark.parametrize(
    ("targets", "reader"), [(["tree2seq"], "`Tree2Seq-K50`"), (["tree2seq/table1_2"], "table `tr")]
)
def test_phrase_trees_need_a_treebank_with_phrases(config, targets, reader):
    embedded = {"type": "trained", "treebank": {"generate": None, **TREEBANK}}
    with pytest.raises(InputError) as caught:
        with_parsers({**config, "targets": targets}, embedded=embedded)
    assert f"parsers.embedded.treebank: no PTB trees, but {reader}" in str(caught.value)
    assert "give `constituency_train`, `constituency_dev` and `constituency_test`" in str(caught.value)
    with_parsers({**config, "targets": targets}, embedded={"type": "trained", "treebank": TREEBANK | PHRASES})


def test_changing_the_type_of_an_inherited_parser_is_an_error(config):
    with pytest.raises(InputError) as caught:
        with_parsers(config, embedded={"type": "stanza", "directory": "stanza_en"})
    assert str(caught.value) == (
        "configuration: unknown key `parsers.embedded.treebank`; type stanza has no such key (files are merged: if "
        "another file gives `embedded` another type, choose a new name)"
    )


def test_stanza_directory_needs_an_index(config, tmp_path):
    overrides = {"parsers": {"other": {"type": "stanza", "directory": str(tmp_path)}}}
    with pytest.raises(InputError, match=r"resources\.json: no such file"):
        load_experiment(config, command_line_config=overrides)
    (tmp_path / "resources.json").touch()
    load_experiment(config, command_line_config=overrides)


@pytest.mark.parametrize(
    ("targets", "parsers"),
    [(None, ["embedded", "random"]), (["mine"], ["random"]), (["table1"], ["embedded"]), ([], [])],
)
def test_requested_parsers_follow_from_targets(config, targets, parsers):
    overrides = {
        "parsers": {"random": {"type": "control", "shape": "random"}, "unread": {"type": "stanza"}},
        "systems": {
            "Mine": {"contexts": ["syntax"], "parser": "random"},
            "Both": {"type": "ensemble", "members": ["Mine"]},
        },
        "tables": {"mine": {"type": "measures", "title": "T", "systems": ["Both", "PBSMT"], "columns": ["bleu"]}},
        "targets": targets,
    }
    experiment = load_experiment(config, command_line_config=overrides)
    assert experiment.requested_parsers == parsers
    assert experiment.requested_trained_parsers == [name for name in parsers if name == "embedded"]


def test_removal_from_training_can_be_disabled_for_a_set(config):
    assert {held_out.removed_from_training for held_out in load_experiment(config).corpora.held_out_sets.values()} == {
        True
    }
    config["corpora"]["tests"][1]["removed_from_training"] = False
    held_out = load_experiment(config).corpora.held_out_sets
    assert [name for name, held_out_set in held_out.items() if not held_out_set.removed_from_training] == ["long"]


@pytest.mark.parametrize(
    ("source", "has_tokenizer", "words"),
    [
        ({"language": "en", "tokenizer": "none"}, True, "text"),
        ({"language": "en", "tokenizer": "moses"}, True, "stanza"),
        ({"language": "en", "tokenizer": "moses"}, False, "english"),
        ({"language": "en-gb", "tokenizer": "stanza"}, False, "english"),
        ({"language": "de", "tokenizer": "moses"}, False, "text"),
        ({"language": "de", "tokenizer": "moses"}, True, "stanza"),
        ({"language": "zh", "tokenizer": "jieba"}, True, "stanza"),
        ({"language": "zh", "tokenizer": "stanza"}, False, "text"),
    ],
)
def test_words_of_a_stanza_package(source, has_tokenizer, words):
    options = {"type": "stanza", "directory": "d"}
    assert StanzaParserConfig(**options).resolve_parser_words(LanguageConfig(**source), has_tokenizer) == words
    for words_option in ("text", "english", "stanza"):
        assert (
            StanzaParserConfig(**options, words=words_option).resolve_parser_words(
                LanguageConfig(**source), has_tokenizer
            )
            == words_option
        )


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({"language": "fr", "tokenizer": "moses"}, "treebank"),
        ({"language": "fr", "tokenizer": "stanza"}, "treebank"),
        ({"language": "fr", "tokenizer": "none"}, "text"),
        ({"language": "zh", "tokenizer": "jieba"}, "treebank"),
        ({"language": "zh", "tokenizer": "stanza"}, "text"),
        ({"language": "zh", "tokenizer": "stanza", "stanza_directory": "d"}, "treebank"),
        ({"language": "en", "tokenizer": "moses"}, "english"),
    ],
)
def test_words_of_a_trained_parser(source, words):
    options = {"type": "trained", "treebank": TREEBANK}
    assert TrainedParserConfig(**options).resolve_parser_words(LanguageConfig(**source), has_tokenizer=False) == words
    for words_option in ("treebank", "stanza"):
        assert (
            TrainedParserConfig(**options, words=words_option).resolve_parser_words(
                LanguageConfig(**source), has_tokenizer=False
            )
            == words_option
        )


def test_english_words_need_english_text(config):
    german = {"corpora": {"source": {"language": "de"}, "target": {"language": "en"}}}
    texts = {"train": {"source": "a", "target": "b"}, "dev": {"source": "a", "references": ["b"]}}
    texts["tests"] = [{"name": "t", "source": "a", "references": ["b"]}]
    overrides = {"corpora": german["corpora"] | texts, "parsers": {"other": {"type": "stanza", "words": "english"}}}
    with pytest.raises(InputError, match=r"parsers\.other\.words: english, but the source is de; choose auto"):
        load_experiment(config, command_line_config=overrides, should_check_files=False)
