"""Tests of the conversion of treebanks to training data for Stanza."""

from pathlib import Path

import pytest

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.stanza.training_treebank import write_bracketed_training_trees, write_conllu_training_trees


def test_dependency_trees_are_adapted_and_counted(tmp_path: Path) -> None:
    (tmp_path / "t.conllu").write_text(
        "1-2\tZum\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tZu\tzu\tADP\tAPPR\t_\t3\tcase\t_\t_\n"
        "2\tdem\tder\tDET\tART\tCase=Dat\t3\tdet\t_\t_\n"
        "3\tMe er\tMeer\tNOUN\tNN\t_\t0\troot\t_\t_\n"
        "4\tJa\tja\tINTJ\tITJ\t_\t0\troot\t_\t_\n\n"
        "# text =\n\n",
        encoding="utf-8",
    )
    counts = SentenceCounts()
    assert write_conllu_training_trees(tmp_path / "t.conllu", tmp_path / "o", True, counts) == 4
    assert (tmp_path / "o").read_text(encoding="utf-8") == (
        "1\tzu\tzu\tADP\tAPPR\t_\t3\tcase\t_\t_\n"
        "2\tdem\tdem\tDET\tART\tCase=Dat\t3\tdet\t_\t_\n"
        "3\tme_er\tme_er\tNOUN\tNN\t_\t0\troot\t_\t_\n"
        "4\tja\tja\tINTJ\tITJ\t_\t3\tparataxis\t_\t_\n\n"
    )
    assert (counts.kept_count, counts.dropped_by_reason, counts.noted_by_reason) == (
        1,
        {"empty sentence": 1},
        {"later roots attached to the first": 1},
    )


def test_phrase_trees_are_adapted_and_counted(tmp_path: Path) -> None:
    (tmp_path / "t.mrg").write_text(
        "( (S (NP-SBJ (-NONE- *)) (VP (VB go\u00a0on))))\n(ROOT (NN a))\n(ROOT (NP (NN b) (-LRB- -LRB-)) (. .))\n",
        encoding="utf-8",
    )
    counts = SentenceCounts()
    assert write_bracketed_training_trees(tmp_path / "t.mrg", tmp_path / "o", False, counts) == 4
    assert (tmp_path / "o").read_text(encoding="utf-8") == (
        "(ROOT (S (VP (VB go_on))))\n(ROOT (X (NP (NN b) (-LRB- -LRB-)) (. .)))\n"
    )
    assert (counts.kept_count, counts.dropped_by_reason) == (2, {"single word without a phrase": 1})


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ("1\ta\t_\t_\t_\t_\t0\troot\t_\t_", "no UPOS tag or no relation"),
        ("1\ta\t_\tX\t_\t_\t0\t_\t_\t_", "no UPOS tag or no relation"),
        ("1\ta\t_\tX\t_\tCase\t0\troot\t_\t_", "'Case' of 'a' are not of the form"),
        ("# parse = failed: x\n1\ta\t_\tX\t_\t_\t0\troot\t_\t_", "a failed parse among the gold trees"),
        ("# nothing", "no sentences to learn from"),
        ("1\t__\t_\tX\t_\t_\t0\troot\t_\t_\n2\t_\t_\tX\t_\t_\t1\tdep\t_\t_", "comes without its text; restore"),
    ],
)
def test_unusable_treebank_is_rejected(row: str, error: str, tmp_path: Path) -> None:
    (tmp_path / "t.conllu").write_text(row + "\n")
    with pytest.raises(InputError, match=error):
        write_conllu_training_trees(tmp_path / "t.conllu", tmp_path / "o", False, SentenceCounts())


def test_phrases_without_text_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "t.ptb").write_text("(NN _)\n(X (NN _) (NN _))\n")
    with pytest.raises(InputError, match=r"t\.ptb, line 2: all words of this sentence are `_`"):
        write_bracketed_training_trees(tmp_path / "t.ptb", tmp_path / "o", False, SentenceCounts())


def test_letters_are_composed(tmp_path: Path) -> None:
    decomposed, composed = "caf\u0065\u0301", "caf\u00e9"
    (tmp_path / "t.conllu").write_text(f"1\t{decomposed}\t_\tX\t_\t_\t0\troot\t_\t_\n", encoding="utf-8")
    (tmp_path / "t.ptb").write_text(f"(X (NN {decomposed}))\n", encoding="utf-8")
    write_conllu_training_trees(tmp_path / "t.conllu", tmp_path / "o", False, SentenceCounts())
    assert (tmp_path / "o").read_text(encoding="utf-8").split("\t")[1] == composed
    write_bracketed_training_trees(tmp_path / "t.ptb", tmp_path / "o", False, SentenceCounts())
    assert (tmp_path / "o").read_text(encoding="utf-8") == f"(ROOT (X (NN {composed})))\n"
