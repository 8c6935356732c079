"""Tests of drawings of source trees."""

import pytest

from pipeline_py.report.figures.source_tree import LABEL_SIZE, LEVEL_HEIGHT, DependencyArcs, read_source_tree
from pipeline_py.report.figures.typesetting import compute_text_width
from pipeline_py.run.errors import InputError


def block(*words: tuple[str, int, str]) -> str:
    """A sentence in CoNLL-U: words, their heads and relations."""
    rows = (f"{n}\t{word}\t_\t_\t_\t_\t{head}\t{label}\t_\t_\n" for n, (word, head, label) in enumerate(words, 1))
    return "".join(rows) + "\n"


CONLLU = block(("the", 2, "det"), ("cat", 3, "nsubj"), ("sat", 0, "root"))
FAR = block(("I", 2, "a"), ("saw", 0, "root"), ("the", 4, "a"), ("cat", 2, "a"))


class Axes:
    """Records lines and texts."""

    def __init__(self) -> None:
        self.lines: list[tuple] = []
        self.texts: list[str] = []

    def plot(self, x, y, **_) -> None:
        self.lines.append((tuple(x), tuple(y)))

    def text(self, x, y, text, **_) -> None:
        self.texts.append(text)


def test_arc_lies_above_spanned_arcs(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU + FAR)
    tree = read_source_tree(path, 2)
    axes = Axes()
    tree.draw(axes, [0.0, 50.0, 100.0, 150.0], 0.0)
    arcs = {(x[0] // 50, x[-1] // 50): -min(y) for x, y in axes.lines if len(x) == 4}
    low, high = LEVEL_HEIGHT, 2 * LEVEL_HEIGHT
    assert sorted(arcs.values()) == [low, low, high], "two words side by side, and one arc over the second of these"
    assert tree.height == 3 * LEVEL_HEIGHT and sorted(axes.texts) == ["a", "a", "a"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.conllu",
            block(("I", 2, "nsubj:passive"), ("saw", 0, "root"), ("a", 4, "det:predet"), ("b", 2, "x")),
        ),
        ("a.ptb", "(SBARQ-WITH-A-LONG-NAME (NP|PREPOSITIONAL (D I)) (V saw) (N a) (N b))\n"),
    ],
)
def test_widen_slots_makes_room_for_labels(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    tree = read_source_tree(path, 1)
    slots = tree.widen_slots([10.0] * 5)
    assert slots[4] == 10 and min(slots) >= 10 and max(slots) > 10
    axes = Axes()
    ends = [sum(slots[: place + 1]) for place in range(5)]
    tree.draw(axes, [end - slot / 2 for end, slot in zip(ends, slots, strict=True)], 0.0)
    assert not any("…" in text for text in axes.texts)
    if isinstance(tree, DependencyArcs):
        arcs = [abs(x[-1] - x[0]) for x, _ in axes.lines if len(x) == 4]
        assert all(
            width >= compute_text_width(label, LABEL_SIZE) for width, label in zip(arcs, axes.texts, strict=True)
        )
    else:
        assert slots[0] >= compute_text_width("NP|PREPOSITIONAL", LABEL_SIZE)


def test_phrases_are_drawn_over_children(tmp_path):
    path = tmp_path / "a.ptb"
    path.write_text("(S (NP (D the) (N cat)) (VP (V sat)))\n(FAILED (X a) (X b))\n")
    tree = read_source_tree(path, 1)
    axes = Axes()
    tree.draw(axes, [0.0, 50.0, 100.0], 0.0)
    assert [*tree.words] == ["the", "cat", "sat"] and axes.texts == ["NP", "VP", "S"]
    assert tree.height == 3 * LEVEL_HEIGHT
    empty_axes = Axes()
    read_source_tree(path, 2).draw(empty_axes, [0.0, 50.0], 0.0)
    assert not empty_axes.lines and not empty_axes.texts


@pytest.mark.parametrize("ending", ["conllu", "ptb"])
def test_missing_sentence_raises_error(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    path.write_text(CONLLU if ending == "conllu" else "(S (N cat))\n")
    with pytest.raises(InputError, match="there is no sentence 2"):
        read_source_tree(path, 2)
