"""Tests of the share of frequent words that a text and a treebank have in common."""

from itertools import pairwise
from pathlib import Path

import pytest

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.shared_words import (
    MIN_SHARED_WORD_SHARE,
    compute_shared_word_share,
    describe_language_mismatch,
)

DATA = Path(__file__).parents[3] / "../shared/data"


def letters(number: int) -> str:
    """Return a word without digits for a number."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:03}")


def bank(path: Path, words: list[str], rest: str = "") -> Path:
    rows = (f"1\t{word}\t_\tX\t_\t_\t0\troot\t_\t_\n\n" for word in words)
    path.write_text("".join(rows) + rest, encoding="utf-8")
    return path


def text(path: Path, words: list[str]) -> Path:
    path.write_text("\n".join(words) + "\n", encoding="utf-8")
    return path


def test_share_is_of_the_200_most_frequent_words(tmp_path: Path) -> None:
    treebank = bank(tmp_path / "t.conllu", [letters(number) for number in range(600)])
    frequent = [letters(number).upper() for number in (*range(50), *range(700, 850))] * 2
    rare = [letters(number) for number in range(900, 999)]
    assert compute_shared_word_share(treebank, (text(tmp_path / "x", rare + frequent),)) == 0.25
    parts = (text(tmp_path / "y", frequent[:100]), text(tmp_path / "z", frequent[100:]))
    assert compute_shared_word_share(treebank, parts) == 0.25


def test_small_treebanks_and_texts_have_no_share(tmp_path: Path) -> None:
    words = [letters(number) for number in range(600)]
    small = bank(tmp_path / "s.conllu", words[:499])
    assert compute_shared_word_share(small, (text(tmp_path / "x", words),)) is None
    large = bank(tmp_path / "l.conllu", words)
    assert compute_shared_word_share(large, (text(tmp_path / "y", words[:199]),)) is None
    assert compute_shared_word_share(large, (text(tmp_path / "z", words[:200]),)) == 1


def test_scripts_without_spaces_are_compared_by_characters(tmp_path: Path) -> None:
    characters = [chr(0x4E00 + number) for number in range(600)]
    treebank = bank(tmp_path / "t.conllu", [a + b for a, b in pairwise(characters)])
    assert compute_shared_word_share(treebank, (text(tmp_path / "x", ["".join(characters)]),)) == 1


def test_kana_distinguish_japanese_from_chinese(tmp_path: Path) -> None:
    han = [chr(0x4E00 + number) for number in range(600)]
    kana = [chr(0x3042 + number) for number in range(80)]
    chinese, japanese = bank(tmp_path / "zh.conllu", han), bank(tmp_path / "ja.conllu", kana * 2 + han)
    in_chinese = (text(tmp_path / "zh", han[:300]),)
    in_japanese = (text(tmp_path / "ja", [*kana, *han[:300]] * 2),)
    for treebank, texts in ((chinese, in_japanese), (japanese, in_chinese)):
        assert (compute_shared_word_share(treebank, texts) or 0) > MIN_SHARED_WORD_SHARE
    assert (
        describe_language_mismatch(chinese, in_japanese) == f"{tmp_path}/ja is written with kana, and {chinese} is not"
    )
    assert (
        describe_language_mismatch(japanese, in_chinese) == f"{japanese} is written with kana, and {tmp_path}/zh is not"
    )
    assert describe_language_mismatch(japanese, in_japanese) is describe_language_mismatch(chinese, in_chinese) is None


def test_multiword_tokens_and_composed_letters_count(tmp_path: Path) -> None:
    words = [letters(number) for number in range(599)]
    joined = "1-2\tau\t_\t_\t_\t_\t_\t_\t_\t_\n1\tà\t_\tX\t_\t_\t0\troot\t_\t_\n2\tle\t_\tX\t_\t_\t1\tdep\t_\t_\n"
    treebank = bank(tmp_path / "t.conllu", words, joined)
    frequent_words = [*(letters(number) for number in range(800, 998)), "au", "a\u0300"]
    assert compute_shared_word_share(treebank, (text(tmp_path / "x", frequent_words),)) == 0.01


def test_broken_treebank_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"t\.conllu, line 2: "):
        compute_shared_word_share(bank(tmp_path / "t.conllu", [], "# x\n1 a\n"), (text(tmp_path / "x", ["a"]),))


@pytest.mark.parametrize(
    ("bank_of", "text_of", "same"),
    [
        ("en_ewt/train", "multi30k/train.en", True),
        ("en_ewt/train", "multi30k/train.fr", False),
        ("fr_sequoia/train", "multi30k/train.fr", True),
        ("fr_sequoia/train", "newstest_ende/newstest2014.en", False),
        ("tr_pud/test", "multi30k/train.de", False),
        ("zh_gsd/train", "tatoeba_enzh/train.zh", True),
        ("vi_vtb/train", "tatoeba_enzh/train.zh", False),
    ],
)
def test_share_of_real_treebanks_tells_the_language(bank_of: str, text_of: str, same: bool) -> None:
    treebank, sentences = DATA / f"treebanks/{bank_of}.conllu.gz", DATA / f"{text_of}.gz"
    if not (treebank.exists() and sentences.exists()):
        pytest.skip(f"{bank_of} or {text_of} is not on this machine")
    share = compute_shared_word_share(treebank, (sentences,))
    assert share is not None and (share > 0.5 if same else share < 0.2), f"far from {MIN_SHARED_WORD_SHARE}"


def test_chinese_treebank_does_not_match_japanese_text() -> None:
    treebank, chinese, japanese = (
        DATA / f"{name}.gz"
        for name in ("treebanks/zh_gsd/train.conllu", "tatoeba_enzh/train.zh", "small_parallel_enja/train.ja")
    )
    if not all(path.exists() for path in (treebank, chinese, japanese)):
        pytest.skip("treebanks/zh_gsd, tatoeba_enzh or small_parallel_enja is not on this machine")
    assert describe_language_mismatch(treebank, (chinese,)) is None
    assert (
        describe_language_mismatch(treebank, (japanese,)) == f"{japanese} is written with kana, and {treebank} is not"
    )
