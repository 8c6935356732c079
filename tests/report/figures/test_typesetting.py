"""Widths against what matplotlib lays out, and lines that fit."""

import pytest

from pipeline_py.report.figures.typesetting import fitted, lines_of, shown, width, wrapped


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize("text", ["internationalization", "0.41", "</s>", "Größe, née", "@SBAR"])
def test_widths_are_those_of_the_font(text, bold):
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    font = FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal", size=9)
    expected, _, _ = TextToPath().get_text_width_height_descent(text, font, ismath=False)
    assert width(text, 9, bold) == pytest.approx(expected, abs=0.5)


def test_ideographs_are_as_wide_as_high_and_accents_take_no_room():
    assert width("能源。", 10) == 30
    assert width("e\u0301", 10) == width("e", 10)
    assert width("a\u200db", 10) == width("ab", 10)
    assert width("", 10) == 0
    assert width("\U0010fffd", 10) > 0, "no font has it; its sign has room"


def test_what_an_svg_cannot_hold_gets_a_sign():
    assert shown("a\u00a0b\u3000c d") == "a b c d"
    assert shown("a\x00b\u2028c\ufffed\te") == "a\ufffdb\ufffdc\ufffdd\ufffde"
    assert shown("क्‍ष <&> 😀") == "क्‍ष <&> 😀"


def test_fitted():
    assert fitted("NP", 6, 100) == "NP"
    assert fitted("SENTENCE", 6, 20).endswith("…") and fitted("SENTENCE", 6, 20).startswith("SE")
    assert width(fitted("SENTENCE", 6, 20), 6) <= 20
    assert fitted("SENTENCE", 6, 1) == "…"


def test_lines_of_boxes():
    assert lines_of([3, 3, 3, 1, 9, 12, 1], 10) == [range(0, 4), range(4, 5), range(5, 6), range(6, 7)]
    assert lines_of([], 10) == []


def test_wrapped():
    text = "Tree-to-sequence with a gating scalar, sentence 17"
    lines = wrapped(text, 10, 120)
    assert len(lines) > 1 and " ".join(lines) == text
    assert all(width(line, 10) <= 120 for line in lines)
    # Three of four ideographs fit.
    assert wrapped("能源服务产业的推动", 10, 30) == ["能源服", "务产业", "的推动"]
