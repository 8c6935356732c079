"""Tests of learning word tables."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pipeline_py.corpus.learn_segmenter import learn_segmenter
from pipeline_py.corpus.tokenize import tokenize
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.learn_word_table import learn_word_table
from pipeline_py.syntax.stanza.tokenizer import load_learned_tokenizer
from pipeline_py.syntax.treebank_text import treebank_text
from pipeline_py.syntax.trees.dependency import DependencyTree, read_dependency_trees
from pipeline_py.syntax.trees.tree_formats import TreeKind
from pipeline_py.syntax.words.parser_words import WordDivider, WordSpan, build_parser_sentence
from pipeline_py.syntax.words.word_matching import count_undivided_tokens, match_tree_words
from pipeline_py.syntax.words.word_table import WordTable

TREEBANKS = (Path(__file__).parents[2] / "../shared/data/treebanks").resolve()

FRENCH = """\
# text = Du pain aujourd'hui.
1-2	Du	_	_	_	_	_	_	_	_
1	De	_	ADP	_	_	3	case	_	_
2	le	_	DET	_	_	3	det	_	_
3	pain	_	NOUN	_	_	0	root	_	_
4	aujourd'hui	_	ADV	_	_	3	advmod	_	SpaceAfter=No
5	.	_	PUNCT	_	_	3	punct	_	_

# text = Il va au marché
1	Il	_	PRON	_	_	2	nsubj	_	_
2	va	_	VERB	_	_	0	root	_	_
3-4	au	_	_	_	_	_	_	_	_
3	à	_	ADP	_	_	5	case	_	_
4	le	_	DET	_	_	5	det	_	_
5	marché	_	NOUN	_	_	2	obl	_	_

