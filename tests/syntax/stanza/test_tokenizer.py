"""Tests of the division of text with Stanza's tokenizer, with fake and small trained models."""

import json
import random
import unicodedata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline_py.corpus.learn_segmenter import learn_segmenter
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.stanza import tokenizer as stanza_words
from pipeline_py.syntax.stanza.model_directory import list_tokenizer_files
from pipeline_py.syntax.stanza.tokenizer import load_default_tokenizer, load_learned_tokenizer
from pipeline_py.syntax.words.parser_words import WordSpan


def token(text: str, start: int, *words: str) -> SimpleNamespace:
    forms = [SimpleNamespace(text=word) for word in words or [text]]
    return SimpleNamespace(text=text, start_char=start, end_char=start + len(text), words=forms)


class Pipeline:
    """A fake Stanza pipeline with the tokens of two sentences."""

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


def test_multiword_tokens_are_divided_into_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stanza_words.stanza, "Pipeline", Pipeline)
    monkeypatch.setattr(stanza_words, "STANZA_BATCH_SENTENCES", 2)
    divide = load_default_tokenizer("fr", None, "default")
    assert list(divide(["", "I don't.", "Du pain", "", ""])) == [
        [],
        [WordSpan(0, 1), WordSpan(2, 4), WordSpan(4, 7), WordSpan(7, 8)],
        [WordSpan(0, 2, "De"), WordSpan(0, 2, "le"), WordSpan(3, 7)],
        [],
        [],
    ]
    assert Pipeline.batches == [1, 1, 0]


def test_directory_without_tokenizer_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "resources.json").write_text("{}")
    with pytest.raises(InputError, match=r"Stanza has no tokenizer of 'en' here .*choose other `words`"):
        load_default_tokenizer("en", tmp_path, None)


@pytest.mark.slow
def test_trained_tokenizer_finds_words(tmp_path: Path) -> None:
    """Each character is a word; offsets are relative to the sentence."""
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
    assert list_tokenizer_files(tmp_path, "zh") == [model]
    divide = load_default_tokenizer("zh", tmp_path, None)
    texts = ["好书大", "", "大 好书好"]
    divided_texts = [
        [text[word.start : word.end] for word in words] for text, words in zip(texts, divide(texts), strict=True)
    ]
    assert divided_texts == [["好", "书", "大"], [], ["大", "好", "书", "好"]]


def turkish_word(stem: str, ending: str) -> list[str]:
    """Return a token of a stem and an ending, followed by its words if there are several."""
    words = [f"{stem}de", ending] if ending else [f"{stem}ler"]
    return ["".join(words), *(words if ending else [])]


def turkish_sentences(seed: int, number: int, length: int = 5) -> list[list[list[str]]]:
    """Sample sentences with random stems; `...deki` and `...deydi` are two words."""
    draw = random.Random(seed)

    def stem() -> str:
        return "".join(draw.choice("bçkmsşt") + draw.choice("aöıü") for _ in range(draw.randint(2, 4)))

    return [
        [*(turkish_word(stem(), draw.choice(["", "", "ki", "ydi"])) for _ in range(length)), ["."]]
        for _ in range(number)
    ]


def conllu(sentence: list[list[str]]) -> str:
    rows: list[str] = []
    place = 0
    for token, *words in sentence:
        if words:
            rows.append(f"{place + 1}-{place + len(words)}\t{token}" + "\t_" * 8)
        for word in words or [token]:
            place += 1
            rows.append(f"{place}\t{word}\t_\tX\t_\t_\t{place - 1}\tdep\t_\t_")
    return "\n".join(rows) + "\n\n"


@pytest.mark.slow
def test_tokenizer_divides_unknown_tokens(tmp_path: Path) -> None:
    """Text may be in any normal form; sentences that are too long for training are dropped."""
    bank = [*turkish_sentences(1, 1, 80), *turkish_sentences(2, 1, 25), *turkish_sentences(3, 200)]
    (tmp_path / "bank").write_text("".join(map(conllu, bank)), encoding="utf-8")
    (tmp_path / "dev").write_text("".join(map(conllu, bank[-20:])), encoding="utf-8")
    learn_segmenter(
        treebank_train=tmp_path / "bank",
        treebank_dev=tmp_path / "dev",
        language="tr",
        words=True,
        output=tmp_path / "model.pt",
        counts_output=tmp_path / "counts",
        epochs=20,
    )
    counts = json.loads((tmp_path / "counts").read_text())
    assert (counts["kept"], counts["dropped"]) == (200, {"more than 100 characters": 2})
    divide = load_learned_tokenizer("tr", tmp_path / "model.pt")
    held_out = turkish_sentences(4, 50)
    texts = [" ".join(token for token, *_ in sentence) for sentence in held_out]
    gold = [[word for token, *words in sentence for word in words or [token]] for sentence in held_out]
    for form in ("NFC", "NFD"):
        normalized_texts = [unicodedata.normalize(form, text) for text in texts]  # type: ignore[arg-type]
        divided_texts = [
            [unicodedata.normalize("NFC", text[word.start : word.end]) for word in words]
            for text, words in zip(normalized_texts, divide(normalized_texts), strict=True)
        ]
        assert sum(words == expected for words, expected in zip(divided_texts, gold, strict=True)) > 45
