"""Tests of matching the words of two analyses of a text."""

from dataclasses import replace

import pytest

from pipeline_py.syntax.trees.dependency import DependencyTree, MultiwordToken
from pipeline_py.syntax.words.word_matching import TextMismatchError, count_undivided_tokens, match_tree_words


def tree(notation: str) -> DependencyTree:
    """Build a tree from `du=de+le pain` (token=words); `~` is a space within a word."""
    words: list[str] = []
    multiword = []
    for token in notation.replace("~", "\u00a0").split(" "):
        form, _, parts = token.partition("=")
        forms = (parts or form).split("+")
        if parts:
            multiword.append(MultiwordToken(len(words) + 1, len(words) + len(forms), form))
        words += forms
    unknown = ("_",) * len(words)
    return DependencyTree(tuple(words), tuple(range(len(words))), unknown, unknown, multiword_tokens=tuple(multiword))


@pytest.mark.parametrize(
    ("gold", "predicted", "matches"),
    [
        ("a b c", "a b c", [(0, 0), (1, 1), (2, 2)]),
        ("a bc d", "a b c d", [(0, 0), (2, 3)]),
        ("ab c", "a bc", []),
        ("le goût du=de+le pain", "le goût du=de+le pain", [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]),
        ("goût du=de+le pain", "goût du pain", [(0, 0), (3, 2)]),
        ("des jours", "des=de+les jours", [(1, 2)]),
        ("dámelo=da+me+lo ya", "dámelo=dá+me+lo ya", [(1, 1), (2, 2), (3, 3)]),
        # A token whose characters spell its words need not be marked as a multi-word token.
        ("evdeydi=evde+ydi", "evde ydi", [(0, 0), (1, 1)]),
        ("x evdeydi=evde+ydi", "xevdeydi", []),
        ("10~000 euros", "10_000 euros", [(0, 0), (1, 1)]),
        ("10~000 euros", "10 000 euros", [(1, 2)]),
        ("Du=De+le pain", "du=de+le pain", [(0, 0), (1, 1), (2, 2)]),
    ],
)
def test_matches_of_words(gold: str, predicted: str, matches: list[tuple[int, int]]) -> None:
    assert match_tree_words(tree(gold), tree(predicted)) == matches
    assert match_tree_words(tree(predicted), tree(gold)) == [(j, i) for i, j in matches]


def test_different_texts_are_rejected() -> None:
    with pytest.raises(TextMismatchError):
        match_tree_words(tree("a b"), tree("a c"))


@pytest.mark.parametrize(
    ("gold", "unspaced", "predicted", "counts"),
    [
        # French, Turkish: marked tokens. A token that is divided otherwise is not left whole.
        ("goût du=de+le pain", (), "goût du pain", (1, 1)),
        ("goût du=de+le pain", (), "goût du=d+u pain", (1, 0)),
        ("evdeydi=evde+ydi onlardı=onlar+dı .", (4,), "evde ydi onlardı .", (2, 1)),
        ("x evdeydi=evde+ydi", (), "xevdeydi", (1, 1)),
        # Arabic: words that touch; punctuation does not count.
        ("و قال ل ه .", (1, 3, 4), "وقال له .", (2, 2)),
        ("و قال ل ه .", (1, 3, 4), "و قال له .", (2, 1)),
        ("و ب يت ه", (1, 2, 3), "و بيته", (1, 0)),
        ("ب حسابٍ ه", (1, 2), "بحسابٍه", (1, 1)),
    ],
)
def test_undivided_multiword_tokens_are_counted(
    gold: str, unspaced: tuple[int, ...], predicted: str, counts: tuple[int, int]
) -> None:
    analysis = replace(tree(gold), unspaced_words=frozenset(unspaced))
    assert count_undivided_tokens(analysis, tree(predicted), is_space_delimited=True) == counts


def test_words_that_touch_do_not_count_in_languages_without_spaces() -> None:
    chinese = replace(tree("我们 看 书"), unspaced_words=frozenset({1, 2, 3}))
    assert count_undivided_tokens(chinese, tree("我们看书"), is_space_delimited=False) == (0, 0)
