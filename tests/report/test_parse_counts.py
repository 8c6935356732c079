"""Counts of parsed sentences."""

import json

import pytest

from pipeline_py.report.parse_counts import parse_counts
from pipeline_py.stage import InputError
from pipeline_py.syntax.binarize import Branching, binarize


def test_counts_are_those_of_the_ledger_that_binarize_writes(tmp_path):
    trees, tokens, ledger = (tmp_path / name for name in ("t.ptb", "t.source", "t.json"))
    trees.write_text("(ROOT (S (NN a) (VB b)))\n(FAILED (X a) (X b) (X c))\n(ROOT (NN d))\n", encoding="utf-8")
    tokens.write_text("a b\na b c\nd\n", encoding="utf-8")
    binarize(trees=trees, tokens=tokens, branching=Branching.RIGHT, output=tmp_path / "b", ledger_output=ledger)
    parse_counts(title="T", split=[f"Train={ledger}"], output=tmp_path / "o.tsv", markdown_output=tmp_path / "o.md")
    assert (tmp_path / "o.tsv").read_text() == "split\tsentences\tparsed\tfailed\nTrain\t3\t2\t1\n"
    assert "| Train | 3 | 2 | 1 |" in (tmp_path / "o.md").read_text()


def test_another_file_is_refused(tmp_path):
    ledger = tmp_path / "x.json"
    ledger.write_text(json.dumps([1]))
    with pytest.raises(InputError, match=r"no ledger of `syntax\.binarize`"):
        parse_counts(title="T", split=[f"Train={ledger}"], output=tmp_path / "o.tsv")
