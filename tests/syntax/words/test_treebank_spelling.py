"""Tests of restoring the text of a treebank."""

from pathlib import Path

import pytest

from pipeline_py.syntax.trees.dependency import read_dependency_trees
from pipeline_py.syntax.words.token_alignment import restore_original_text, spell_word


def block(*rows: str, comment: str = "") -> str:
    """Build CoNLL-U from `1 word No` (word, SpaceAfter) and `1-2 du` (token); `~` is a space within a word."""
    lines = [comment] if comment else []
    for row in rows:
        place, form, *no = row.split(" ")
        head = "_" if "-" in place else str(int(place) - 1)
        misc = "X=y|SpaceAfter=No" if no else "_"
        lines.append(f"{place}\t{form.replace('~', ' ')}\t_\tX\t_\t_\t{head}\tdep\t_\t{misc}")
    return "\n".join(lines) + "\n\n"


@pytest.mark.parametrize(
    ("sentence", "language", "text"),
    [
        (block("1-2 du", "1 de", "2 le", "3 pain No", "4 ."), "fr", "du pain."),
        (block("1 oui", "2-3 du No", "2 de", "3 le", "4 ."), "fr", "oui du."),
        (block("1 «", "2 oui", "3 »", comment="# text = «\u00a0oui  »"), "fr", "« oui »"),
        (block("1 a", "2 b", comment="# text =ab"), "fr", "ab"),
        (block("1 a", "2 b", comment="# text = other"), "fr", "a b"),
        (block("1 10~000", "2 euros"), "fr", "10 000 euros"),
        (block("1 我", "2 用", "3 max", "4 Python"), "zh", "我用max Python"),
        (block("1 我", "2 用", "3 好 No", "4 。"), "zh", "我 用 好。"),
        ("# text =\n\n", "fr", ""),
    ],
)
def test_original_text_is_restored(tmp_path: Path, sentence: str, language: str, text: str) -> None:
    (tmp_path / "bank").write_text(sentence, encoding="utf-8")
    (tree,) = read_dependency_trees(tmp_path / "bank")
    assert restore_original_text(tree, language) == text


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u3000", "  "])
def test_space_within_a_word_is_replaced(space: str) -> None:
    assert spell_word(f"Chủ{space}tịch") == "Chủ_tịch"
    assert spell_word(f"Chủ{space}tịch", lowercase=True, word_space=" ") == "chủ tịch"
