"""A segmenter cuts text into the words of the treebank that it has learnt from."""

import gzip
import random
from itertools import pairwise
from pathlib import Path

import jieba
import pytest

from pipeline_py.corpus.learn_segmenter import _read_treebank_sentences, learn_segmenter
from pipeline_py.corpus.tokenize import tokenize
from pipeline_py.run.errors import InputError
from tests.text_files import read_lines, write_lines

TREEBANK = Path(__file__).parents[2].parent / "shared" / "data" / "treebanks" / "zh_gsd"

WHO, DOES, WHAT = ["我们", "老师", "那个孩子", "Python", "他"], ["喜欢", "看见了", "不要"], ["红苹果", "书", "max_size"]
"""Words of a treebank that has words of its own: jieba takes 那个孩子 for 那个 and 孩子."""


def block(words: list[str]) -> str:
    rows = [
        f"{place}\t{word}\t{word}\tX\t_\t_\t{place - 1}\tdep\t_\tSpaceAfter=No"
        for place, word in enumerate(words, start=1)
    ]
    return "\n".join(rows) + "\n\n"


def sentences(seed: int, number: int) -> list[list[str]]:
    """Sentences that name two who do something, with `Python` and `max_size` side by side now and then."""
    draw = random.Random(seed)
    return [
        [draw.choice(WHO), draw.choice(DOES), draw.choice(WHAT), draw.choice(WHO), draw.choice(DOES), "。"]
        for _ in range(number)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("segmenter")
    with gzip.open(folder / "train.conllu.gz", "wt", encoding="utf-8") as file:
        file.write("".join(map(block, sentences(1, 400))))
    (folder / "dev.conllu").write_text("".join(map(block, sentences(2, 40))), encoding="utf-8")
    return folder


def learn(folder: Path, output: Path, epochs: int, train: str = "train.conllu.gz") -> None:
    learn_segmenter(
        treebank_train=folder / train,
        treebank_dev=folder / "dev.conllu",
        output=output,
        counts_output=output.with_suffix(".json"),
        epochs=epochs,
    )


def test_byte_order_marks_of_joined_treebanks_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "joined.conllu").write_text(f"\ufeff{block(['我们', '书'])}\ufeff{block(['他'])}", encoding="utf-8")
    sentences = _read_treebank_sentences(tmp_path / "joined.conllu", "zh", should_split_multiword=False)
    assert [[word for word, _ in sentence] for sentence in sentences] == [["我们", "书"], ["他"]]


def row(place: int, form: str, misc: str = "_", features: str = "_") -> str:
    return f"{place}\t{form}\t_\tX\t_\t{features}\t{place - 1}\tdep\t_\t{misc}\n"


@pytest.mark.parametrize(
    "treebank",
    [
        f"{row(1, 'Il')}{row(2, 'a')}{row(3, '10 000', 'SpaceAfter=No')}{row(4, '€')}\n",
        f"# text = Il a 10 000€\n{row(1, 'Il')}{row(2, 'a')}{row(3, '10 000')}{row(4, '€')}\n",
        f"# text = I\u00adl a 10\u00a0000€\n{row(1, 'Il')}{row(2, 'a')}{row(3, '10 000')}{row(4, '€')}\n",
        f"\n# header\n\n{row(1, 'Il', features=' ')}{row(2, 'a')}2.1\tb{chr(9).join([''] + ['_'] * 8)}\n"
        f"{row(3, '10 000', 'SpaceAfter=No')}{row(4, '€')}\n",
    ],
    ids=["SpaceAfter", "text", "invisible", "odd"],
)
def test_spaces_are_those_of_the_text(tmp_path: Path, treebank: str) -> None:
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
def test_text_is_cut_into_the_words_of_the_treebank(folder: Path, tmp_path: Path) -> None:
    learn(folder, tmp_path / "model.pt", 6)
    held_out = sentences(3, 100)
    texts = ["".join(words).replace("max_sizePython", "max_size Python") for words in held_out]
    *lines, empty, latin = segment(tmp_path, [*texts, "", "Python 和 bdist_rpm"])
    assert sum(line.split(" ") == words for line, words in zip(lines, held_out, strict=True)) > 95
    assert empty == "" and {"Python", "bdist_rpm"} <= {*latin.split(" ")}
    assert sum(jieba.lcut(text) == words for text, words in zip(texts, held_out, strict=True)) < 50


