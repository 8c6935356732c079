"""Words of Stanza's tokenizer, of a model that is learnt in a moment and of what a pipeline returns."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline_py.corpus.learn_segmenter import learn_segmenter
from pipeline_py.input_error import InputError
from pipeline_py.syntax.stanza import tokenizer as stanza_words
from pipeline_py.syntax.stanza.directory import tokenizer_in
from pipeline_py.syntax.stanza.tokenizer import tokenizer_of
from pipeline_py.syntax.words.parser_words import Word


def token(text: str, start: int, *words: str) -> SimpleNamespace:
    forms = [SimpleNamespace(text=word) for word in words or [text]]
    return SimpleNamespace(text=text, start_char=start, end_char=start + len(text), words=forms)


class Pipeline:
    """In the place of Stanza's: known sentences to their tokens."""

    sentences: dict[str, list[SimpleNamespace]] = {
        "I don't.": [token("I", 0), token("don't", 2, "do", "n't"), token(".", 7)],
        "Du pain": [token("Du", 0, "De", "le"), token("pain", 3)],
    }
    batches: list[int] = []

    def __init__(self, *_: Any, **options: Any) -> None:
        assert options["tokenize_no_ssplit"], "a line is a sentence"
        self.batches.clear()

    def bulk_process(self, texts: list[str]) -> list[SimpleNamespace]:
        self.batches.append(len(texts))
        return [SimpleNamespace(sentences=[SimpleNamespace(tokens=self.sentences[text])]) for text in texts]


def test_multi_word_tokens_are_their_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stanza_words.stanza, "Pipeline", Pipeline)
    monkeypatch.setattr(stanza_words, "SENTENCES_AT_ONCE", 2)
    divide = tokenizer_of("fr", None, "default")
    assert list(divide(["", "I don't.", "Du pain", "", ""])) == [
        [],
        [Word(0, 1), Word(2, 4), Word(4, 7), Word(7, 8)],
        [Word(0, 2, "De"), Word(0, 2, "le"), Word(3, 7)],
        [],
        [],
    ]
    assert Pipeline.batches == [1, 1, 0]


def test_a_directory_without_a_tokenizer(tmp_path: Path) -> None:
    (tmp_path / "resources.json").write_text("{}")
    with pytest.raises(InputError, match=r"Stanza has no tokenizer of 'en' here .*choose other `words`"):
        tokenizer_of("en", tmp_path, None)


@pytest.mark.slow
def test_a_tokenizer_that_is_learnt(tmp_path: Path) -> None:
    """Each character is a word, and where it stands is counted anew in every sentence."""
    rows = "".join(
        f"{k}\t{letter}\t_\tX\t_\t_\t{k - 1}\tdep\t_\tSpaceAfter=No\n" for k, letter in enumerate("好书大", 1)
    )
    (tmp_path / "bank").write_text((rows + "\n") * 60, encoding="utf-8")
    model = tmp_path / "zh-hans" / "tokenize" / "x.pt"
    learn_segmenter(
        treebank_train=tmp_path / "bank",
        treebank_dev=tmp_path / "bank",
        output=model,
        counts_output=tmp_path / "counts",
        epochs=8,
    )
    index = {
        "zh": {"alias": "zh-hans"},
        "zh-hans": {
            "tokenize": {"x": {"md5": None}},
            "default_processors": {"tokenize": "x"},
            "default_dependencies": {},
            "packages": {"default": {"tokenize": "x"}},
        },
    }
    (tmp_path / "resources.json").write_text(json.dumps(index))
    assert tokenizer_in(tmp_path, "zh") == [model]
    divide = tokenizer_of("zh", tmp_path, None)
    texts = ["好书大", "", "大 好书好"]
    found = [[text[word.start : word.end] for word in words] for text, words in zip(texts, divide(texts), strict=True)]
    assert found == [["好", "书", "大"], [], ["大", "好", "书", "好"]]
