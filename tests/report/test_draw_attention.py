"""Tests of the figure of attention."""

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.report.draw_attention import draw_attention
from pipeline_py.report.figures.typesetting import compute_text_width
from pipeline_py.run.errors import InputError
from tests.job_process import run_figure_job
from tests.report.svg_figures import skip_pdf

SVG = "{http://www.w3.org/2000/svg}"
SOURCE = "the film $showed$ <good> performance"
TREE = "(S (NP (D the) (N film)) (VP (V $showed$) (@VP (A <good>) (N performance))))"
TRANSLATION = "膜 は 優れ た"
# Of "は": the five words, EOS, then NP, @VP, VP, S.
WEIGHTS = np.array(
    [
        [0.10, 0.90, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00],
        [0.05, 0.01, 0.02, 0.03, 0.04, 0.11, 0.41, 0.22, 0.08, 0.03],
        [0.00, 0.00, 0.00, 0.00, 0.70, 0.00, 0.30, 0.00, 0.00, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.20, 0.20, 0.60],
        [0.00, 0.00, 0.00, 0.00, 0.00, 1.00, 0.00, 0.00, 0.00, 0.00],
    ],
    dtype=np.float32,
)
GATES = np.array([0.125, 0.5, 1.0, 0.25, 0.75], dtype=np.float32)


class Text(NamedTuple):
    text: str
    x: float
    y: float
    style: str


class Box(NamedTuple):
    left: float
    right: float
    top: float
    bottom: float
    fill: str


class Figure:
    """Texts and boxes of an SVG; y grows downwards."""

    def __init__(self, path: Path) -> None:
        root = ElementTree.parse(path).getroot()
        self.size = tuple(float(number) for number in root.get("viewBox", "").split()[2:])
        self.texts = [
            Text("".join(e.itertext()), float(e.get("x", 0)), float(e.get("y", 0)), e.get("style", ""))
            for e in root.iter(f"{SVG}text")
        ]
        self.boxes = {}
        for group in root.iter(f"{SVG}g"):
            if group.get("id", "").startswith(("panel-", "gate-")):
                for path_of_group in group.iter(f"{SVG}path"):
                    numbers = re.findall(r"-?\d+(?:\.\d+)?", path_of_group.get("d", ""))
                    xs, ys = [*map(float, numbers[::2])], [*map(float, numbers[1::2])]
                    fill = re.search(r"fill: (#\w+|none)", path_of_group.get("style", ""))
                    self.boxes[group.get("id")] = Box(min(xs), max(xs), min(ys), max(ys), fill[1] if fill else "")

    @property
    def shown(self) -> Counter:
        return Counter(text.text for text in self.texts)

    def columns(self, panel: int) -> dict[int, Box]:
        start = f"panel-{panel}-column-"
        return {int(name.removeprefix(start)): box for name, box in self.boxes.items() if name.startswith(start)}

    def get_texts_in(self, box: Box) -> list[str]:
        return [t.text for t in self.texts if box.left < t.x < box.right and box.top < t.y < box.bottom]


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, SOURCE, TRANSLATION, TREE, WEIGHTS, GATES)
    return tmp_path


def write(folder, source, translation, tree, weights, gates=None):
    """Write a set of two sentences, the first of which is empty."""
    for name, line in {"source": source, "translation": translation, "tree": tree, "reference": "膜は$優れ$た"}.items():
        (folder / name).write_text(f"\n{line}\n", encoding="utf-8")
    empty = np.zeros(0, dtype=np.float32)
    write_ragged_rows(folder / "weights.arrow", [empty, np.asarray(weights, dtype=np.float32).ravel()], "float32")
    write_ragged_rows(folder / "gates.arrow", [empty, empty if gates is None else gates], "float32")


def arguments(folder, **changes):
    return {
        "sentence": 2,
        "source_pieces": folder / "source",
        "translation": folder / "translation",
        "attention": folder / "weights.arrow",
        "tree": folder / "tree",
        "svg_output": folder / "figure.svg",
        "pdf_output": folder / "figure.pdf",
        **changes,
    }


def draw(folder, **changes):
    with skip_pdf():
        draw_attention(**arguments(folder, **changes))
    return Figure(folder / "figure.svg")


def darkness(fill):
    return 255 * 3 - sum(bytes.fromhex(fill[1:]))


def test_boxes_have_labels_and_numbers_of_their_nodes(folder):
    figure = draw(folder, words=[2])
    columns = figure.columns(1)
    assert sorted(columns) == list(range(10))
    labels = {6: ["NP"], 7: ["@VP"], 8: ["VP"], 9: ["S"]}
    # The five highest, 0.05 among them; 0.04 is the sixth.
    numbers = {5: ["0.11"], 6: ["0.41"], 7: ["0.22"], 8: ["0.08"], 0: ["0.05"]}
    for column, box in columns.items():
        assert figure.get_texts_in(box) == labels.get(column, []) + numbers.get(column, [])
    assert "0.04" not in figure.shown


