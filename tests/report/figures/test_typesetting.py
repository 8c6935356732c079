"""Tests of text widths and line breaks."""

import pytest

from pipeline_py.report.figures.typesetting import (
    break_into_lines,
    compute_text_width,
    replace_unprintable,
    truncate_text,
    wrap_text,
)


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize("text", ["internationalization", "0.41", "</s>", "Größe, née", "@SBAR"])
def test_text_width_agrees_with_matplotlib(text, bold):
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    font = FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal", size=9)
    expected, _, _ = TextToPath().get_text_width_height_descent(text, font, ismath=False)
    assert compute_text_width(text, 9, bold) == pytest.approx(expected, abs=0.5)


def test_text_width_of_special_characters():
    assert compute_text_width("能源。", 10) == 30
    assert compute_text_width("e\u0301", 10) == compute_text_width("e", 10)
    assert compute_text_width("a\u200db", 10) == compute_text_width("ab", 10)
    assert compute_text_width("", 10) == 0
    assert compute_text_width("\U0010fffd", 10) > 0, "the replacement glyph has a width"


def test_replace_unprintable_replaces_control_characters():
    assert replace_unprintable("a\u00a0b\u3000c d") == "a b c d"
    assert replace_unprintable("a\x00b\u2028c\ufffed\te") == "a\ufffdb\ufffdc\ufffdd\ufffde"
    assert replace_unprintable("क्‍ष <&> 😀") == "क्‍ष <&> 😀"


def test_truncate_text_adds_ellipsis():
    assert truncate_text("NP", 6, 100) == "NP"
    assert truncate_text("SENTENCE", 6, 20).endswith("…") and truncate_text("SENTENCE", 6, 20).startswith("SE")
    assert compute_text_width(truncate_text("SENTENCE", 6, 20), 6) <= 20
    assert truncate_text("SENTENCE", 6, 1) == "…"


def test_break_into_lines_respects_maximum_width():
    assert break_into_lines([3, 3, 3, 1, 9, 12, 1], 10) == [range(0, 4), range(4, 5), range(5, 6), range(6, 7)]
    assert break_into_lines([], 10) == []


def test_wrap_text_breaks_at_spaces_or_within_words():
    text = "Tree-to-sequence with a gating scalar, sentence 17"
    lines = wrap_text(text, 10, 120)
    assert len(lines) > 1 and " ".join(lines) == text
    assert all(compute_text_width(line, 10) <= 120 for line in lines)
    # Three of four ideographs fit.
    assert wrap_text("能源服务产业的推动", 10, 30) == ["能源服", "务产业", "的推动"]
