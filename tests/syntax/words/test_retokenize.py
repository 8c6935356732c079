"""Tests of the conversion of trees to tokens, on examples and against networkx."""

import gzip
from pathlib import Path

import conllu
import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.syntax.trees.constituency import read_phrase_treebank, to_bracket_string
from pipeline_py.syntax.trees.dependency import DependencyTree, MultiwordToken, find_head_error, read_dependency_trees
from pipeline_py.syntax.words.retokenize import (
    WordPlacement,
    build_placement,
    retokenize_dependency_tree,
    retokenize_phrase_tree,
)
from pipeline_py.syntax.words.token_alignment import align_words_with_tokens

TREEBANKS = Path(__file__).parents[3] / "../shared/data/treebanks"


def retokenize(tree: DependencyTree, text: str) -> DependencyTree:
    tokens = text.split(" ")
    return retokenize_dependency_tree(
        tree, tokens, build_placement(align_words_with_tokens(tree.words, tokens, tree.multiword_tokens))
    )


def test_words_of_a_multiword_token_become_one_node() -> None:
    tree = DependencyTree(
        ("Je", "viens", "de", "le", "grand", "marché"),
        (2, 0, 6, 6, 6, 2),
        ("nsubj", "root", "case", "det", "amod", "obl"),
        ("PRON", "VERB", "ADP", "DET", "ADJ", "NOUN"),
        multiword_tokens=(MultiwordToken(3, 4, "du"),),
    )
    assert retokenize(tree, "Je viens du grand marché") == DependencyTree(
        ("Je", "viens", "du", "grand", "marché"),
        (2, 0, 5, 5, 2),
        ("nsubj", "root", "case", "amod", "obl"),
        ("PRON", "VERB", "ADP", "ADJ", "NOUN"),
    )
    assert retokenize(tree, "Je viens de le grand marché") == tree


def test_topmost_word_takes_the_dependents_of_all_words() -> None:
    # Spanish "dámelo ya hoy": the verb is the root of its clitics; "hoy" hangs on one of these here.
    tree = DependencyTree(
        ("da", "me", "lo", "ya", "hoy"),
        (0, 1, 2, 1, 3),
        ("root", "iobj", "obj", "advmod", "nmod"),
        ("VERB", "PRON", "PRON", "ADV", "ADV"),
        multiword_tokens=(MultiwordToken(1, 3, "dámelo"),),
    )
    assert retokenize(tree, "dámelo ya hoy") == DependencyTree(
        ("dámelo", "ya", "hoy"), (0, 1, 1), ("root", "advmod", "nmod"), ("VERB", "ADV", "ADV")
    )


def test_parts_of_a_word_depend_on_the_first() -> None:
    tree = DependencyTree(("10\u00a0000\u00a0000", "Leute"), (2, 0), ("nummod", "root"), ("NUM", "NOUN"))
    assert retokenize(tree, "10 000 000 Leute") == DependencyTree(
        ("10", "000", "000", "Leute"), (4, 1, 1, 0), ("nummod", "flat", "flat", "root"), ("NUM", "NUM", "NUM", "NOUN")
    )


def test_words_that_overlap_several_tokens() -> None:
    # "I do n't like e-mail at 10:30", in tokens of another treebank.
    tree = DependencyTree(
        ("I", "do", "n't", "like", "e-mail", "at", "10:30"),
        (4, 4, 4, 0, 4, 7, 4),
        ("nsubj", "aux", "advmod", "root", "obj", "case", "obl"),
        ("PRON", "AUX", "PART", "VERB", "NOUN", "ADP", "NUM"),
    )
    tokens = ("I", "don", "'t", "like", "e", "-", "mail", "at", "10:30")
    places = WordPlacement((0, 1, 2, 3, 6, 7, 8), (0, 1, 2, 3, 6, 6, 6, 7, 8))
    assert retokenize_dependency_tree(tree, tokens, places) == DependencyTree(
        tokens,
        (4, 4, 4, 0, 7, 7, 4, 9, 4),
        ("nsubj", "aux", "advmod", "root", "flat", "flat", "obj", "case", "obl"),
        ("PRON", "AUX", "PART", "VERB", "NOUN", "NOUN", "NOUN", "ADP", "NUM"),
    )


def contract_with_networkx(heads: list[int], groups: list[list[int]]) -> tuple[list[int], list[int]]:
    """Return the topmost word of each group of words, and the heads of the groups."""
    graph = nx.DiGraph((head, word) for word, head in enumerate(heads, start=1))
    graph.add_node(0)
    depths = nx.single_source_shortest_path_length(graph, 0)
    tops = []
    for group in groups:
        top = sorted(group, key=lambda word: (depths[word], word))[0]
        tops.append(top)
        for word in group:
            if word != top:
                graph.remove_edges_from(list(graph.in_edges(word)))
                graph = nx.contracted_nodes(graph, top, word, self_loops=False)
    assert nx.is_arborescence(graph)
    place = {0: 0, **{top: number for number, top in enumerate(tops, start=1)}}
    return tops, [place[next(iter(graph.predecessors(top)))] for top in tops]


