"""Frequencies of words against counting the words that sacrebleu's tokenizer leaves."""

from collections import Counter
from pathlib import Path

import pytest
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from pipeline_py.evaluation.count_word_frequencies import count_word_frequencies
from pipeline_py.subword.vocabulary import read_token_counts

TEXT = ["The cat (the old one) sat, and sat.", "", "A Käse\u2028costs 3.50, the\u00a0cat says.", "猫坐在 mat 上。"]


@pytest.mark.parametrize(("name", "tokenizer"), [("13a", Tokenizer13a()), ("zh", TokenizerZh())])
@pytest.mark.parametrize("lowercase", [True, False])
def test_counts_words_as_they_are_scored(tmp_path: Path, name: str, tokenizer: Tokenizer13a, lowercase: bool) -> None:
    (tmp_path / "text").write_text("".join(line + "\n" for line in TEXT), encoding="utf-8")
    count_word_frequencies(
        text=tmp_path / "text",
        output=tmp_path / "out",
        tokenizer=name,  # type: ignore[arg-type]
        lowercase=lowercase,
    )
    expected: Counter[str] = Counter()
    for line in TEXT:
        expected.update(tokenizer(line.lower() if lowercase else line).split())
    counts = list(read_token_counts(tmp_path / "out"))
    assert dict(counts) == expected and len(counts) == len(expected)
    assert counts == sorted(counts, key=lambda item: (-item[1], item[0]))
    assert ("sat", 2) in counts and ("The" in dict(counts)) != lowercase
