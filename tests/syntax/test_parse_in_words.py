"""Tests of parsing words that differ from the tokens."""

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline_py.corpus.tokenize import tokenize
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_runner import run_job
from pipeline_py.syntax.merge_trees import merge_trees
from pipeline_py.syntax.parse import parse
from pipeline_py.syntax.stanza.model_source import ModelSource
from pipeline_py.syntax.trees.constituency import read_phrase_trees, to_bracket_string
from pipeline_py.syntax.trees.dependency import DependencyTree, MultiwordToken, read_dependency_trees
from pipeline_py.syntax.trees.tree_formats import TreeKind
from pipeline_py.syntax.words.parser_words import (
    AMBIGUOUS_TOKENS_NOTE,
    OTHER_WORDS_NOTE,
    SEVERAL_WORDS_NOTE,
    SHARED_WORD_NOTE,
    WORD_PART_NOTE,
    WordSpan,
)
from tests.job_process import build_cached_job

ROOT = Path(__file__).parents[2]
DATA = ROOT / "../shared/data"
STANZA = DATA / "stanza_en"

needs_models = pytest.mark.skipif(not STANZA.exists(), reason="the Stanza directory stanza_en is not on this machine")

TEXT = "I don't know.\n\nYou cannot.\nthe well-known\nnot the same\n"
TOKENS = "I don 't know .\n\nYou cannot .\nthe well-known\nother characters\n"


class Chains:
    """A fake Stanza pipeline that makes each word the head of the next and records its input."""

    device = "cpu"
    config: dict[str, Any] = {}

    def __init__(self, tags: Sequence[str]) -> None:
        self.processors = {"pos": SimpleNamespace(get_known_xpos=lambda: tags)}
        self.read: list[list[str]] = []

    def __call__(self, batch: list[list[str]]) -> SimpleNamespace:
        self.read += batch
        return SimpleNamespace(
            sentences=[
                SimpleNamespace(
                    words=[
                        SimpleNamespace(text=w, head=k, deprel=f"d-{w}".replace(" ", "~"), upos="X")
                        for k, w in enumerate(words)
                    ]
                )
                for words in batch
            ]
        )


@pytest.fixture
def chains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Chains:
    """Replace the Stanza pipeline by a fake one, and write fake model files and texts."""
    pipeline = Chains(["NN", "HYPH"])
    monkeypatch.setattr(ModelSource, "load_pipeline", lambda *_: pipeline)
    for name in ("tagger.pt", "depparse.pt"):
        (tmp_path / name).write_text(name)
    (tmp_path / "text").write_text(TEXT, encoding="utf-8")
    (tmp_path / "tokens").write_text(TOKENS, encoding="utf-8")
    return pipeline


def parsed(folder: Path, name: str = "trees", **options: Any) -> list[DependencyTree]:
    arguments: dict[str, Any] = {
        "annotation": TreeKind.DEPENDENCY,
        "tokens": folder / "tokens",
        "text": folder / "text",
        "output": folder / name,
        "counts_output": folder / f"{name}.json",
        "facts_output": folder / f"{name}.facts",
    }
    if "directory" not in options:
        arguments |= {"tagger": folder / "tagger.pt", "depparse": folder / "depparse.pt"}
    run_job(build_cached_job("syntax.parse", folder, arguments | options, json.dumps(options, default=str)))
    return list(read_dependency_trees(folder / name)) if (folder / name).read_bytes() else []


