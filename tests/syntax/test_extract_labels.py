"""Tests of the extraction of dependency labels."""

import json
from pathlib import Path

from pipeline_py.syntax.extract_labels import extract_labels
from pipeline_py.syntax.trees.dependency import DependencyTree, build_failed_dependency_tree, write_dependency_trees


def test_every_word_has_a_label(tmp_path: Path) -> None:
    parsed = DependencyTree(("he", "sleeps"), (2, 0), ("nsubj:pass", "root"), ("PRON", "VERB"))
    trees = [parsed, DependencyTree((), (), (), ()), build_failed_dependency_tree(("a", "b"), "no reason")]
    with (tmp_path / "trees.conllu").open("w", encoding="utf-8") as file:
        write_dependency_trees(file, trees)
    (tmp_path / "tokens").write_text("he sleeps\n\na b\n", encoding="utf-8")
    extract_labels(
        trees=tmp_path / "trees.conllu",
        tokens=tmp_path / "tokens",
        output=tmp_path / "labels",
        counts_output=tmp_path / "labels.json",
    )
    assert (tmp_path / "labels").read_text(encoding="utf-8") == "nsubj:pass root\n\n_ _\n"
    counts = json.loads((tmp_path / "labels.json").read_text())
    assert counts["in"] == counts["kept"] == 3
    assert counts["noted"] == {"empty line": 1, "failed parse, no labels": 1}