FRENCH = [["le", "chat", "dort"], ["l'", "ami", "mange", "du", "pain"], ["aujourd'hui", "il", "va", "au", "marché"]]
GLUED = ("l'",)


def french_block(words: list[str], punctuation: str) -> str:
    """A sentence with a space after every token but those that are glued; `du` and `au` are multi-word tokens."""
    rows, place = [], 0
    for word in [*words, punctuation]:
        misc = "SpaceAfter=No" if word in GLUED or word == words[-1] else "_"
        forms = {"du": ["de", "le"], "au": ["à", "le"]}.get(word, [word])
        if len(forms) > 1:
            rows.append(f"{place + 1}-{place + 2}\t{word}" + "\t_" * 7 + f"\t{misc}")
            misc = "_"
        for form in forms:
            place += 1
            rows.append(f"{place}\t{form}\t_\tX\t_\t_\t{place - 1}\tdep\t_\t{misc}")
    return "\n".join(rows) + "\n\n"


@pytest.mark.slow
def test_tokens_of_a_language_with_spaces(tmp_path: Path) -> None:
    """Moses divides `aujourd'hui`, and the treebank does not; a multi-word token is one token."""
    draw = random.Random(1)
    bank = [french_block(draw.choice(FRENCH), draw.choice(".!?")) for _ in range(200)]
    (tmp_path / "bank.conllu").write_text("".join(bank), encoding="utf-8")
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
def test_the_same_seed_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    for name in ("one.pt", "two.pt"):
        learn(folder, tmp_path / name, 1, "dev.conllu")
    assert (tmp_path / "one.pt").read_bytes() == (tmp_path / "two.pt").read_bytes()
    assert '"kept": 40' in (tmp_path / "one.json").read_text()


@pytest.mark.slow
def test_a_real_treebank_is_followed_more_closely_than_by_jieba(tmp_path: Path) -> None:
    if not TREEBANK.is_dir():
        pytest.skip(f"the Chinese treebank is not at {TREEBANK}")
    learn_segmenter(
        treebank_train=TREEBANK / "train.conllu.gz",
        treebank_dev=TREEBANK / "dev.conllu.gz",
        output=tmp_path / "model.pt",
        counts_output=tmp_path / "counts.json",
        epochs=1,
    )
    with gzip.open(TREEBANK / "test.conllu.gz", "rt", encoding="utf-8") as file:
        blocks = file.read().strip().split("\n\n")
    gold = [[row.split("\t")[1] for row in each.split("\n") if row[0] != "#"] for each in blocks]
    texts = ["".join(words) for words in gold]
    learnt = [line.split(" ") for line in segment(tmp_path, texts)]
    assert f1(gold, learnt) > f1(gold, [jieba.lcut(text) for text in texts])


def f1(gold: list[list[str]], found: list[list[str]]) -> float:
    """F1 of words by where they begin and end."""

    def spans(words: list[str]) -> set[tuple[int, int]]:
        ends = [sum(map(len, words[:place])) for place in range(len(words) + 1)]
        return {*pairwise(ends)}

    pairs = [(spans(one), spans(other)) for one, other in zip(gold, found, strict=True)]
    return 2 * sum(len(one & other) for one, other in pairs) / sum(len(one) + len(other) for one, other in pairs)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("", ": the file is empty; expected CoNLL-U"), ("1\t好\n\n", ", line 1: 2 columns instead of 10; CoNLL-U")],
)
def test_a_file_that_is_no_treebank_is_named(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "bad.conllu").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"bad\.conllu{sentence}"):
        learn_segmenter(
            treebank_train=tmp_path / "bad.conllu",
            treebank_dev=tmp_path / "bad.conllu",
            output=tmp_path / "model.pt",
            counts_output=tmp_path / "counts.json",
        )
    assert not (tmp_path / "model.pt").exists()


def test_what_is_no_segmenter_is_refused(tmp_path: Path) -> None:
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