def test_words_are_parsed_and_trees_are_over_tokens(chains: Chains, tmp_path: Path) -> None:
    trees = parsed(tmp_path)
    assert sorted(map(tuple, chains.read)) == [
        ("I", "do", "n't", "know", "."),
        ("You", "can", "not", "."),
        ("other", "characters"),
        ("the", "well", "-", "known"),
    ]
    assert trees == [
        DependencyTree(
            ("I", "don", "'t", "know", "."), (0, 1, 2, 3, 4), ("d-I", "d-do", "d-n't", "d-know", "d-."), ("X",) * 5
        ),
        DependencyTree((), (), (), ()),
        DependencyTree(("You", "cannot", "."), (0, 1, 2), ("d-You", "d-can", "d-."), ("X",) * 3),
        DependencyTree(("the", "well-known"), (0, 1), ("d-the", "d-well"), ("X",) * 2),
        DependencyTree(("other", "characters"), (0, 1), ("d-other", "d-characters"), ("X",) * 2),
    ]
    assert json.loads((tmp_path / "trees.json").read_text()) == {
        "in": 5,
        "kept": 5,
        "dropped": {},
        "noted": {
            "empty line": 1,
            "parsed in its tokens: its text has other characters": 1,
            OTHER_WORDS_NOTE: 3,
            SHARED_WORD_NOTE: 1,
            WORD_PART_NOTE: 1,
            SEVERAL_WORDS_NOTE: 2,
        },
    }


def test_without_text_the_tokens_are_parsed(chains: Chains, tmp_path: Path) -> None:
    parsed(tmp_path, text=None)
    assert sorted(" ".join(words) for words in chains.read) == sorted(line for line in TOKENS.split("\n") if line)
    assert json.loads((tmp_path / "trees.json").read_text())["noted"] == {"empty line": 1}


@pytest.mark.parametrize(("tags", "word"), [(["HYPH"], "well"), (["NN"], "well-known"), ([], "well")])
def test_compounds_are_divided_as_in_the_treebank(tags: list[str], word: str, chains: Chains, tmp_path: Path) -> None:
    chains.processors = Chains(tags).processors
    assert parsed(tmp_path)[3].labels == ("d-the", f"d-{word}")


def test_failed_parse_has_the_tokens(chains: Chains, tmp_path: Path) -> None:
    trees = parsed(tmp_path, max_words=3)
    assert [tree.failure_reason for tree in trees] == [
        "more than 3 words",
        None,
        "more than 3 words",
        "more than 3 words",
        None,
    ]
    assert trees[0].words == ("I", "don", "'t", "know", ".")
    noted = json.loads((tmp_path / "trees.json").read_text())["noted"]
    assert (noted[OTHER_WORDS_NOTE], noted[SEVERAL_WORDS_NOTE]) == (0, 0), "failed parses are not counted"


@pytest.mark.parametrize("size", [1, 2, 4])
def test_trees_of_slices_are_those_of_the_text(size: int, chains: Chains, tmp_path: Path) -> None:
    all_trees = parsed(tmp_path)
    firsts = range(0, 7, size)
    slices = [parsed(tmp_path, f"part{first}", first=first, sentences=size) for first in firsts]
    assert [tree for trees in slices for tree in trees] == all_trees
    names = [tmp_path / f"part{first}" for first in firsts]
    merge_trees(
        annotation=TreeKind.DEPENDENCY,
        parts=names,
        counts=[name.with_name(f"{name.name}.json") for name in names],
        facts=[name.with_name(f"{name.name}.facts") for name in names],
        tokens=tmp_path / "tokens",
        output=tmp_path / "merged",
        counts_output=tmp_path / "merged.json",
        facts_output=tmp_path / "merged.facts",
    )
    assert (tmp_path / "merged").read_bytes() == (tmp_path / "trees").read_bytes()
    assert (tmp_path / "merged.json").read_bytes() == (tmp_path / "trees.json").read_bytes()


def test_changed_text_is_parsed_again(chains: Chains, tmp_path: Path) -> None:
    def runs(**options: Any) -> bool:
        chains.read = []
        parsed(tmp_path, **options)
        return bool(chains.read)

    assert [runs(), runs(), runs(text=None), runs(text=None), runs()] == [True, False, True, False, True]
    (tmp_path / "text").write_text(TEXT.replace("not the same", "other char acters"), encoding="utf-8")
    assert runs()


TABLE = "tokens\tbefore\twords\tcount\nchủ tịch\t\tchủ_tịch\t1\ndes\t\tde les\t3\ndes\t\tdes\t2\ndu\t\tde le\t1\n"