"""


def tokenize_treebank(folder: Path, name: str, language: str, tokenizer: Any = "moses", **options: bool) -> None:
    """Write the text of the treebank `NAME.conllu` and its tokens."""
    text, tokens = folder / f"{name}.text", folder / f"{name}.tokens"
    treebank_text(
        annotation=TreeKind.DEPENDENCY,
        treebank=folder / f"{name}.conllu",
        form="original",
        language=language,
        output=text,
    )
    tokenize(input=text, output=tokens, language=language, tokenizer=tokenizer, **options)


def learn(treebank: Path, tokens: Path, output: Path, **options: bool) -> dict[str, int]:
    counts = output.with_suffix(".json")
    learn_word_table(treebank=treebank, tokens=tokens, output=output, counts_output=counts, **options)
    content: dict[str, int] = json.loads(counts.read_text())
    return content


@pytest.mark.parametrize("lowercase", [False, True])
def test_table_has_the_words_of_moses_tokens(tmp_path: Path, lowercase: bool) -> None:
    (tmp_path / "bank.conllu").write_text(FRENCH, encoding="utf-8")
    tokenize_treebank(tmp_path, "bank", "fr", lowercase=lowercase)
    assert (tmp_path / "bank.text").read_text(encoding="utf-8") == "Du pain aujourd'hui.\nIl va au marché\n"
    counts = learn(tmp_path / "bank.conllu", tmp_path / "bank.tokens", tmp_path / "table.tsv", lowercase=lowercase)
    rows = [line.split("\t") for line in (tmp_path / "table.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    du = ["du", "de le"] if lowercase else ["Du", "De le"]
    readings = [[tokens, words] for tokens, before, words, count in rows]
    assert sorted(readings) == sorted([["aujourd' hui", "aujourd'hui"], ["au", "à le"], du])
    assert counts == {"in": 2, "kept": 2, "dropped": {}, "noted": {"ambiguous entries": 0, "entries": 3}}


def test_sentence_with_different_characters_is_counted(tmp_path: Path) -> None:
    (tmp_path / "bank.conllu").write_text(FRENCH, encoding="utf-8")
    (tmp_path / "tokens").write_text("De pain aujourd'hui .\nIl va au marché\n", encoding="utf-8")
    counts = learn(tmp_path / "bank.conllu", tmp_path / "tokens", tmp_path / "table")
    assert counts["dropped"] == {"the tokens have other characters than the treebank": 1}


@pytest.mark.parametrize("lines", ["Du pain aujourd'hui .\n", "a\nb\nc\n"])
def test_different_numbers_of_sentences_are_rejected(tmp_path: Path, lines: str) -> None:
    (tmp_path / "bank.conllu").write_text(FRENCH, encoding="utf-8")
    (tmp_path / "tokens").write_text(lines, encoding="utf-8")
    with pytest.raises(InputError, match=r"tokens: not as many lines as \S*bank.conllu has sentences"):
        learn(tmp_path / "bank.conllu", tmp_path / "tokens", tmp_path / "table")
    assert not (tmp_path / "table").exists()


def build_tree(tokens: str, text: str, words: list[WordSpan]) -> DependencyTree:
    """Build a tree with arbitrary heads over the words of a text."""
    sentence = build_parser_sentence(tuple(tokens.split(" ")), text, words)
    unknown = ("_",) * len(sentence.words)
    return DependencyTree(
        sentence.words, tuple(range(len(unknown))), unknown, unknown, multiword_tokens=sentence.multiword_tokens
    )


def compute_word_f1(
    gold: list[DependencyTree], tokens: Path, divide: WordDivider, text_file: Path | None = None
) -> float:
    correct = words = 0
    lines = tokens.read_text(encoding="utf-8").splitlines()
    texts = lines if text_file is None else text_file.read_text(encoding="utf-8").splitlines()
    for tree, line, text, words_of_text in zip(gold, lines, texts, divide(texts), strict=True):
        read = build_tree(line, text, words_of_text)
        correct += len(match_tree_words(tree, read))
        words += len(tree.words) + len(read.words)
    return 200 * correct / words


def write_treebank_parts(tmp_path: Path, name: str, parts: tuple[str, str], language: str, tokenizer: str) -> None:
    """Write trees, text and tokens for learning and testing; of a treebank with one part, a fifth is for testing."""
    if not (TREEBANKS / name).is_dir():
        pytest.skip(f"the treebank {name} is not at {TREEBANKS}")

    files = {part: gzip.decompress((TREEBANKS / name / f"{part}.conllu.gz").read_bytes()).decode() for part in parts}
    sentences = [files[part].strip().split("\n\n") for part in parts]
    if parts[0] == parts[1]:
        cut = len(sentences[0]) * 4 // 5
        sentences = [sentences[0][:cut], sentences[0][cut:]]
    for part, part_sentences in zip(("learned", "held_out"), sentences, strict=True):
        (tmp_path / f"{part}.conllu").write_text("\n\n".join(part_sentences) + "\n\n", encoding="utf-8")
        tokenize_treebank(tmp_path, part, language, tokenizer)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parts", "language", "tokenizer", "max_token_f1", "min_word_f1"),
    [
        ("fr_sequoia", ("train", "test"), "fr", "moses", 95, 98.5),
        ("vi_vtb", ("train", "test"), "vi", "moses", 76, 87),
        ("zh_gsd", ("train", "test"), "zh", "jieba", 80, 88),
        ("tr_pud", ("test", "test"), "tr", "moses", 89, 90),
        ("ar_pud", ("test", "test"), "ar", "moses", 82, 87.5),
    ],
)
def test_table_improves_words_of_real_treebanks(
    tmp_path: Path,
    name: str,
    parts: tuple[str, str],
    language: str,
    tokenizer: str,
    max_token_f1: float,
    min_word_f1: float,
) -> None:
    write_treebank_parts(tmp_path, name, parts, language, tokenizer)
    learn(tmp_path / "learned.conllu", tmp_path / "learned.tokens", tmp_path / "table")
    gold = list(read_dependency_trees(tmp_path / "held_out.conllu"))
    assert compute_word_f1(gold, tmp_path / "held_out.tokens", WordTable({}).divide_sentences) < max_token_f1
    assert (
        compute_word_f1(gold, tmp_path / "held_out.tokens", WordTable.read(tmp_path / "table").divide_sentences)
        > min_word_f1
    )


def write_treebank(path: Path, *sentences: str) -> None:
    """Write sentences in the notation `token=word+word`; `~` joins words without a space."""
    blocks = []
    for sentence in sentences:
        rows: list[str] = []
        place = 0
        for token in sentence.replace("~", " ~").split(" "):
            form, _, parts = token.removeprefix("~").partition("=")
            words = (parts or form).split("+")
            if token.startswith("~"):
                rows[-1] = rows[-1].removesuffix("_") + "SpaceAfter=No"
            if parts:
                rows.append(f"{place + 1}-{place + len(words)}\t{form}" + "\t_" * 8)
            for word in words:
                place += 1
                rows.append(f"{place}\t{word}\t_\tX\t_\t_\t{place - 1}\tdep\t_\t_")
        blocks.append("\n".join(rows) + "\n\n")
    path.write_text("".join(blocks), encoding="utf-8")


@pytest.mark.parametrize(
    ("language", "learned", "held_out", "words", "counts"),
    [
        # Turkish: -ki, and the copulas -ydi and -dir.
        (
            "tr",
            ("Evdeki=Evde+ki kedi aç", "Ali evdeydi=evde+ydi", "Bu kitaptır=kitap+tır"),
            "Evdeki=Evde+ki adam okuldaydı=okulda+ydı",
            ["Evde", "ki", "adam", "okuldaydı"],
            (2, 1),
        ),
        # Arabic: w+, b+ and l+ before a word, +h after it.
        (
            "ar",
            ("و~قال ل~ه", "ب~البيت كتاب", "كتاب~ه هنا"),
            "و~قال كتاب~ه ل~البيت",
            ["و", "قال", "كتاب", "ه", "لالبيت"],
            (3, 1),
        ),
    ],
)
def test_unknown_multiword_tokens_are_undivided_and_counted(
    tmp_path: Path, language: str, learned: tuple[str, ...], held_out: str, words: list[str], counts: tuple[int, int]
) -> None:
    write_treebank(tmp_path / "learned.conllu", *learned)
    write_treebank(tmp_path / "held_out.conllu", held_out)
    for part in ("learned", "held_out"):
        tokenize_treebank(tmp_path, part, language)
    learn(tmp_path / "learned.conllu", tmp_path / "learned.tokens", tmp_path / "table")
    line = (tmp_path / "held_out.tokens").read_text(encoding="utf-8").strip()
    (words_of_text,) = WordTable.read(tmp_path / "table").divide_sentences([line])
    read = build_tree(line, line, words_of_text)
    (gold,) = read_dependency_trees(tmp_path / "held_out.conllu")
    assert list(read.words) == words
    assert count_undivided_tokens(gold, read, is_space_delimited=True) == counts


@pytest.mark.slow
@pytest.mark.parametrize(("name", "language", "min_f1"), [("tr_pud", "tr", 93), ("ar_pud", "ar", 93)])
def test_trained_tokenizer_divides_unknown_tokens(tmp_path: Path, name: str, language: str, min_f1: float) -> None:
    write_treebank_parts(tmp_path, name, ("test", "test"), language, "moses")
    learn(tmp_path / "learned.conllu", tmp_path / "learned.tokens", tmp_path / "table")
    trees = (tmp_path / "learned.conllu").read_text(encoding="utf-8").split("\n\n")
    (tmp_path / "dev.conllu").write_text("\n\n".join(trees[:50]) + "\n\n", encoding="utf-8")
    learn_segmenter(
        treebank_train=tmp_path / "learned.conllu",
        treebank_dev=tmp_path / "dev.conllu",
        language=language,
        output=tmp_path / "model.pt",
        counts_output=tmp_path / "counts.json",
        words=True,
        epochs=12,
    )
    divide = WordTable.read(tmp_path / "table").build_expanding_divider(
        load_learned_tokenizer(language, tmp_path / "model.pt")
    )
    gold = list(read_dependency_trees(tmp_path / "held_out.conllu"))
    assert compute_word_f1(gold, tmp_path / "held_out.tokens", divide, tmp_path / "held_out.text") > min_f1
