"""Tests of parser accuracy on examples and against nltk."""

import gzip
from collections import Counter
from itertools import pairwise
from pathlib import Path

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.measure_accuracy import measure_accuracy
from pipeline_py.syntax.trees.bracket_scoring import count_matching_brackets
from pipeline_py.syntax.trees.constituency import (
    PhraseNode,
    PhraseTree,
    Preterminal,
    read_phrase_treebank,
    to_bracket_string,
)
from pipeline_py.syntax.trees.tree_formats import TreeKind


def rows(path: Path) -> dict[str, tuple[str, str, str]]:
    header, *lines = path.read_text().splitlines()
    assert header == "metric\tvalue\tsentences\twords"
    return {
        metric: (value, sentences, words) for metric, value, sentences, words in (line.split("\t") for line in lines)
    }


def conllu(*sentences: str) -> str:
    """Build CoNLL-U from `word/UPOS/head/label` for every word."""
    blocks = []
    for sentence in sentences:
        comments = [part for part in sentence.split(" ") if part.startswith("#")]
        words = [part.split("/") for part in sentence.split(" ") if not part.startswith("#")]
        lines = [comment.replace("~", " ") for comment in comments]
        lines += [f"{n}\t{w}\t_\t{u}\t_\t_\t{h}\t{d}\t_\t_" for n, (w, u, h, d) in enumerate(words, 1)]
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


def test_dependency_accuracy(tmp_path: Path) -> None:
    gold = conllu("We/PRON/2/nsubj go/VERB/0/root home/ADV/2/advmod ./PUNCT/2/punct", "No/INTJ/0/root ./PUNCT/1/punct")
    predicted = conllu(
        "we/PRON/2/obj go/NOUN/0/root home/ADV/2/advmod ./PUNCT/3/punct",
        "#~parse~=~failed:~why no/INTJ/0/root ./PUNCT/1/punct",
    )
    (tmp_path / "gold.conllu.gz").write_bytes(gzip.compress(gold.encode()))
    (tmp_path / "predicted.conllu").write_text(predicted)
    measure_accuracy(
        annotation=TreeKind.DEPENDENCY,
        gold=tmp_path / "gold.conllu.gz",
        predicted=tmp_path / "predicted.conllu",
        lowercase=True,
        output=tmp_path / "o.tsv",
    )
    assert rows(tmp_path / "o.tsv") == {
        "UPOS": ("50.00", "2", "6"),
        "UAS": ("50.00", "2", "6"),
        "LAS": ("33.33", "2", "6"),
        "failed parses": ("1", "2", "6"),
    }


GOLD = """\
1	Il	_	PRON	_	_	2	nsubj	_	_
2	va	_	VERB	_	_	0	root	_	_
3-4	au	_	_	_	_	_	_	_	_
3	à	_	ADP	_	_	5	case	_	_
4	le	_	DET	_	_	5	det	_	_
5	marché	_	NOUN	_	_	2	obl	_	_

"""


@pytest.mark.parametrize(
    ("raw", "values"),
    [
        # All words: one wrong tag, one wrong head, one wrong label.
        (
            GOLD.replace("à	_	ADP", "à	_	X").replace("5	det", "2	det").replace("nsubj", "obj"),
            ("100.00", "80.00", "80.00", "60.00", "0", "1", "0.00", "0"),
        ),
        # `au` as one word: three words match, of five gold and four predicted words.
        (
            conllu("Il/PRON/2/nsubj va/VERB/0/root au/ADP/4/case marché/NOUN/2/obl"),
            (*[f"{200 * 3 / 9:.2f}"] * 4, "0", "1", "100.00", "0"),
        ),
        (
            conllu("#~parse~=~failed:~why Il/PRON/2/nsubj va/VERB/0/root au/ADP/4/case marché/NOUN/2/obl"),
            (f"{200 * 3 / 9:.2f}", *["0.00"] * 3, "1", "1", "100.00", "0"),
        ),
        (conllu("Elle/PRON/0/root"), (*["0.00"] * 4, "0", "0", "0.00", "1")),
    ],
)
def test_accuracy_on_raw_text(tmp_path: Path, raw: str, values: tuple[str, ...]) -> None:
    for name, trees in (("gold", GOLD), ("predicted", GOLD), ("raw", raw)):
        (tmp_path / name).write_text(trees, encoding="utf-8")
    measure_accuracy(
        annotation=TreeKind.DEPENDENCY,
        gold=tmp_path / "gold",
        predicted=tmp_path / "predicted",
        raw_text=tmp_path / "raw",
        output=tmp_path / "o.tsv",
    )
    measures = rows(tmp_path / "o.tsv")
    assert measures["LAS"] == ("100.00", "1", "5")
    metrics = ["words", "UPOS", "UAS", "LAS", "failed parses", "multi-word tokens", "multi-word tokens left whole (%)"]
    metrics += ["sentences with other characters"]
    assert tuple(measures[f"{metric} (raw text)"][0] for metric in metrics) == values