def test_shades_increase_with_weights(folder):
    figure = draw(folder, words=[2])
    shades = [darkness(figure.columns(1)[column].fill) for column in np.argsort(WEIGHTS[1], kind="stable")]
    assert shades == sorted(shades) and shades[0] < shades[-1] / 3
    # The legend ends with the next tenth above 0.41.
    assert figure.shown["0.5   attention"] == 1


def test_panels_share_colour_scale(folder):
    figure = draw(folder, words=[1, 2])
    assert figure.shown["0.9   attention"] == 1
    assert darkness(figure.columns(2)[6].fill) < darkness(figure.columns(1)[1].fill)
    assert figure.columns(1)[2].fill == figure.columns(1)[9].fill, "the same weight, the same shade"


def test_tree_is_aligned_with_words(folder):
    figure = draw(folder, words=[1])
    columns = figure.columns(1)
    words = [figure.shown[word] for word in SOURCE.split()]
    assert words == [1] * 5
    places = {text.text: text for text in figure.texts}
    for column, word in enumerate(SOURCE.split()):
        box = columns[column]
        assert places[word].x == pytest.approx((box.left + box.right) / 2, abs=0.01)
        assert box.bottom < places[word].y < box.bottom + 20
    middle = {column: ((b.left + b.right) / 2, (b.top + b.bottom) / 2) for column, b in columns.items()}
    for phrase, (left, right) in {6: (0, 1), 7: (3, 4), 8: (2, 7), 9: (6, 8)}.items():
        edges = figure.boxes[f"panel-1-edges-{phrase}"]
        assert (edges.left, edges.right) == pytest.approx((middle[left][0], middle[right][0]), abs=0.01)
        assert edges.top == pytest.approx(middle[phrase][1], abs=0.01)
        assert edges.bottom == pytest.approx(max(middle[left][1], middle[right][1]), abs=0.01)
    assert middle[9][1] < middle[8][1] < middle[7][1] == middle[6][1] < middle[0][1] == middle[5][1]
    assert middle[5][0] > middle[4][0], "EOS follows the last word"
    assert len([name for name in figure.boxes if "edges" in name]) == 4


def test_every_selected_word_has_panel(folder):
    figure = draw(folder, words=[4, 2, 2, 5], title="Tree $x$ & <句法>", reference=folder / "reference")
    assert [text for text in figure.shown if text.startswith("word ")] == ["word 2", "word 4", "word 5"]
    assert {name.split("-")[1] for name in figure.boxes} == {"1", "2", "3"}
    # Selected words occur in the translation and above their panels.
    assert [figure.shown[token] for token in [*TRANSLATION.split(), "</s>"]] == [1, 2, 1, 2, 5]
    highlighted = [text.text for text in figure.texts if "#d55e00" in text.style and "font-weight: 700" in text.style]
    assert highlighted == ["は", "た", "</s>"] * 2
    assert figure.shown["Tree $x$ & <句法>"] == figure.shown["膜は$優れ$た"] == figure.shown["reference"] == 1


def test_default_selects_informative_words(folder):
    # All four words fit; EOS is left out.
    shown = draw(folder).shown
    assert [text for text in shown if text.startswith("word ")] == ["word 1", "word 2", "word 3", "word 4"]


def test_gates_are_drawn_below_translation(folder):
    figure = draw(folder, words=[2, 3], gates=folder / "gates.arrow")
    heights = []
    for step, beta in enumerate(GATES):
        bar = figure.boxes[f"gate-{step}"]
        heights.append(bar.bottom - bar.top)
        below = [t for t in figure.texts if bar.left <= t.x <= bar.right and bar.bottom < t.y < bar.bottom + 10]
        assert [text.text for text in below] == [f"{beta:.2f}"]
    assert heights == pytest.approx((GATES * max(heights)).tolist(), abs=0.01)
    assert any("β" in text for text in figure.shown)


def test_sentence_without_gates_has_no_bars(folder):
    write(folder, SOURCE, TRANSLATION, TREE, WEIGHTS)
    figure = draw(folder, gates=folder / "gates.arrow")
    assert not [name for name in figure.boxes if "gate" in name]
    assert not any("β" in text for text in figure.shown)


@pytest.mark.parametrize("tree", [None, "(FAILED (X the) (X film) (X $showed$) (X <good>) (X performance))"])
def test_failed_parse_shows_only_words(folder, tree):
    write(folder, SOURCE, TRANSLATION, tree or "", WEIGHTS[:, :6])
    figure = draw(folder, words=[1], tree=folder / "tree" if tree else None)
    assert sorted(figure.columns(1)) == list(range(6))
    assert not [name for name in figure.boxes if "edges" in name]
    assert figure.get_texts_in(figure.columns(1)[1]) == ["0.90"]


def test_empty_translation_shows_eos(folder):
    write(folder, "能源", "", "(NN 能源)", [[0.25, 0.75]])
    figure = draw(folder)
    assert [figure.get_texts_in(box) for box in figure.columns(1).values()] == [["0.25"], ["0.75"]]
    assert figure.shown["能源"] == 1 and figure.shown["word 1"] == 1


