"""Plan of treebanks, parser training and accuracies."""

import pytest

from pipeline_py.run.errors import InputError

BANK = {part: f"{part}.conllu" for part in ("train", "dev", "test")}
PARSERS = {
    "mine": {"type": "trained", "treebank": BANK, "vectors": "v.txt"},
    "measured": {"type": "stanza", "constituency_test": "gold.ptb"},
    "random": {"type": "control", "shape": "random"},
}


def test_gold_trees_are_from_user_files_or_generated(build_plan):
    parsers = build_plan(parsers=PARSERS).parsers
    assert parsers.get_treebank_path("embedded", "dev", "ptb") == "<results>/syntax/embedded/treebank/dev.ptb"
    assert parsers.get_treebank_path("mine", "test", "conllu") == "test.conllu"
    assert parsers.get_treebank_path("measured", "test", "ptb") == "gold.ptb"
    assert parsers.build_join_accuracies_job("measured").files == {
        "input": ["<results>/syntax/measured/accuracy/ptb.tsv"]
    }
    assert parsers.build_measure_accuracy_job("measured", "ptb").files["gold"] == "gold.ptb"
    assert parsers.build_treebank_text_job("measured", "ptb").files == {"treebank": "gold.ptb"}


@pytest.mark.parametrize(
    ("parser", "trees", "message"),
    [
        ("mine", "ptb", "parsers.mine.treebank: constituency trees are needed; give `constituency_test`"),
        ("measured", "conllu", "parsers.measured: to measure its accuracy, give `test`"),
        ("random", "conllu", "parsers.random: its trees are not parsed, so they have no accuracy"),
    ],
)
def test_missing_gold_trees_are_reported(build_plan, parser, trees, message):
    parsers = build_plan(parsers=PARSERS).parsers
    assert not parsers.has_gold_trees(parser, trees)
    with pytest.raises(InputError, match=message):
        parsers.get_treebank_path(parser, "test", trees)


def test_the_constituency_parser_is_trained_on_predicted_tags(build_plan):
    parsers = build_plan(parsers=PARSERS).parsers
    assert parsers.build_train_parser_job("mine", "depparse").files == {
        "treebank_train": "train.conllu",
        "treebank_dev": "dev.conllu",
        "vectors": "v.txt",
        "tagger": None,
    }
    job = parsers.build_train_parser_job("embedded", "constituency")
    assert job.files["treebank_train"].endswith(".ptb")
    assert job.files["tagger"] == "<results>/syntax/embedded/model/tagger.pt" and job.files["vectors"] is None


def test_parser_training_uses_configured_settings(build_plan):
    job = build_plan(parsers={"embedded": {"depparse": {"epochs": 3, "hidden": None}}}).parsers.build_train_parser_job(
        "embedded", "depparse"
    )
    assert job.settings == {"processor": "depparse", "language": "en", "seed": 1, "lowercase": False, "epochs": 3}
    assert job.is_cached and job.software == ["stanza", "torch"]


@pytest.mark.parametrize(("case", "lowercase"), [("keep", False), ("lower", True), ("true", False)])
def test_a_parser_is_measured_in_the_case_of_the_text(build_plan, case, lowercase):
    parsers = build_plan(corpora={"source": {"case": case}}).parsers
    jobs = (
        parsers.build_train_parser_job("embedded", "tagger"),
        parsers.build_treebank_text_job("embedded", "ptb"),
        parsers.build_learn_word_table_job("embedded"),
        parsers.build_measure_accuracy_job("embedded", "conllu"),
    )
    assert [job.settings["lowercase"] for job in jobs] == [lowercase] * 4
    assert "lowercase" not in parsers.build_original_text_of_treebank_job("embedded", "test").settings, (
        "the tokenizer does it"
    )


def test_a_generated_treebank_is_a_tenth_as_large_for_dev(build_plan):
    parsers = build_plan().parsers
    sizes = [
        parsers.build_generate_treebank_job("embedded", part).settings["sentences"] for part in ("train", "dev", "test")
    ]
    assert sizes == [900, 90, 90]
    shares = {
        parsers.build_generate_treebank_job("embedded", part).settings["share_from"]
        for part in ("train", "dev", "test")
    }
    assert len(shares) == 3


def test_only_treebanks_for_training_are_ambiguous(build_plan):
    parsers = build_plan(corpora={"generator": {"ambiguous": 0.1}}).parsers
    shares = [
        parsers.build_generate_treebank_job("embedded", part).settings["ambiguous"] for part in ("train", "dev", "test")
    ]
    assert shares == [0.1, 0, 0]