def test_words_of_a_table_are_parsed(chains: Chains, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("le chủ tịch du parc\n\ndes parcs\n", encoding="utf-8")
    (tmp_path / "table").write_text(TABLE, encoding="utf-8")
    trees = parsed(tmp_path, text=None, word_table=tmp_path / "table")
    assert chains.read == [["le", "chủ_tịch", "de", "le", "parc"], ["des", "parcs"]]
    # `chủ` is a part of `tịch`; `du` has the label of its topmost word and the dependents of both words.
    assert (trees[0].words, trees[0].heads) == (("le", "chủ", "tịch", "du", "parc"), (0, 3, 1, 3, 4))
    assert trees[0].labels == ("d-le", "flat", "d-chủ_tịch", "d-de", "d-parc")
    noted = json.loads((tmp_path / "trees.json").read_text())["noted"]
    assert noted == {
        "empty line": 1,
        AMBIGUOUS_TOKENS_NOTE: 1,
        OTHER_WORDS_NOTE: 1,
        SEVERAL_WORDS_NOTE: 1,
        WORD_PART_NOTE: 2,
        SHARED_WORD_NOTE: 0,
    }


def test_trees_can_be_over_the_words_of_the_parser(chains: Chains, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("le parc du chủ tịch\n", encoding="utf-8")
    (tmp_path / "table").write_text(TABLE, encoding="utf-8")
    (tree,) = parsed(tmp_path, text=None, word_table=tmp_path / "table", over_words=True)
    assert tree.words == ("le", "parc", "de", "le", "chủ_tịch")
    assert tree.multiword_tokens == (MultiwordToken(3, 4, "du"),)


def test_changed_table_is_parsed_again(chains: Chains, tmp_path: Path) -> None:
    (tmp_path / "table").write_text(TABLE, encoding="utf-8")

    def runs(**options: Any) -> bool:
        chains.read = []
        parsed(tmp_path, text=None, word_table=tmp_path / "table", **options)
        return bool(chains.read)

    assert [runs(), runs(), runs(over_words=True), runs()] == [True, False, True, True]
    (tmp_path / "table").write_text(TABLE.replace("de le", "de la"), encoding="utf-8")
    assert runs()


@pytest.mark.parametrize("space", ["\u00a0", "_", "\u2009"])
def test_space_within_a_word_is_spelt_as_in_training(chains: Chains, tmp_path: Path, space: str) -> None:
    (tmp_path / "tokens").write_text(f"ông chủ{space}tịch\n", encoding="utf-8")
    (tree,) = parsed(tmp_path, text=None)
    assert chains.read == [["ông", "chủ_tịch"]]
    assert tree.words == ("ông", f"chủ{space}tịch")


def test_models_of_stanza_keep_spaces_within_words(chains: Chains, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("ông chủ\u00a0tịch\n", encoding="utf-8")
    parsed(tmp_path, text=None, tagger=None, depparse=None, package="default")
    assert chains.read == [["ông", "chủ tịch"]]


def test_different_numbers_of_lines_are_rejected(chains: Chains, tmp_path: Path) -> None:
    (tmp_path / "text").write_text(TEXT + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"text: 6 lines where \S*tokens has 5; tokenize the text again"):
        parsed(tmp_path)
    assert not (tmp_path / "trees").exists()


def test_words_of_stanzas_tokenizer_are_parsed(chains: Chains, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_letter = [[WordSpan(k, k + 1) for k, letter in enumerate(line) if letter != " "] for line in TEXT.split("\n")]
    monkeypatch.setattr(
        ModelSource, "load_tokenizer", lambda _: lambda texts: (by_letter[k] for k, _ in enumerate(texts))
    )
    parsed(tmp_path, words="stanza")
    assert [*"Youcannot."] in chains.read


def test_missing_and_superfluous_tokenizers_are_rejected(chains: Chains, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`words: stanza` needs the tokenizer of the parser's treebank"):
        parsed(tmp_path, words="stanza")
    with pytest.raises(InputError, match="a segmenter goes with a tagger; leave it out"):
        package = {"tagger": None, "depparse": None, "package": "default"}
        parsed(tmp_path, words="stanza", segmenter=tmp_path / "segmenter", **package)


def test_table_expands_tokens_of_a_trained_tokenizer(
    chains: Chains, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table only expands tokens that their words do not spell."""
    (tmp_path / "text").write_text("le chủ tịch du parc\n\ndes parcs\n", encoding="utf-8")
    (tmp_path / "tokens").write_text("le chủ tịch du parc\n\ndes parcs\n", encoding="utf-8")
    (tmp_path / "table").write_text(f"{TABLE}le\t\tl e\t1\n", encoding="utf-8")
    (tmp_path / "segmenter").write_text("1")

    def divide(texts: Iterable[str]) -> Iterator[list[WordSpan]]:
        for text in texts:
            ends = [place for place, letter in enumerate(text + " ") if letter == " "]
            yield [
                WordSpan(start, end) for start, end in zip([0, *(end + 1 for end in ends)], ends, strict=False) if text
            ]

    monkeypatch.setattr(ModelSource, "load_tokenizer", lambda _: divide)
    files = {"segmenter": tmp_path / "segmenter", "word_table": tmp_path / "table"}

    def read() -> list[list[str]]:
        chains.read = []
        parsed(tmp_path, words="stanza", **files)
        return chains.read

    assert read() == [["le", "chủ", "tịch", "de", "le", "parc"], ["des", "parcs"]]
    noted = json.loads((tmp_path / "trees.json").read_text())["noted"]
    assert noted == {
        "empty line": 1,
        AMBIGUOUS_TOKENS_NOTE: 1,
        OTHER_WORDS_NOTE: 1,
        SEVERAL_WORDS_NOTE: 1,
        WORD_PART_NOTE: 0,
        SHARED_WORD_NOTE: 0,
    }
    assert read() == [], "the cache has the trees"
    (tmp_path / "segmenter").write_text("2")
    assert read() != []


@needs_models
@pytest.mark.slow
def test_contractions_are_parsed_correctly_in_words(tmp_path: Path) -> None:
    """`'t` is tagged as a negation in nearly all of 300 sentences if words are parsed."""
    lines = gzip.decompress((DATA / "tatoeba_enzh/train.en.gz").read_bytes()).decode().splitlines()
    negated = [line for line in lines if "n't" in line][:300]
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in negated), encoding="utf-8")
    tokenize(input=tmp_path / "text", output=tmp_path / "tokens", language="en", tokenizer="moses")

    def negations(**options: Any) -> list[bool]:
        return [
            (upos, label) == ("PART", "advmod")
            for tree in parsed(tmp_path, directory=STANZA, **options)
            for word, upos, label in zip(tree.words, tree.upos, tree.labels, strict=True)
            if word == "'t"
        ]

    in_words, in_tokens = negations(), negations(text=None)
    assert len(in_words) == len(in_tokens) >= 300
    assert sum(in_words) / len(in_words) > 0.98
    assert sum(in_tokens) / len(in_tokens) < 0.6


@needs_models
@pytest.mark.slow
def test_phrase_trees_of_real_models_are_over_tokens(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("She can't sing.\nThe boys' well-known e-mail cannot be read at 10:30.\n")
    tokenize(input=tmp_path / "text", output=tmp_path / "tokens", language="en", tokenizer="moses")
    parse(
        annotation=TreeKind.CONSTITUENCY,
        tokens=tmp_path / "tokens",
        text=tmp_path / "text",
        output=tmp_path / "trees",
        counts_output=tmp_path / "counts",
        facts_output=tmp_path / "facts",
        directory=STANZA,
    )
    first, second = read_phrase_trees(tmp_path / "trees")
    assert to_bracket_string(first.root) == "(ROOT (S (NP (PRP She)) (VP (MD can) (RB 't) (VP (VB sing))) (. .)))"
    assert " ".join(second.words) == "The boys ' well-known e-mail cannot be read at 10 : 30 ."
    assert "(CD (CD 10) (CD :) (CD 30))" in to_bracket_string(second.root)