def test_lexical_trees_cover_split_words(folder):
    write(folder, "a capa@@ ci@@ tor", "x", "", [[0, 0, 0, 0, 0, 0.4, 0.6], [1, 0, 0, 0, 0, 0, 0]])
    figure = draw(folder, tree=None, lexical=True, words=[1])
    columns = figure.columns(1)
    assert figure.get_texts_in(columns[5]) == ["0.40"] and figure.get_texts_in(columns[6]) == ["0.60"]
    assert columns[6].bottom < columns[5].top and columns[1].left < columns[6].left < columns[3].left


@pytest.mark.parametrize("size", [5, 20, 40])
def test_content_stays_within_figure(folder, size):
    random = np.random.default_rng(size)
    words = ["w" * int(length) for length in random.integers(1, 18, size=size)]
    tree = f"(NN {words[-1]})"
    for word in reversed(words[:-1]):
        tree = f"(SENTENCE (NN {word}) {tree})"
    target = ["示し" * int(length) for length in random.integers(1, 4, size=size)]
    weights = random.dirichlet(np.full(2 * size, 0.1), size=size + 1)
    write(folder, " ".join(words), " ".join(target), tree, weights, np.full(size + 1, 0.5, dtype=np.float32))
    title = "A system with a long name " * 20
    figure = draw(folder, title=title, gates=folder / "gates.arrow", reference=folder / "reference")
    wide, high = figure.size
    for text, x, y, style in figure.texts:
        size_of_text = float(re.search(r"font-size: ([\d.]+)px", style)[1])
        room = compute_text_width(text, size_of_text, bold="700" in style)
        before = {"start": 0, "middle": room / 2, "end": room}[re.search(r"text-anchor: (\w+)", style)[1]]
        slanted = len(figure.columns(1)) > 10 and text in words
        assert x - before * (2**-0.5 if slanted else 1) > 0 and x - before + room < wide
        assert size_of_text < y + 1 and y + (room * 2**-0.5 if slanted else 0) < high
    for box in figure.boxes.values():
        assert box.left > 0 and box.right < wide and box.top > 0 and box.bottom < high


def test_svg_names_fallback_fonts(folder):
    draw(folder)
    svg = (folder / "figure.svg").read_text(encoding="utf-8")
    assert re.search(r"font-family: 'DejaVu Sans', 'Noto Sans CJK SC', .*, sans-serif", svg)


def test_characters_without_font_are_reported(folder, capsys, recwarn, caplog):
    write(folder, "a", "\U0010fffd", "(X a)", [[1.0, 0.0], [0.0, 1.0]])
    draw_attention(**arguments(folder))
    assert capsys.readouterr().err == (
        "no installed font has \U0010fffd; the PDF shows boxes instead; install Noto Sans CJK SC\n"
    )
    assert (folder / "figure.pdf").read_bytes().startswith(b"%PDF")
    assert not recwarn.list and not caplog.records


def test_figure_is_deterministic(folder, monkeypatch):
    options = arguments(folder, gates=folder / "gates.arrow", title="能源")
    draw_attention(**options)
    # Another process at another time, with a user's matplotlibrc.
    (folder / "matplotlibrc").write_text("lines.linewidth: 9\nsvg.hashsalt: other\nfont.size: 20\n")
    monkeypatch.setenv("MATPLOTLIBRC", str(folder))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    run_figure_job(
        "report.draw_attention", folder, {n: v for n, v in options.items() if not n.endswith("_output")}, "b"
    )
    for kind in ("svg", "pdf"):
        assert (folder / f"figure.{kind}").read_bytes() == (folder / f"b.{kind}").read_bytes()


def test_settings_are_restored(folder):
    import logging

    import matplotlib

    level = logging.getLogger("matplotlib.font_manager").level
    with matplotlib.rc_context({"font.size": 13.0}):
        draw(folder)
        assert matplotlib.rcParams["font.size"] == 13.0
    assert logging.getLogger("matplotlib.font_manager").level == level


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lexical": True}, "give either a tree or `lexical`, not both"),
        ({"sentence": 3}, "source: there is no sentence 3"),
        (
            {"sentence": 1},
            r"weights.arrow, line 1: the sentence has no attention; run nmt.attend on sentence 1",
        ),
        ({"words": [6]}, "figures: words: 6: the translation has 4 pieces and EOS, counted from 1"),
        ({"words": [0]}, "figures: words: 0: "),
    ],
)
def test_invalid_input_raises_error(folder, changes, message):
    with pytest.raises(InputError, match=message):
        draw(folder, **changes)
    assert not (folder / "figure.svg").exists()


def test_short_reference_raises_error(folder):
    (folder / "reference").write_text("one\n")
    with pytest.raises(InputError, match="reference: there is no sentence 2"):
        draw(folder, reference=folder / "reference")
