"""Tests of the training of a tokenizer on a treebank."""

import gzip
import random
from pathlib import Path

import jieba
import pytest

from pipeline_py.corpus import learn_segmenter as module
from pipeline_py.corpus.learn_segmenter import _read_treebank_sentences, learn_segmenter
from pipeline_py.corpus.tokenize import tokenize
from pipeline_py.run.errors import InputError
from tests.text_files import read_lines, write_lines

SUBJECTS = ["我们", "老师", "那个孩子", "Python", "他"]
VERBS = ["喜欢", "看见了", "不要"]
OBJECTS = ["红苹果", "书", "max_size"]
"""Words of a treebank, some of which jieba splits: 那个孩子 into 那个 and 孩子."""


def format_sentence(words: list[str]) -> str:
    return "".join(format_row(position, word, "SpaceAfter=No") for position, word in enumerate(words, start=1)) + "\n"


def draw_sentences(seed: int, count: int) -> list[list[str]]:
    """Draw sentences, in some of which `max_size` precedes `Python`."""
    random_choice = random.Random(seed).choice
    return [[*map(random_choice, (SUBJECTS, VERBS, OBJECTS, SUBJECTS, VERBS)), "。"] for _ in range(count)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("segmenter")
    with gzip.open(folder / "train.conllu.gz", "wt", encoding="utf-8") as file:
        file.write("".join(map(format_sentence, draw_sentences(1, 400))))
    (folder / "dev.conllu").write_text("".join(map(format_sentence, draw_sentences(2, 40))), encoding="utf-8")
    return folder


def learn(folder: Path, output: Path, epochs: int, train: str = "train.conllu.gz") -> None:
    learn_segmenter(
        treebank_train=folder / train,
        treebank_dev=folder / "dev.conllu",
        output=output,
        counts_output=output.with_suffix(".json"),
        epochs=epochs,
    )


def test_byte_order_marks_of_concatenated_treebanks_are_removed(tmp_path: Path) -> None:
    text = f"\ufeff{format_sentence(['我们', '书'])}\ufeff{format_sentence(['他'])}"
    (tmp_path / "joined.conllu").write_text(text, encoding="utf-8")
    sentences = _read_treebank_sentences(tmp_path / "joined.conllu", "zh", should_split_multiword=False)
    assert [[word for word, _ in sentence] for sentence in sentences] == [["我们", "书"], ["他"]]


def format_row(position: int, form: str, misc: str = "_", features: str = "_") -> str:
    return f"{position}\t{form}\t_\tX\t_\t{features}\t{position - 1}\tdep\t_\t{misc}\n"


ROWS = format_row(1, "Il") + format_row(2, "a") + format_row(3, "10 000") + format_row(4, "€")


@pytest.mark.parametrize(
    "treebank",
    [
        ROWS.replace("10 000\t_\tX\t_\t_\t2\tdep\t_\t_", "10 000\t_\tX\t_\t_\t2\tdep\t_\tSpaceAfter=No") + "\n",
        f"# text = Il a 10 000€\n{ROWS}\n",
        f"# text = I\u00adl a 10\u00a0000€\n{ROWS}\n",
        f"\n# header\n\n{format_row(1, 'Il', features=' ')}{format_row(2, 'a')}2.1\tb{chr(9).join([''] + ['_'] * 8)}\n"
        f"{format_row(3, '10 000', 'SpaceAfter=No')}{format_row(4, '€')}\n",
    ],
    ids=["SpaceAfter", "text", "invisible", "odd"],
)
def test_spaces_are_read_from_attributes_or_text(tmp_path: Path, treebank: str) -> None:
    (tmp_path / "treebank.conllu").write_text(treebank, encoding="utf-8")
    (sentence,) = _read_treebank_sentences(tmp_path / "treebank.conllu", "fr", should_split_multiword=False)
    assert [(form.replace("\u00a0", " "), has_space) for form, has_space in sentence] == [
        ("Il", False),
        ("a", True),
        ("10 000", True),
        ("€", False),
    ]


def segment(folder: Path, texts: list[str], language: str = "zh") -> list[str]:
    """Return the tokens of texts by the model of the folder."""
    text, tokens = write_lines(folder / "text", texts), folder / "tokens"
    segmenter = folder / "model.pt"
    tokenize(input=text, output=tokens, language=language, tokenizer="stanza", segmenter=segmenter)
    return read_lines(tokens)


@pytest.mark.slow
def test_text_is_split_into_the_words_of_the_treebank(folder: Path, tmp_path: Path) -> None:
    learn(folder, tmp_path / "model.pt", 6)
    held_out = draw_sentences(3, 100)
    texts = ["".join(words).replace("max_sizePython", "max_size Python") for words in held_out]
    *lines, empty, latin = segment(tmp_path, [*texts, "", "Python 和 bdist_rpm"])
    assert sum(line.split(" ") == words for line, words in zip(lines, held_out, strict=True)) > 95
    assert empty == "" and {"Python", "bdist_rpm"} <= {*latin.split(" ")}
    assert sum(jieba.lcut(text) == words for text, words in zip(texts, held_out, strict=True)) < 50


FRENCH = [["le", "chat", "dort"], ["l'", "ami", "mange", "du", "pain"], ["aujourd'hui", "il", "va", "au", "marché"]]
GLUED = ("l'",)


def format_french_sentence(words: list[str], punctuation: str) -> str:
    """Format a sentence with `du` and `au` as multi-word tokens, and without a space after `l'`."""
    rows, position = [], 0
    for word in [*words, punctuation]:
        misc = "SpaceAfter=No" if word in GLUED or word == words[-1] else "_"
        forms = {"du": ["de", "le"], "au": ["à", "le"]}.get(word, [word])
        if len(forms) > 1:
            rows.append(f"{position + 1}-{position + 2}\t{word}" + "\t_" * 7 + f"\t{misc}\n")
            misc = "_"
        for form in forms:
            position += 1
            rows.append(format_row(position, form, misc))
    return "".join(rows) + "\n"


@pytest.mark.slow
def test_tokens_of_a_language_with_spaces_are_those_of_the_treebank(tmp_path: Path) -> None:
    """Unlike Moses, the treebank does not split `aujourd'hui`; a multi-word token is one token."""
    random_choice = random.Random(1).choice
    sentences = [format_french_sentence(random_choice(FRENCH), random_choice(".!?")) for _ in range(200)]
    (tmp_path / "bank.conllu").write_text("".join(sentences), encoding="utf-8")
    learn_segmenter(
        treebank_train=tmp_path / "bank.conllu",
        treebank_dev=tmp_path / "bank.conllu",
        language="fr",
        output=tmp_path / "model.pt",
        counts_output=tmp_path / "counts.json",
        epochs=12,
    )
    assert segment(tmp_path, ["aujourd'hui il mange du pain.", "l'ami va au marché!"], "fr") == [
        "aujourd'hui il mange du pain .",
        "l' ami va au marché !",
    ]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_read_jieba_words", lambda: ["我们", "老师", "那个", "孩子", "喜欢", "苹果"])
    for name in ("one.pt", "two.pt"):
        learn(folder, tmp_path / name, 1, "dev.conllu")
    assert (tmp_path / "one.pt").read_bytes() == (tmp_path / "two.pt").read_bytes()
    assert '"kept": 40' in (tmp_path / "one.json").read_text()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("", ": the file is empty; expected CoNLL-U"), ("1\t好\n\n", ", line 1: 2 columns instead of 10; CoNLL-U")],
)
def test_an_invalid_treebank_is_reported(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "bad.conllu").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"bad\.conllu{sentence}"):
        learn_segmenter(
            treebank_train=tmp_path / "bad.conllu",
            treebank_dev=tmp_path / "bad.conllu",
            output=tmp_path / "model.pt",
            counts_output=tmp_path / "counts.json",
        )
    assert not (tmp_path / "model.pt").exists()


def test_an_invalid_model_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("好\n", encoding="utf-8")
    for name, sentence in (("absent.pt", "no such model"), ("text", "not a model of learn_segmenter")):
        with pytest.raises(InputError, match=rf"{name}: {sentence}"):
            tokenize(
                input=tmp_path / "text",
                output=tmp_path / "out",
                language="zh",
                tokenizer="stanza",
                segmenter=tmp_path / name,
            )
