"""Shards, words and models of parsers, and what is compared."""

import json

import pytest

from pipeline_py.input_error import InputError


def directory(folder, tokenizer: bool = False):
    folder.mkdir()
    packages = {"pos": "a", **({"tokenize": "a"} if tokenizer else {})}
    index = {"en": {name: {"a": {}} for name in packages} | {"packages": {"default": packages}}}
    (folder / "resources.json").write_text(json.dumps(index))
    for name in packages:
        (folder / "en" / name).mkdir(parents=True)
        (folder / "en" / name / "a.pt").touch()
    return str(folder)


def test_texts_are_cut_into_shards_where_something_is_parsed(planned):
    assert planned().syntax.shards == dict.fromkeys(["train", "dev", "mixed", "long", "particles"], 1)
    syntax = planned(parsing={"shard_size": 1300}).syntax  # words: 150 sentences
    assert syntax.shards == {"train": 67, "dev": 2, "mixed": 4, "long": 2, "particles": 3}
    shards = syntax.shards_of("embedded", "dev", "ptb")
    assert shards["parts"] == [f"<results>/syntax/embedded/shards/dev/{number}.ptb" for number in ("0000", "0001")]
    assert shards["facts"][1].endswith("0001.ptb.facts.json")
    assert syntax.part_of_text("dev", 1) == ["--first=150", "--sentences=150"]


def test_a_parser_reads_the_words_of_its_tokenizer_if_it_has_one(planned, tmp_path):
    parsers = {
        "with": {"type": "stanza", "directory": directory(tmp_path / "with", tokenizer=True)},
        "without": {"type": "stanza", "directory": directory(tmp_path / "without")},
        "downloaded": {"type": "stanza"},
    }
    syntax = planned(parsers=parsers, corpora={"source": {"tokenizer": "moses"}}).syntax
    assert [syntax.words_of(parser) for parser in parsers] == ["stanza", "english", "stanza"]
    text = "<results>/corpus/clean/dev.source"
    tokenizer = [f"{tmp_path}/with/en/tokenize/a.pt"]
    assert syntax.text_to_divide("with", "dev") == {"text": text, "tokenizer": tokenizer}
    assert syntax.text_to_divide("downloaded", "dev") == {"text": text, "tokenizer": []}
    assert syntax.text_to_divide("without", "dev") == {"text": text}
    normalized = planned(parsers=parsers, corpora={"source": {"tokenizer": "moses", "punctuation": "normalize"}}).syntax
    assert normalized.text_to_divide("without", "dev") == {"text": text.replace("clean", "normalized")}
    assert syntax.options_of_words("without", text) == [f"--text={text}", "--words=english"]
    assert syntax.options_of_words("without", None) == []
    assert syntax.parsing("with", "conllu", "stanza")["words"] == "stanza" and "words" not in syntax.parsing(
        "with", "ptb"
    )


def test_a_broken_folder_is_found_when_the_plan_is_made(planned, tmp_path):
    parser = {"type": "stanza", "directory": directory(tmp_path / "local"), "words": "stanza"}
    with pytest.raises(InputError, match="local has no tokenizer; choose auto, text or english"):
        planned(parsers={"local": parser})
    (tmp_path / "local" / "resources.json").write_text("{")
    with pytest.raises(InputError, match="not the index of a Stanza directory"):
        planned(parsers={"local": parser})


def test_models_are_files_of_the_training_of_the_folder_or_none(planned, tmp_path):
    parsers = {
        "local": {"type": "stanza", "directory": directory(tmp_path / "local")},
        "package": {"type": "stanza", "package": "gum"},
    }
    syntax = planned(parsers=parsers).syntax
    trained = [
        f"<results>/syntax/embedded/model/{name}.pt" for name in ("tagger", "constituency", "constituency.pretrain")
    ]
    assert syntax.models_of("embedded", "ptb") == trained
    names = ("tagger", "constituency", "pretrain")
    assert syntax.model_options("embedded", "ptb", [*"abc"]) == [
        f"--{name}={file}" for name, file in zip(names, "abc", strict=True)
    ]
    assert [file.split("/")[-1] for file in syntax.models_of("local", "conllu")] == ["resources.json", "a.pt"]
    assert syntax.model_options("local", "conllu", []) == [f"--directory={tmp_path}/local"]
    assert syntax.models_of("package", "conllu") == []
    assert syntax.model_options("package", "conllu", []) == ["--package=gum"]


def test_a_parser_of_generated_trees_does_not_parse_files(planned, tmp_path):
    (tmp_path / "d.en").write_text("a\n")
    dev = {"name": "dev", "source": str(tmp_path / "d.en"), "references": ["d.de"]}
    syntax = planned(corpora={"dev": dev}).syntax
    assert syntax.experiment.unfit_parsers and syntax.models_for_text("embedded", "train", "conllu")
    with pytest.raises(InputError, match="`embedded` is trained on generated trees"):
        syntax.models_for_text("embedded", "dev", "conllu")


def test_two_parsers_are_compared_in_what_is_read_of_both(planned):
    syntax = planned().syntax
    compared = syntax.compared_trees("embedded", "random")
    assert compared["first"]["dev:dependency"] == "<results>/syntax/embedded/dev.conllu"
    assert compared["second"]["dev:constituency"] == "<results>/syntax/random/dev.binary.ptb"
    assert [*compared["first"]] == [*compared["second"]]
    assert syntax.pairs_of_parsers() == [
        ("embedded", "random"),
        ("embedded", "right-branching"),
        ("random", "right-branching"),
    ]
    assert "<results>/syntax/random/agreement.right-branching.tsv" in syntax.reports_of_parsers()


def test_a_report_is_of_what_systems_read_and_of_accuracy_where_it_is_known(planned):
    syntax = planned().syntax
    files = syntax.report_files("embedded")
    assert files["accuracy"]["constituency"] == "<results>/syntax/embedded/accuracy/ptb.tsv"
    assert files["counts"]["dev:dependency"] == "<results>/syntax/embedded/dev.conllu.json"
    assert syntax.report_files("random")["accuracy"] == {}