def test_wrong_raw_text_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "gold").write_text(GOLD, encoding="utf-8")
    (tmp_path / "raw").write_text(GOLD * 2, encoding="utf-8")
    files = {"gold": tmp_path / "gold", "predicted": tmp_path / "gold", "raw_text": tmp_path / "raw"}
    with pytest.raises(InputError, match=r"raw: not as many sentences as \S*gold; parse its text again"):
        measure_accuracy(annotation=TreeKind.DEPENDENCY, **files, output=tmp_path / "o.tsv")
    with pytest.raises(InputError, match="raw text is measured with dependency trees only"):
        measure_accuracy(annotation=TreeKind.CONSTITUENCY, **files, output=tmp_path / "o.tsv")


def test_constituency_accuracy(tmp_path: Path) -> None:
    # Gold: S(0,5) NP(0,1) VP(1,5) NP(2,3) PP(3,5) NP(4,5), the full stop left out.
    # Predicted: S(0,5) NP(0,1) VP(1,5) NP(2,5) NP(2,3) PP(3,5) NP(4,5) but labelled ADJP, the full stop inside of VP
    # and with the tag of a noun, since gold tags tell what is left out.
    (tmp_path / "gold.mrg").write_text(
        "( (S (NP-SBJ (PRP I)) (VP (VBD saw) (NP (NN man) (NP (-NONE- *)))\n"
        "  (PP-LOC (IN in) (NP=1 (NN park)))) (. .)))\n(ROOT (X (Y b)))"
    )
    (tmp_path / "predicted.ptb").write_text(
        "(ROOT (S (NP (PRP I)) (VP (VBD saw) (NP (NP (NN man)) (PP (IN in) (ADJP (NN park)))) (NN .))))\n"
        "(FAILED (X b))\n"
    )
    measure_accuracy(
        annotation=TreeKind.CONSTITUENCY,
        gold=tmp_path / "gold.mrg",
        predicted=tmp_path / "predicted.ptb",
        output=tmp_path / "o.tsv",
    )
    assert rows(tmp_path / "o.tsv") == {
        "bracket precision": (f"{100 * 5 / 7:.2f}", "2", "7"),
        "bracket recall": (f"{100 * 5 / 7:.2f}", "2", "7"),
        "bracket F1": (f"{100 * 5 / 7:.2f}", "2", "7"),
        "failed parses": ("1", "2", "7"),
    }


WORDS = 7


@st.composite
def trees_over_the_same_words(draw: st.DrawFn) -> PhraseTree:
    tags = ["NN", "VB", ".", "NN", ",", "NN", "NN"]

    def phrase(start: int, end: int, depth: int) -> PhraseNode:
        cuts = draw(st.sets(st.integers(start + 1, end - 1), max_size=3)) if end - start > 1 else set()
        edges = [start, *sorted(cuts), end]
        children = tuple(
            Preterminal(tags[a], f"w{a}")
            if b - a == 1 and (depth > 3 or draw(st.booleans()))
            else phrase(a, b, depth + 1)
            if depth < 4
            else PhraseNode("X", tuple(Preterminal(tags[k], f"w{k}") for k in range(a, b)))
            for a, b in pairwise(edges)
        )
        return PhraseNode(draw(st.sampled_from(["S", "NP", "VP-TMP"])), children)

    return PhraseTree(PhraseNode("ROOT", (phrase(0, WORDS, 0),)))


def count_brackets_with_nltk(tree: PhraseTree) -> Counter[tuple[str, tuple[str, ...]]]:
    """Count brackets, represented by the words that they cover."""
    brackets: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for phrase in nltk.Tree.fromstring(to_bracket_string(tree.root)).subtrees(
        lambda t: t.height() > 2 and t.label() != "ROOT"
    ):
        words = tuple(word for word, tag in phrase.pos() if tag not in (".", ","))
        if words:
            brackets[phrase.label().split("-")[0], words] += 1
    return brackets


@given(trees_over_the_same_words(), trees_over_the_same_words())
def test_bracket_counts_agree_with_nltk(gold: PhraseTree, predicted: PhraseTree) -> None:
    expected, actual = count_brackets_with_nltk(gold), count_brackets_with_nltk(predicted)
    assert count_matching_brackets(gold, predicted) == ((expected & actual).total(), expected.total(), actual.total())


def test_gold_trees_have_perfect_accuracy(tmp_path: Path) -> None:
    gold = Path(__file__).parents[2] / "../shared/data/treebanks/en_gum/dev.ptb.gz"
    if not gold.exists():
        pytest.skip("the treebank en_gum is not on this machine")
    with (tmp_path / "p.ptb").open("w", encoding="utf-8") as file:
        file.writelines(to_bracket_string(tree.root) + "\n" for tree in read_phrase_treebank(gold))
    measure_accuracy(
        annotation=TreeKind.CONSTITUENCY, gold=gold, predicted=tmp_path / "p.ptb", output=tmp_path / "o.tsv"
    )
    assert rows(tmp_path / "o.tsv")["bracket F1"][0] == "100.00"
