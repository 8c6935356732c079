"""Tests of the normalization of punctuation."""

from pathlib import Path

import pytest

from pipeline_py.corpus.normalize_punctuation import normalize_punctuation


def run(tmp_path: Path, lines: list[str], language: str) -> list[str]:
    (tmp_path / "in").write_bytes("".join(line + "\n" for line in lines).encode())
    normalize_punctuation(input=tmp_path / "in", output=tmp_path / "out", language=language)
    return (tmp_path / "out").read_bytes().decode().split("\n")[:-1]


# By hand, from the rules of Moses' normalize-punctuation.perl.
@pytest.mark.parametrize(
    ("language", "line", "normalized"),
    [
        ("de", "„Ein Mann“ – so heißt es…", '"Ein Mann" - so heißt es...'),
        ("de", "Er sagt „ja“, und geht .", 'Er sagt "ja", und geht .'),
        ("en", "He says “yes”, and goes.", 'He says "yes," and goes.'),
        ("en-gb", "He says “yes”, and goes.", 'He says "yes," and goes.'),
        ("en", "the man’s hat  ( red )", "the man's hat (red)"),
        ("fr", "« oui »\u00a0: 10\u00a0000", '" oui ": 10,000'),
        ("en", "10\u00a0000", "10.000"),
    ],
)
def test_punctuation_is_that_of_moses(tmp_path: Path, language: str, line: str, normalized: str) -> None:
    assert run(tmp_path, [line], language) == [normalized]


def test_line_breaks_are_unchanged(tmp_path: Path) -> None:
    lines = ["", "  ", "a\u2028b\x85c", "\ufeffx", "(", "‘’", "plain text"]
    normalized = run(tmp_path, lines, "en")
    assert len(normalized) == len(lines)
    assert normalized[2] == "a\u2028b\x85c" and normalized[-1] == "plain text"
