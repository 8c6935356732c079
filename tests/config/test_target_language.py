"""Language codes of both sides, and evaluation settings of the target language."""

from typing import Any

import pytest

import pipeline_py.config.evaluation
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError

FILES = {"source": "a", "references": ["b"]}


@pytest.fixture
def load_for(config: dict[str, Any]):
    def load_for(language: Any, tokenizer: str = "moses", source: Any = "en", **overrides: Any) -> ExperimentConfig:
        corpora = {
            **config["corpora"],
            "source": {"language": source, "tokenizer": "none"},
            "target": {"language": language, "tokenizer": tokenizer, "stanza_package": "default"},
            "train": {"source": "a", "target": "b"},
            "dev": {"name": "dev", **FILES},
            "tests": [{"name": "test", **FILES}],
        }
        overrides = {"corpora": corpora, "parser": "embedded", **overrides}
        return load_experiment({**config, **overrides}, own_config=overrides, should_check_files=False)

    return load_for


@pytest.fixture
def set_mecab_installed(monkeypatch: pytest.MonkeyPatch):
    """Return a function that simulates whether MeCab is installed."""

    def pretend(is_installed: bool) -> None:
        monkeypatch.setattr(pipeline_py.config.evaluation, "find_spec", lambda package: is_installed or None)

    pretend(False)
    return pretend


@pytest.mark.parametrize(
    ("source", "target", "codes"),
    [
        ("fra", "eng", ("fr", "en")),
        ("fr-ca", "deu", ("fr", "de")),
        ("eng_Latn", "por_BR", ("en", "pt")),
        ("jpn", "ger", ("ja", "de")),
        (False, "no", ("no", "no")),
    ],
)
def test_language_codes_are_resolved(load_for, source, target, codes):
    experiment = load_for(target, source=source)
    assert (experiment.corpora.source.language, experiment.corpora.target.language) == codes
    reloaded = load_experiment({**experiment.model_dump(exclude_unset=True)}, should_check_files=False)
    assert reloaded.corpora == experiment.corpora and reloaded.evaluation == experiment.evaluation


def test_unknown_language_code_is_rejected(load_for):
    with pytest.raises(InputError, match=r"corpora.target.language: no language has this code; give .*, not 'xyz'"):
        load_for("xyz")


@pytest.mark.parametrize(
    ("language", "tokenizer", "remedy"),
    [
        ("zho", "moses", "moses needs spaces between words, but zh has none; choose jieba, stanza or none"),
        ("tha", "moses", "moses needs spaces between words, but th has none; choose stanza or none"),
        ("jpn", "jieba", "jieba segments Chinese, not ja; choose stanza or none"),
        ("fra", "jieba", "jieba segments Chinese, not fr; choose moses, stanza or none"),
    ],
)
def test_unsuitable_tokenizer_is_rejected(load_for, language, tokenizer, remedy):
    with pytest.raises(InputError, match=remedy):
        load_for(language, tokenizer)


@pytest.mark.parametrize(
    ("language", "tokenizer", "expected", "with_mecab"),
    [
        ("fra", "moses", ("moses", "13a"), None),
        ("deu", "none", ("moses", "13a"), None),
        ("tur", "stanza", ("moses", "13a"), None),
        ("zho", "jieba", ("chinese", "zh"), None),
        ("zh-TW", "jieba", ("chinese", "zh"), None),
        ("zho", "none", ("none", "zh"), None),
        ("jpn", "stanza", ("chinese", "char"), "ja-mecab"),
        ("jpn", "none", ("none", "char"), "ja-mecab"),
        ("kor", "moses", ("moses", "char"), "ko-mecab"),
        ("tha", "stanza", ("chinese", "char"), None),
        ("khm", "none", ("none", "char"), None),
    ],
)
def test_default_evaluation_settings_depend_on_the_target_language(
    load_for, set_mecab_installed, language, tokenizer, expected, with_mecab
):
    def settings() -> tuple[str, str]:
        evaluation = load_for(language, tokenizer).evaluation
        return evaluation.detokenizer, evaluation.tokenizer

    assert settings() == expected
    set_mecab_installed(True)
    assert settings() == (expected[0], with_mecab or expected[1])


@pytest.mark.parametrize(
    ("language", "tokenizer", "evaluation", "message"),
    [
        ("zh", "jieba", {"tokenizer": "13a"}, "text in zh has none, so .* choose auto, which is zh here"),
        ("zh", "none", {"tokenizer": "none", "detokenizer": "chinese"}, "tokenizer: none finds words between spaces"),
        ("ja", "stanza", {"tokenizer": "intl"}, "choose auto, which is char here"),
        ("ja", "stanza", {"tokenizer": "zh"}, "zh is for Chinese, not ja; choose auto, which is char here"),
        ("fr", "moses", {"tokenizer": "zh"}, "zh is for Chinese, not fr; choose auto, which is 13a here"),
        ("fr", "moses", {"tokenizer": "ja-mecab"}, "ja-mecab is for Japanese, not fr"),
        (
            "ja",
            "stanza",
            {"tokenizer": "ja-mecab"},
            r'not installed; run pip install "sacrebleu\[ja\]", or choose char',
        ),
        ("ko", "moses", {"tokenizer": "ko-mecab"}, r'run pip install "sacrebleu\[ko\]", or choose char'),
        ("fr", "moses", {"detokenizer": "chinese"}, "chinese joins words without spaces, but fr has them; choose auto"),
        ("th", "stanza", {"detokenizer": "moses"}, "moses joins words with spaces, but th has none; choose auto"),
        ("zh", "jieba", {"metrics": ["bleu", "moses_bleu"]}, "moses_bleu counts words between spaces, but zh has none"),
        ("th", "stanza", {"metrics": ["bleu", "ter"]}, "ter counts words between spaces, but th has none; leave it"),
    ],
)
def test_unsuitable_evaluation_settings_are_rejected(
    load_for, set_mecab_installed, language, tokenizer, evaluation, message
):
    with pytest.raises(InputError, match=rf"evaluation: .*{message}"):
        load_for(language, tokenizer, evaluation=evaluation)


@pytest.mark.parametrize(
    ("language", "tokenizer", "evaluation"),
    [
        ("ja", "none", {"detokenizer": "none", "tokenizer": "none", "metrics": ["bleu", "ter", "moses_bleu"]}),
        ("zh", "none", {"detokenizer": "none", "tokenizer": "13a"}),
        ("zh", "jieba", {"metrics": ["bleu", "ter", "chrf", "ribes"]}),
        ("fr", "moses", {"detokenizer": "none", "tokenizer": "none", "metrics": ["bleu", "ter", "moses_bleu"]}),
        ("th", "stanza", {"metrics": ["bleu", "chrf", "ribes"]}),
    ],
)
def test_suitable_evaluation_settings_are_unchanged(load_for, language, tokenizer, evaluation):
    settings = load_for(language, tokenizer, evaluation=evaluation).evaluation
    assert {key: getattr(settings, key) for key in evaluation} == evaluation


def test_unsuitable_columns_are_rejected_or_omitted(config, load_for):
    table = {"type": "measures", "title": "T", "systems": ["GlobalAtt"], "columns": ["ter"]}
    with pytest.raises(InputError, match="table `mine`: ter counts words between spaces, but th has none"):
        load_for("th", "stanza", tables={"mine": table})
    config["tables"]["inherited"] = table
    overrides = {"corpora": load_for("th", "stanza").corpora.model_dump(exclude_unset=True), "parser": "embedded"}
    assert ("tables", "inherited") in load_experiment(
        {**config, **overrides}, own_config=overrides, should_check_files=False
    ).omitted_entries
