"""Tests of the extraction of text from treebanks."""

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.treebank_text import treebank_text
from pipeline_py.syntax.trees.tree_formats import TreeKind

CONLLU = """\
# a multi-word token, an empty node, and a space inside a word
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\t_\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\t_\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_
3.1\tgone\tgo\tVERB\t_\t_\t_\t_\t_\t_
4\t10 000\t10 000\tNUM\t_\t_\t3\tobj\t_\t_

"""
TREES = "( (S (NP-SBJ (PRP He)) (VP (VBZ sleeps) (NP (-NONE- *T*-1))) (. .)) )\n((FRAG\n  (UH Oh)\n  (-LRB- -LRB-)))\n"


def test_words_of_dependency_trees_are_extracted(tmp_path: Path) -> None:
    (tmp_path / "gold.conllu.gz").write_bytes(gzip.compress(CONLLU.encode()))
    treebank_text(
        annotation=TreeKind.DEPENDENCY, treebank=tmp_path / "gold.conllu.gz", output=tmp_path / "text", lowercase=True
    )
    assert (tmp_path / "text").read_text(encoding="utf-8") == "do n't go 10\u00a0000\n"


@pytest.mark.parametrize(("form", "text"), [("tokens", "don't go 10\u00a0000"), ("original", "don't go 10 000")])
def test_text_of_dependency_trees_is_extracted(tmp_path: Path, form: Literal["tokens", "original"], text: str) -> None:
    (tmp_path / "gold").write_text(CONLLU, encoding="utf-8")
    treebank_text(annotation=TreeKind.DEPENDENCY, treebank=tmp_path / "gold", form=form, output=tmp_path / "text")
    assert (tmp_path / "text").read_text(encoding="utf-8") == f"{text}\n"


def test_text_of_brackets_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "gold").write_text(TREES)
    with pytest.raises(InputError, match="gold: brackets do not record the text; leave out --form"):
        treebank_text(
            annotation=TreeKind.CONSTITUENCY, treebank=tmp_path / "gold", form="tokens", output=tmp_path / "text"
        )


def test_words_of_phrase_trees_are_extracted(tmp_path: Path) -> None:
    (tmp_path / "gold.mrg").write_text(TREES)
    treebank_text(annotation=TreeKind.CONSTITUENCY, treebank=tmp_path / "gold.mrg", output=tmp_path / "text")
    assert (tmp_path / "text").read_text(encoding="utf-8") == "He sleeps .\nOh (\n"


def test_command_reports_a_broken_treebank(tmp_path: Path) -> None:
    (tmp_path / "gold.mrg").write_text("(S (NP (DT the)\n")
    command = [sys.executable, "-m", "pipeline_py.syntax.treebank_text", "--annotation", "constituency"]
    result = subprocess.run(
        [*command, "--treebank", "gold.mrg", "--output", "text"], cwd=tmp_path, capture_output=True, text=True
    )
    assert result.returncode == 1 and result.stderr.splitlines()[-1].startswith("error: gold.mrg, line 1: ")
    assert not (tmp_path / "text").exists()


def test_treebank_without_text_is_rejected(tmp_path: Path) -> None:
    single = "1\t_\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "gold.conllu").write_text(single + single.strip() + "\n2\t____\t_\tX\t_\t_\t1\tdep\t_\t_\n")
    with pytest.raises(InputError, match=r"gold\.conllu, line 3: all words of this sentence are `_`"):
        treebank_text(
            annotation=TreeKind.DEPENDENCY,
            treebank=tmp_path / "gold.conllu",
            output=tmp_path / "text",
            lowercase=True,
        )
