"""Tests of counts of failed parses."""

import json
from pathlib import Path

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.syntax.trees.tree_formats import count_fallback, select_fallback_counts


def test_failed_parses_are_counted_by_reason(tmp_path: Path) -> None:
    counts = SentenceCounts()
    for reason in ("more than 5 words", "OverflowError: ü\u2028", "more than 5 words"):
        count_fallback(counts, reason)
    counts.add_noted("empty line")
    counts.write_json_file(tmp_path / "counts")
    noted = json.loads((tmp_path / "counts").read_text(encoding="utf-8"))["noted"]
    assert noted == {
        "empty line": 1,
        "parsed by fallback: OverflowError: ü\u2028": 1,
        "parsed by fallback: more than 5 words": 2,
    }
    assert select_fallback_counts(noted) == {"OverflowError: ü\u2028": 1, "more than 5 words": 2}
