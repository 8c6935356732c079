"""Tests of the agreement of two parsers on examples and against nltk."""

from itertools import pairwise
from pathlib import Path

import nltk
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.binarize import Branching, binarize_tree
from pipeline_py.syntax.measure_agreement import measure_agreement
from pipeline_py.syntax.trees.constituency import read_phrase_treebank, to_bracket_string
from pipeline_py.syntax.trees.dependency import DependencyTree, build_failed_dependency_tree, write_dependency_trees
from pipeline_py.syntax.trees.tree_formats import TreeKind

TREEBANK = Path(__file__).parents[2] / "../shared/data/treebanks/en_gum"


def tree(words: str, heads: list[int], labels: str) -> DependencyTree:
    return DependencyTree(tuple(words.split(" ")), tuple(heads), tuple(labels.split(" ")), ("X",) * len(heads))


EMPTY = DependencyTree((), (), (), ())


def dependencies(path: Path, *trees: DependencyTree) -> Path:
    with path.open("w", encoding="utf-8") as file:
        write_dependency_trees(file, trees)
    return path


def phrases(path: Path, *lines: str) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def measures(first: Path, second: Path, annotation: str) -> dict[str, str]:
    output = first.with_name("agreement.tsv")
    kind = TreeKind(annotation)
    measure_agreement(first={"dev": {kind: first}}, second={"dev": {kind: second}}, output=output)
    table = pandas.read_csv(output, sep="\t", dtype=str, keep_default_na=False)
    assert [*table.columns] == ["split", "trees", "measure", "value"]
    assert set(table["split"]) == {"dev"} and set(table["trees"]) == {annotation}
    return dict(zip(table["measure"], table["value"], strict=True))


def test_agreement_of_dependency_trees(tmp_path: Path) -> None:
    first = dependencies(
        tmp_path / "a.conllu",
        tree("a\u00a0b \u2028 字 d", [2, 0, 2, 3], "nsubj root obj punct"),
        EMPTY,
        tree("a b", [0, 1], "root dep"),  # the same heads, another label
        tree("( b", [0, 1], "root dep"),  # the same tree
        build_failed_dependency_tree(["a", "b"], "why"),
        tree("a b", [0, 0], "root root"),
        tree("a", [0], "root"),
    )
    second = dependencies(
        tmp_path / "b.conllu",
        tree("a\u00a0b \u2028 字 d", [2, 0, 4, 2], "nsubj root obj punct"),
        EMPTY,
        tree("a b", [0, 1], "root flat"),
        tree("-LRB- b", [0, 1], "root dep"),
        tree("a b", [0, 1], "root dep"),
        build_failed_dependency_tree(["a", "b"], "why not"),
        tree("a", [0], "root"),
    )
    expected = {
        "sentences": "7",
        "empty lines": "1",
        "both parsed": "4",
        "words": "9",
        "UAS": f"{100 * 7 / 9:.2f}",
        "LAS": f"{100 * 6 / 9:.2f}",
        "identical trees (%)": "75.00",
        "identical labelled trees (%)": "50.00",
    }
    assert measures(first, second, "dependency") == measures(second, first, "dependency") == expected


def test_agreement_of_phrase_trees(tmp_path: Path) -> None:
    first = phrases(
        tmp_path / "a.ptb",
        "(S (NP (A a\u00a0b) (B \u2028)) (VP (C 字) (D -LRB-)))",
        "",
        "(FAILED (X a) (X b))",
        "(S (A a) (@S (B b) (C c)))",  # other labels
        "(S (A a) (@S (B b) (C c)))",  # other tags
        "(A a)",
        "(S (A a) (B b))",
    )
    second = phrases(
        tmp_path / "b.ptb",
        "(S (A a\u00a0b) (@S (B \u2028) (VP (C 字) (D -LRB-))))",
        "",
        "(S (A a) (B b))",
        "(S (A a) (VP (B b) (C c)))",
        "(S (X a) (@S (X b) (X c)))",
        "(A a)",
        "(FAILED (X a) (X b))",
    )
    expected = {
        "sentences": "7",
        "empty lines": "1",
        "both parsed": "4",
        "words": "11",
        "unlabelled bracket F1": f"{100 * 6 / 7:.2f}",  # of 3 + 2 + 2 brackets all but first
        "identical trees (%)": "75.00",
        "identical labelled trees (%)": "50.00",
    }
    assert measures(first, second, "constituency") == measures(second, first, "constituency") == expected


def test_measures_are_empty_without_comparable_trees(tmp_path: Path) -> None:
    first = dependencies(tmp_path / "a.conllu", EMPTY, build_failed_dependency_tree(["a"], "why"))
    second = dependencies(tmp_path / "b.conllu", EMPTY, tree("a", [0], "root"))
    agreement = measures(first, second, "dependency")
    assert (agreement.pop("sentences"), agreement.pop("empty lines"), agreement.pop("both parsed")) == ("2", "1", "0")
    assert agreement.pop("words") == "0"
    assert set(agreement.values()) == {""}
    agreement = measures(phrases(tmp_path / "a.ptb", "(A a)"), phrases(tmp_path / "b.ptb", "(B a)"), "constituency")
    assert agreement["both parsed"] == "1" and agreement["identical trees (%)"] == "100.00"
    assert agreement["unlabelled bracket F1"] == "", "one word has no brackets"


