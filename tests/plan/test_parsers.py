"""Treebanks, and what accuracy is measured on."""

import pytest

from pipeline_py.input_error import InputError

BANK = {part: f"{part}.conllu" for part in ("train", "dev", "test")}
PARSERS = {
    "mine": {"type": "trained", "treebank": BANK, "vectors": "v.txt"},
    "measured": {"type": "stanza", "constituency_test": "gold.ptb"},
    "random": {"type": "control", "shape": "random"},
}


def test_gold_trees_are_the_users_or_generated(planned):
    parsers = planned(parsers=PARSERS).parsers
    assert parsers.treebank("embedded", "dev", "ptb") == "<results>/syntax/embedded/treebank/dev.ptb"
    assert parsers.treebank("mine", "test", "conllu") == "test.conllu"
    assert parsers.treebank("measured", "test", "ptb") == "gold.ptb"
    assert parsers.accuracies_of("measured") == ["<results>/syntax/measured/accuracy/ptb.tsv"]


@pytest.mark.parametrize(
    ("parser", "trees", "message"),
    [
        ("mine", "ptb", "parsers.mine.treebank: constituency trees are needed; give `constituency_test`"),
        ("measured", "conllu", "parsers.measured: to measure its accuracy, give `test`"),
        ("random", "conllu", "parsers.random: its trees are not parsed, so they have no accuracy"),
    ],
)
def test_it_is_said_where_there_are_no_gold_trees(planned, parser, trees, message):
    parsers = planned(parsers=PARSERS).parsers
    assert not parsers.has_gold(parser, trees)
    with pytest.raises(InputError, match=message):
        parsers.treebank(parser, "test", trees)


def test_the_constituency_parser_learns_from_the_tags_it_will_see(planned):
    parsers = planned(parsers=PARSERS).parsers
    assert set(parsers.training_inputs("mine", "depparse")) == {"train", "dev", "vectors"}
    inputs = parsers.training_inputs("embedded", "constituency")
    assert inputs["train"].endswith(".ptb") and inputs["tagger"] == "<results>/syntax/embedded/model/tagger.pt"


def test_training_options_are_what_the_configuration_and_the_job_have(planned):
    embedded = planned(parsers={"embedded": {"depparse": {"epochs": 3, "hidden": None}}}).parsers
    assert embedded.training_options("embedded", "depparse", {"vectors": "v.txt"}) == ["--epochs=3", "--vectors=v.txt"]
    assert embedded.training("embedded", "depparse")["epochs"] == 3


def test_a_parser_is_measured_in_the_case_of_the_text(planned):
    assert planned().parsers.case == "--no-lowercase"
    assert planned(corpora={"source": {"case": "lower"}}).parsers.case == "--lowercase"


def test_a_generated_treebank_is_a_tenth_as_large_for_dev(planned):
    parsers = planned().parsers
    sizes = [parsers.generate_treebank("embedded", part).settings["sentences"] for part in ("train", "dev", "test")]
    assert sizes == [900, 90, 90]
    shares = {parsers.generate_treebank("embedded", part).settings["share_from"] for part in ("train", "dev", "test")}
    assert len(shares) == 3


def test_a_parser_learns_from_ambiguous_sentences_and_is_not_measured_on_them(planned):
    parsers = planned(corpora={"generator": {"ambiguous": 0.1}}).parsers
    shares = [parsers.generate_treebank("embedded", part).settings["ambiguous"] for part in ("train", "dev", "test")]
    assert shares == [0.1, 0, 0]
