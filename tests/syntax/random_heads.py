"""A Hypothesis strategy for heads of random trees."""

from hypothesis import strategies as st


@st.composite
def draw_forest_heads(draw: st.DrawFn, max_words: int) -> list[int]:
    """Draw the heads of trees with one or more roots, in random word order."""
    size = draw(st.integers(1, max_words))
    order = draw(st.permutations(range(1, size + 1)))
    heads = [0] * size
    has_several_roots = draw(st.booleans())
    for place in range(1, size):
        parent = draw(st.integers(-1 if has_several_roots else 0, place - 1))
        heads[order[place] - 1] = 0 if parent < 0 else order[parent]
    return heads