@st.composite
def grouped_trees(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Draw the heads of a tree and the sizes of groups of neighbouring words."""
    size = draw(st.integers(1, 10))
    order = draw(st.permutations(range(1, size + 1)))
    heads = [0] * size
    for place, word in enumerate(order):
        parent = draw(st.integers(0, place))
        heads[word - 1] = 0 if parent == 0 else order[parent - 1]
    sizes: list[int] = []
    while (remaining := size - sum(sizes)) > 0:
        sizes.append(draw(st.integers(1, min(4, remaining))))
    return heads, sizes


@given(grouped_trees())
def test_contraction_agrees_with_networkx(grouped: tuple[list[int], list[int]]) -> None:
    heads, sizes = grouped
    firsts = [1 + sum(sizes[:k]) for k in range(len(sizes))]
    groups = [list(range(first, first + size)) for first, size in zip(firsts, sizes, strict=True)]
    tree = DependencyTree(
        tuple(f"w{word}" for word in range(1, len(heads) + 1)),
        tuple(heads),
        tuple(f"l{word}" for word in range(1, len(heads) + 1)),
        ("X",) * len(heads),
        multiword_tokens=tuple(MultiwordToken(group[0], group[-1], f"g{group[0]}") for group in groups),
    )
    converted = retokenize(tree, " ".join(f"g{first}" for first in firsts))
    assert find_head_error(converted.heads) is None
    tops, expected = contract_with_networkx(heads, groups)
    assert list(converted.heads) == expected
    assert list(converted.labels) == [f"l{top}" for top in tops]


@pytest.mark.parametrize("corpus", ["en_gum/dev", "en_gum/test"])
def test_multiword_tokens_of_a_treebank_are_contracted(corpus: str) -> None:
    path = TREEBANKS / f"{corpus}.conllu.gz"
    if not path.exists():
        pytest.skip(f"the treebank {corpus} is not on this machine")
    contractions = 0
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for sentence, tree in zip(conllu.parse_incr(file), read_dependency_trees(path), strict=True):
            words = [row for row in sentence if isinstance(row["id"], int)]
            covered: dict[int, tuple[int, str]] = {}
            for row in sentence:
                if isinstance(row["id"], tuple) and row["id"][1] == "-":
                    covered[row["id"][0]] = row["id"][2], row["form"]
            groups, surface, word = [], [], 1
            while word <= len(words):
                last, form = covered.get(word, (word, words[word - 1]["form"]))
                groups.append(list(range(word, last + 1)))
                surface.append(form)
                word = last + 1
            contractions += len(words) - len(groups)
            converted = retokenize(tree, " ".join(surface))
            assert list(converted.words) == surface
            tops, expected = contract_with_networkx([row["head"] for row in words], groups)
            assert list(converted.heads) == expected
            assert list(converted.labels) == [words[top - 1]["deprel"] for top in tops]
            assert list(converted.upos) == [words[top - 1]["upos"] for top in tops]
    assert contractions > 400


def phrases(path: Path, bracketed: str, text: str) -> str:
    path.write_text(bracketed, encoding="utf-8")
    (tree,) = read_phrase_treebank(path)
    tokens = text.split()
    return to_bracket_string(
        retokenize_phrase_tree(tree, tokens, build_placement(align_words_with_tokens(tree.words, tokens))).root
    )


def test_phrases_have_the_spelling_of_the_text_and_no_traces(tmp_path: Path) -> None:
    converted = phrases(
        tmp_path / "x.mrg",
        "( (S (NP-SBJ-1 (-NONE- *)) (VP=2 (VB go) (NP (-NONE- *T*)) (CD 10\u00a0000)) (. -RSB-)))",
        "go 10 000 ]",
    )
    assert converted == "( (S (VP=2 (VB go) (CD (CD 10) (CD 000))) (. ])))"


def convert_phrases(path: Path, bracketed: str, tokens: str, places: WordPlacement) -> str:
    path.write_text(bracketed, encoding="utf-8")
    (tree,) = read_phrase_treebank(path)
    return to_bracket_string(retokenize_phrase_tree(tree, tokens.split(), places).root)


def test_phrases_with_words_that_overlap_several_tokens(tmp_path: Path) -> None:
    converted = convert_phrases(
        tmp_path / "x.mrg",
        "(S (NP (PRP I)) (VP (VBP do) (RB n't) (VP (VB like) (NP (NN e-mail)))))",
        "I don 't like e - mail",
        WordPlacement((0, 1, 2, 3, 6), (0, 1, 2, 3, 6, 6, 6)),
    )
    assert converted == "(S (NP (PRP I)) (VP (VBP don) (RB 't) (VP (VB like) (NP (NN (NN e) (NN -) (NN mail))))))"


def test_words_of_one_token_become_the_leaf_of_the_topmost_word(tmp_path: Path) -> None:
    text = "(S (VP (VBG gon) (S (VP (TO na) (VP (VB go))))) (NP (NP (JJ deep)) (NN er)))"
    assert convert_phrases(tmp_path / "x.mrg", text, "gonna go deeper", WordPlacement((0, 0, 1, 2, 2), (0, 1, 2))) == (
        "(S (VP (VBG gonna) (S (VP (VP (VB go))))) (NP (NN deeper)))"
    )


def test_sentence_of_traces_becomes_empty(tmp_path: Path) -> None:
    assert phrases(tmp_path / "x.mrg", "(S (NP (-NONE- *)) (-NONE- *T*))", "") == ""
