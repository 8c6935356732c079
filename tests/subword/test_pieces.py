"""Words survive being split, whatever characters they are made of."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.files.text_files import split_tokens
from pipeline_py.subword.pieces import find_word_indices, group_by_word, join_pieces, mark_pieces

WORD = st.text(st.sampled_from("ab@\u00a0\u2028\u200d<"), min_size=1, max_size=6)


@given(st.lists(WORD, max_size=5), st.data())
def test_any_split_of_any_words_joins_back(words: list[str], data: st.DataObject) -> None:
    pieces: list[str] = []
    owners: list[int] = []
    for index, word in enumerate(words):
        cuts = sorted(data.draw(st.sets(st.integers(1, len(word)))) - {len(word)})
        parts = [word[start:end] for start, end in zip([0, *cuts], [*cuts, len(word)], strict=True)]
        marked = mark_pieces(parts)
        pieces += marked
        owners += [index] * len(marked)
    assert find_word_indices(pieces) == owners
    assert join_pieces(pieces) == words
    assert " ".join(pieces).replace("@@ ", "") == " ".join(words)
    assert [piece for word in group_by_word(pieces) for piece in word] == pieces


def test_a_worked_example() -> None:
    pieces = split_tokens("un@@ believ@@ able  news @@@ @ x@@")
    assert find_word_indices(pieces) == [0, 0, 0, 1, 2, 2, 3]
    assert group_by_word(pieces) == [["un@@", "believ@@", "able"], ["news"], ["@@@", "@"], ["x@@"]]
    assert join_pieces(pieces) == ["unbelievable", "news", "@@", "x"]


def test_a_word_that_ends_like_a_piece_is_split_before_its_last_character() -> None:
    assert mark_pieces(["foo@@"]) == ["foo@@@", "@"]
    assert mark_pieces(["@@"]) == ["@@@", "@"]
    assert mark_pieces(["fo", "o@"]) == ["fo@@", "o@"]


def test_only_the_space_separates() -> None:
    assert split_tokens("a\u00a0b c\u3000d\te  f ") == ["a\u00a0b", "c\u3000d\te", "f"]
    assert split_tokens("") == []
