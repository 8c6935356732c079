"""Widths against what matplotlib lays out, and lines that fit."""

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
def test_widths_are_those_of_the_font(text, bold):
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    font = FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal", size=9)
    expected, _, _ = TextToPath().get_text_width_height_descent(text, font, ismath=False)
    assert compute_text_width(text, 9, bold) == pytest.approx(expected, abs=0.5)


def test_ideographs_are_as_wide_as_high_and_accents_take_no_room():
    assert compute_text_width("能源。", 10) == 30
    assert compute_text_width("e\u0301", 10) == compute_text_width("e", 10)
    assert compute_text_width("a\u200db", 10) == compute_text_width("ab", 10)
    assert compute_text_width("", 10) == 0
    assert compute_text_width("\U0010fffd", 10) > 0, "no font has it; its sign has room"


def test_what_an_svg_cannot_hold_gets_a_sign():
    assert replace_unprintable("a\u00a0b\u3000c d") == "a b c d"
    assert replace_unprintable("a\x00b\u2028c\ufffed\te") == "a\ufffdb\ufffdc\ufffdd\ufffde"
    assert replace_unprintable("क्‍ष <&> 😀") == "क्‍ष <&> 😀"


def test_fitted():
    assert truncate_text("NP", 6, 100) == "NP"
    assert truncate_text("SENTENCE", 6, 20).endswith("…") and truncate_text("SENTENCE", 6, 20).startswith("SE")
    assert compute_text_width(truncate_text("SENTENCE", 6, 20), 6) <= 20
    assert truncate_text("SENTENCE", 6, 1) == "…"


def test_lines_of_boxes():
    assert break_into_lines([3, 3, 3, 1, 9, 12, 1], 10) == [range(0, 4), range(4, 5), range(5, 6), range(6, 7)]
    assert break_into_lines([], 10) == []


def test_wrapped():
    text = "Tree-to-sequence with a gating scalar, sentence 17"
    lines = wrap_text(text, 10, 120)
    assert len(lines) > 1 and " ".join(lines) == text
    assert all(compute_text_width(line, 10) <= 120 for line in lines)
    # Three of four ideographs fit.
    assert wrap_text("能源服务产业的推动", 10, 30) == ["能源服", "务产业", "的推动"]
