"""Escapes against a table written by hand."""

import pytest

from pipeline_py.syntax.spelling import plain_spelling


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("-LRB-", "("),
        ("-RRB-", ")"),
        ("-LSB-", "["),
        ("-RSB-", "]"),
        ("-LCB-", "{"),
        ("-RCB-", "}"),
        ("-lrb-", "("),
        (":--RRB-", ":-)"),
        ("-LRB-s-RRB-", "(s)"),
        ("``", '"'),
        ("''", '"'),
        ("1\\/2", "1/2"),
        ("\\*\\*", "**"),
        ("and\\/or", "and/or"),
    ],
)
def test_escapes(written: str, plain: str) -> None:
    assert plain_spelling(written) == plain
    assert plain_spelling(plain) == plain


@pytest.mark.parametrize("word", ["-LXB-", "LRB", "'", "`", "rock''n", "\\", "\\n", "\u00a0x", "-Lſb-", "ﬁ", "İ"])
def test_all_else_stays(word: str) -> None:
    assert plain_spelling(word) == word


def test_case() -> None:
    assert plain_spelling("The") == "The"
    assert plain_spelling("The", ignore_case=True) == "the"
    assert plain_spelling("-LRB-ΟΔΌΣ", ignore_case=True) == "(οδός"
