"""Languages of parsers and text are compared at validation."""

import gzip

import pytest

from pipeline_py.config.language_codes import find_treebank_language, is_same_language
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError


@pytest.fixture
def french_config(tmp_path):
    """Return a configuration with French text in files and a system that reads dependency trees."""
    for name in ("a", "b", "c.conllu", "fr_x-ud-train.conllu"):
        (tmp_path / name).write_text("x\n")
    (tmp_path / "en_x-ud-train.conllu.gz").write_bytes(gzip.compress(b"x\n"))
    text = {"source": "a", "references": ["b"]}
    corpora = {
        "source": {"language": "fr", "tokenizer": "moses"},
        "target": {"language": "en", "tokenizer": "moses"},
        "train": {"source": "a", "target": "b"},
        "dev": {"name": "dev", **text},
        "tests": [{"name": "test", **text}],
    }
    table = {"type": "bleu", "title": "T", "systems": ["GlobalAtt", "SDAtt"], "baseline": "GlobalAtt"}
    return {"data": str(tmp_path), "corpora": corpora, "tables": {"t": table}, "targets": ["t"]}


def build_trained_parser(train: str, **options):
    return {"type": "trained", "treebank": {"train": train, "dev": "c.conllu", "test": "c.conllu"}, **options}


def load_with_parser(config, french_config, parser, overrides=None):
    over = {**french_config, "parsers": {"mine": parser} if parser else {}, "parser": "mine" if parser else "embedded"}
    return load_experiment(config, command_line_config={**over, **(overrides or {})})


REMEDY = (
    "name another parser in `parser` (docs/how_to/parsers.md lists the types), choose `targets` that read no trees, or "
    "correct the language of the text (`corpora.source.language`) or of the parser (`parsers.{name}.language`)"
)


def test_parser_of_generated_trees_is_rejected_for_french_even_by_name(config, french_config):
    with pytest.raises(InputError) as caught:
        load_with_parser(config, french_config, None)
    assert str(caught.value) == (
        "configuration: parser: `embedded` is for `en` (its treebank is generated), but the text is in `fr`; "
        + REMEDY.format(name="embedded")
    )


@pytest.mark.parametrize(
    ("parser", "fault"),
    [
        (build_trained_parser("en_x-ud-train.conllu.gz"), "is for `en` (its treebank is en_x-ud-train.conllu.gz)"),
        (build_trained_parser("c.conllu", language="en"), "is for `en` (its `language`)"),
        (build_trained_parser("fr_x-ud-train.conllu", language="en-gb"), "is for `en` (its `language`)"),
        ({"type": "stanza", "language": "it"}, "is for `it` (its `language`)"),
        ({"type": "stanza", "language": "it", "model_language": "fr"}, "is for `it` (its `language`)"),
    ],
)
def test_parsers_of_another_language_are_rejected(config, french_config, parser, fault):
    with pytest.raises(InputError) as caught:
        load_with_parser(config, french_config, parser)
    related = "; to use models of another language on purpose, name it in `parsers.mine.model_language`"
    assert str(caught.value) == (
        f"configuration: parser: `mine` {fault}, but the text is in `fr`; "
        + REMEDY.format(name="mine")
        + (related if parser["type"] == "stanza" else "")
    )


@pytest.mark.parametrize(
    "parser",
    [
        build_trained_parser("fr_x-ud-train.conllu"),
        build_trained_parser("c.conllu"),
        build_trained_parser("en_x-ud-train.conllu.gz", language="fr"),
        build_trained_parser("c.conllu", language="fr-ca"),
        {"type": "stanza", "language": "fr"},
        {"type": "stanza"},
        {"type": "control", "shape": "random"},
    ],
)
def test_parsers_of_the_same_or_unknown_language_are_accepted(config, french_config, parser):
    result = load_with_parser(config, french_config, parser)
    assert [*result.foreign_parser_errors] == ["embedded"], "no system reads it"
    assert result.resolve_parser_language("mine") == "fr"


def test_language_of_models_may_differ_from_text(config, french_config):
    for stated in ({}, {"language": "fr"}):
        result = load_with_parser(config, french_config, {"type": "stanza", "model_language": "ita", **stated})
        assert result.resolve_parser_language("mine") == "it"


def test_parser_of_another_language_is_accepted_if_targets_read_no_trees(config, french_config):
    systems = {"type": "bleu", "title": "T", "systems": ["GlobalAtt", "LocalAtt"], "baseline": "GlobalAtt"}
    assert load_with_parser(config, french_config, None, {"tables": {"t": systems}}).foreign_parser_errors


def test_french_parser_is_rejected_for_generated_english(config, french_config):
    parsers = {"mine": build_trained_parser("fr_x-ud-train.conllu")}
    with pytest.raises(InputError, match=r"`mine` is for `fr` .* but the text is in `en`"):
        over = {"data": french_config["data"], "parsers": parsers, "parser": "mine"}
        load_experiment(config, command_line_config={**over, "tables": french_config["tables"], "targets": ["t"]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"treebank": {"generate": 60}, "language": "fr"}, "language: generated trees are English, not fr"),
        ({"treebank": {"generate": 60}, "language": "French"}, "parsers.mine.language: "),
    ],
)
def test_invalid_parser_languages_are_rejected(config, options, message):
    with pytest.raises(InputError) as caught:
        load_experiment(
            config, command_line_config={"parsers": {"mine": {"type": "trained", **options}}}, should_check_files=False
        )
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("files", "code"),
    [
        (["ud/UD_French-Sequoia/fr_sequoia-ud-train.conllu"], "fr"),
        ([None, "x.conllu", "yue_hk-ud-test.conllu.gz"], "yue"),
        (["my_data/train.conllu", "my_train.conllu"], None),
    ],
)
def test_treebank_language_from_file_names(files, code):
    result = find_treebank_language(files)
    assert (result and result.code) == code


@pytest.mark.parametrize(
    ("code", "other_code", "is_same"),
    [
        ("en", "en-gb", True),
        ("zh-hans", "zh", True),
        ("en", "fr", False),
        ("fr", "fra", True),
        ("fr", "deu", False),
        ("no", "nb", True),
        ("no", "nn", True),
        ("nb", "nn", False),
        ("ku", "kmr", True),
        ("kmr", "ckb", False),
        ("bs", "hr", True),
        ("sr-cyrl", "hr", True),
        ("hbs", "sr", True),
        ("cnr", "bs", True),
        ("ar", "arz", True),
        ("arz", "apc", False),
        ("ar", "qaf", True),
        ("fr", "qaf", True),
        ("en", "qaf", False),
        ("zh", "cmn", True),
        ("zh", "yue", True),
        ("zh", "ja", False),
        ("fa", "pes", True),
        ("et", "ekk", True),
        ("lv", "lvs", True),
        ("id", "zsm", True),
        ("sq", "als", True),
        ("az", "azj", True),
        ("uz", "uzn", True),
        ("mg", "plt", True),
        ("gsw", "de", True),
        ("nl", "de", False),
        ("gl", "es", False),
        ("ru", "uk", False),
        ("hi", "ur", False),
        ("cs", "sk", False),
        ("en", "pcm", False),
    ],
)
def test_languages_are_compared(code, other_code, is_same):
    assert is_same_language(code, other_code) is is_same_language(other_code, code) is is_same