@st.composite
def binary_trees(draw: st.DrawFn, words: int) -> str:
    def phrase(start: int, end: int) -> str:
        if end - start == 1:
            return f"(X w{start})"
        cut = draw(st.integers(start + 1, end - 1))
        return f"({draw(st.sampled_from('AB'))} {phrase(start, cut)} {phrase(cut, end)})"

    return phrase(0, words)


@st.composite
def two_parses_of_a_text(draw: st.DrawFn) -> list[tuple[str, str]]:
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    return [(draw(binary_trees(words)), draw(binary_trees(words))) for words in lengths]


def list_brackets_with_nltk(text: str) -> set[tuple[str, ...]]:
    """Return brackets, represented by the words that they cover."""
    return {tuple(node.leaves()) for node in nltk.Tree.fromstring(text).subtrees() if len(node.leaves()) > 1}


@given(two_parses_of_a_text())
def test_bracket_agreement_agrees_with_nltk(
    tmp_path_factory: pytest.TempPathFactory, parses: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    first, second = (phrases(folder / f"{k}.ptb", *(pair[k] for pair in parses)) for k in (0, 1))
    agreement = measures(first, second, "constituency")
    spans = [(list_brackets_with_nltk(first), list_brackets_with_nltk(second)) for first, second in parses]
    precision = [len(first & second) for first, second in spans]
    total = sum(len(first) for first, _ in spans)
    assert agreement["unlabelled bracket F1"] == (f"{100 * sum(precision) / total:.2f}" if total else "")
    assert (
        agreement["identical trees (%)"] == f"{100 * sum(first == second for first, second in spans) / len(spans):.2f}"
    )
    same = [nltk.Tree.fromstring(first) == nltk.Tree.fromstring(second) for first, second in parses]
    assert agreement["identical labelled trees (%)"] == f"{100 * sum(same) / len(same):.2f}"


def test_agreement_of_two_branchings_of_a_treebank(tmp_path: Path) -> None:
    if not TREEBANK.exists():
        pytest.skip("the treebank en_gum is not on this machine")
    trees = [tree for tree, _ in zip(read_phrase_treebank(TREEBANK / "dev.ptb.gz"), range(200), strict=False)]
    left, right = (
        phrases(tmp_path / branching, *(to_bracket_string(binarize_tree(tree, branching).root) for tree in trees))
        for branching in (Branching.LEFT, Branching.RIGHT)
    )
    self_agreement = measures(left, left, "constituency")
    assert {self_agreement[name] for name in self_agreement if "F1" in name or "%" in name} == {"100.00"}
    agreement = measures(left, right, "constituency")
    common = total = 0
    for first, second in zip(left.read_text().splitlines(), right.read_text().splitlines(), strict=True):
        nltk_trees = [nltk.Tree.fromstring(line) for line in (first, second)]
        spans = []
        for parse in nltk_trees:
            for number, place in enumerate(parse.treepositions("leaves")):
                parse[place] = number
            spans.append({(min(p.leaves()), max(p.leaves())) for p in parse.subtrees() if len(p.leaves()) > 1})
        common += len(spans[0] & spans[1])
        total += len(spans[0])
    assert 0 < common < total
    assert agreement["unlabelled bracket F1"] == f"{100 * common / total:.2f}"


def test_splits_are_in_the_order_of_the_first_parser(tmp_path: Path) -> None:
    dependency_trees = dependencies(tmp_path / "d.conllu", tree("a", [0], "root"))
    phrase_trees = phrases(tmp_path / "t.ptb", "(A a)", "(S (A a) (B b))")
    first = {"dev": {TreeKind.DEPENDENCY: dependency_trees}, "t-1": {TreeKind.CONSTITUENCY: phrase_trees}}
    measure_agreement(first=first, second=dict(reversed(first.items())), output=tmp_path / "o.tsv")
    names = [tuple(line.split("\t")[:2]) for line in (tmp_path / "o.tsv").read_text().splitlines()[1:]]
    assert [first for first, second in pairwise([*names, None]) if first != second] == [
        ("dev", "dependency"),
        ("t-1", "constituency"),
    ]


def test_different_words_are_rejected(tmp_path: Path) -> None:
    first = dependencies(tmp_path / "a.conllu", EMPTY, tree("a b", [0, 1], "x x"))
    second = dependencies(tmp_path / "b.conllu", EMPTY, build_failed_dependency_tree(["a", "c"], "why"))
    message = r"b\.conllu, line 3: the words of sentence 2 are not those of .*a\.conllu, line 3; let both parsers"
    with pytest.raises(InputError, match=message):
        measures(first, second, "dependency")
    assert not (tmp_path / "agreement.tsv").exists()
    first, second = phrases(tmp_path / "a.ptb", "", "(A a)"), phrases(tmp_path / "b.ptb", "", "")
    with pytest.raises(InputError, match=r"b\.ptb, line 2: the words of sentence 2 are not those of .*a\.ptb, line 2"):
        measures(first, second, "constituency")
