"""Tests of the lookup of model files in a local Stanza directory."""

import json

import pytest

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.stanza.model_directory import list_parser_model_files, list_tokenizer_files
from pipeline_py.syntax.trees.tree_formats import TreeKind

VECTORS = [{"model": "pretrain", "package": "small"}, {"model": "forward_charlm", "package": "news"}]
CHINESE = {
    "pos": {"gsd": {"dependencies": VECTORS[:1]}, "pud": {"dependencies": [{"model": "pretrain", "package": "big"}]}},
    "depparse": {"gsd": {"dependencies": VECTORS}, "pud": {}},
    "constituency": {"ctb": {}},
    "lemma": {"identity": {}},
    "packages": {
        "default": {"pos": "gsd", "lemma": "identity", "depparse": "gsd", "optional": {"constituency": "ctb"}},
        "other": {"pos": "pud", "depparse": "pud"},
    },
}
FILES = [
    *("pos/gsd", "pos/pud", "depparse/gsd", "depparse/pud", "constituency/ctb", "pretrain/small", "pretrain/big"),
    *("forward_charlm/news", "backward_charlm/news", "ner/gsd"),
]


def list_models(folder, entry, annotation, language="zh"):
    for file in FILES:
        (folder / "zh-hans" / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / "zh-hans" / f"{file}.pt").touch()
    (folder / "resources.json").write_text(json.dumps({"zh": {"alias": "zh-hans"}, "zh-hans": entry}))
    index, *models = list_parser_model_files(folder, language, annotation)
    assert index == folder / "resources.json"
    return [str(file.relative_to(folder / "zh-hans").with_suffix("")) for file in models]


def test_models_of_the_default_package_and_their_dependencies_are_listed(tmp_path):
    dependency = ["pos/gsd", "pretrain/small", "depparse/gsd", "forward_charlm/news"]
    assert list_models(tmp_path, CHINESE, TreeKind.DEPENDENCY) == dependency
    assert list_models(tmp_path, CHINESE, TreeKind.CONSTITUENCY) == ["pos/gsd", "pretrain/small", "constituency/ctb"]


@pytest.mark.parametrize("packages", [{}, {"default": {"depparse": "gone"}}])
def test_all_models_of_a_processor_without_default_are_listed(tmp_path, packages):
    models = list_models(tmp_path, {**CHINESE, "packages": packages}, TreeKind.DEPENDENCY)
    assert sorted(models) == sorted(set(FILES) - {"constituency/ctb", "ner/gsd"})


@pytest.mark.parametrize("text", ["{", "[]", '{"zh": 3}', '{"zh": {"packages": 3}}', '{"zh": {"packages": []}}'])
def test_broken_index_is_rejected(tmp_path, text):
    (tmp_path / "resources.json").write_text(text)
    with pytest.raises(InputError, match=r"resources\.json: not the index of a Stanza directory; fetch it again"):
        list_parser_model_files(tmp_path, "zh", TreeKind.DEPENDENCY)


def test_unknown_language_has_no_models(tmp_path):
    assert list_models(tmp_path, CHINESE, TreeKind.DEPENDENCY, language="sv") == []


@pytest.mark.parametrize(
    ("default", "tokenizer"),
    [
        ({"tokenize": "gsd", "mwt": "gsd"}, ["tokenize/gsd", "mwt/gsd"]),
        ({"tokenize": "gsd"}, ["tokenize/gsd", "mwt/gsd"]),
        ({}, ["tokenize/gsd", "tokenize/pud", "mwt/gsd"]),
    ],
)
def test_tokenizer_and_multiword_models_are_listed(tmp_path, default, tokenizer):
    for file in ("tokenize/gsd", "tokenize/pud", "mwt/gsd"):
        (tmp_path / "zh" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "zh" / f"{file}.pt").touch()
    entry = {"tokenize": {"gsd": {}, "pud": {}}, "mwt": {"gsd": {}}, "packages": {"default": default}}
    (tmp_path / "resources.json").write_text(json.dumps({"zh": entry}))
    files = [str(file.relative_to(tmp_path / "zh").with_suffix("")) for file in list_tokenizer_files(tmp_path, "zh")]
    assert files == tokenizer


def test_missing_tokenizer_gives_no_files(tmp_path):
    assert list_models(tmp_path, CHINESE, TreeKind.DEPENDENCY)
    assert list_tokenizer_files(tmp_path, "zh") == []
