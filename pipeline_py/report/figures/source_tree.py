"""Drawings of dependency and phrase trees over source words."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pipeline_py.report.figures.attended_sentence import PhraseColumn, build_phrase_columns, get_sentence
from pipeline_py.report.figures.drawing import compute_bracket, write_text
from pipeline_py.report.figures.typesetting import compute_text_width
from pipeline_py.syntax.trees.constituency import read_phrase_trees
from pipeline_py.syntax.trees.dependency import DependencyTree, read_dependency_trees

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL_HEIGHT = 13.0
"""Distance between levels, in points."""

LABEL_SIZE = 6.5
ARC_SHIFT = 2.5
"""Horizontal distance of the start of an arc from the centre of its head, in points."""

LABEL_COLOUR, EDGE_COLOUR = "#555555", "#009e73"


class SourceTree(Protocol):
    """A tree that can be drawn.

    Attributes:
        words: words of the sentence.
        height: height of the drawing, in points.
    """

    words: Sequence[str]
    height: float

    def widen_slots(self, slots: Sequence[float]) -> list[float]:
        """Widen the slots of words, in points, to fit labels; slots after the last word stay the same."""
        ...

    def draw(self, axes: "Axes", word_centres: Sequence[float], base_y: float) -> None:
        """Draw the tree over words at `word_centres`, upwards from `base_y`; further centres are ignored."""


class DependencyArcs:
    """Arcs from heads to dependents; an arc lies above the arcs that it spans."""

    def __init__(self, tree: DependencyTree) -> None:
        """Compute the level of each arc; a failed parse has no arcs."""
        self.words: Sequence[str] = tree.words
        parsed = [] if tree.failure_reason else [*enumerate(zip(tree.heads, tree.labels, strict=True))]
        arcs = [(head - 1, place, label) for place, (head, label) in parsed if head]
        self._roots = [place for place, (head, _) in parsed if not head]
        self._arc_levels: dict[tuple[int, int, str], int] = {}
        for arc in sorted(arcs, key=lambda arc: abs(arc[0] - arc[1])):
            first, last = sorted(arc[:2])
            below = [
                level
                for lower_arc, level in self._arc_levels.items()
                if min(lower_arc[:2]) < last and max(lower_arc[:2]) > first
            ]
            self._arc_levels[arc] = 1 + max(below, default=0)
        self.height = LEVEL_HEIGHT * (max(self._arc_levels.values(), default=0) + 1)

    def widen_slots(self, slots: Sequence[float]) -> list[float]:
        """Widen slots until each arc is at least as wide as its label."""
        slot_widths = [*slots]
        for head, place, label in self._arc_levels:
            first, last = sorted((head, place))
            width = sum(slot_widths[first : last + 1]) - (slot_widths[first] + slot_widths[last]) / 2
            _widen_range(
                slot_widths,
                first,
                last,
                (compute_text_width(label, LABEL_SIZE) + ARC_SHIFT + 2 - width) / (last - first),
            )
        return slot_widths

    def draw(self, axes: "Axes", word_centres: Sequence[float], base_y: float) -> None:
        """Draw the tree over words at `word_centres`, upwards from `base_y`."""
        for root in self._roots:
            axes.plot(
                [word_centres[root], word_centres[root]],
                [base_y - 1, base_y - self.height],
                color=EDGE_COLOUR,
                linewidth=0.8,
                zorder=1,
            )
        for (head, place, label), level in self._arc_levels.items():
            top, shift = base_y - LEVEL_HEIGHT * level, ARC_SHIFT if place > head else -ARC_SHIFT
            start, end = word_centres[head] + shift, word_centres[place]
            axes.plot(
                [start, start, end, end], [base_y - 1, top, top, base_y - 1], color=EDGE_COLOUR, linewidth=0.8, zorder=1
            )
            axes.plot([end], [base_y - 1.5], marker="v", color=EDGE_COLOUR, markersize=2.5, zorder=2)
            write_text(
                axes, ((start + end) / 2, top - LABEL_SIZE * 0.7), label, LABEL_SIZE, color=LABEL_COLOUR, align="center"
            )


class PhraseBrackets:
    """Brackets over phrases."""

    def __init__(self, words: Sequence[str], phrases: Sequence[PhraseColumn]) -> None:
        """Store words and their phrases, whose columns follow those of the words."""
        self.words, self._phrases = words, phrases
        self.height = LEVEL_HEIGHT * (max((phrase.height for phrase in phrases), default=0) + 1)

    def widen_slots(self, slots: Sequence[float]) -> list[float]:
        """Widen slots until each phrase is at least as wide as its label."""
        slot_widths = [*slots]
        for phrase in self._phrases:
            width = sum(slot_widths[phrase.first : phrase.last + 1])
            extra_width = compute_text_width(phrase.label, LABEL_SIZE) + 4 - width
            _widen_range(slot_widths, phrase.first, phrase.last, extra_width / (phrase.last + 1 - phrase.first))
        return slot_widths

    def draw(self, axes: "Axes", word_centres: Sequence[float], base_y: float) -> None:
        """Draw the tree over words at `word_centres`, upwards from `base_y`."""
        points = [(place, base_y) for place in word_centres[: len(self.words)]]
        for phrase in self._phrases:
            top = base_y - LEVEL_HEIGHT * phrase.height
            corners = compute_bracket(top, [points[child] for child in phrase.children])
            middle = (corners[0][0] + corners[1][0]) / 2
            axes.plot(*zip(*corners, strict=True), color=EDGE_COLOUR, linewidth=0.8, zorder=1)
            write_text(
                axes, (middle, top - LABEL_SIZE * 0.7), phrase.label, LABEL_SIZE, color=LABEL_COLOUR, align="center"
            )
            points.append((middle, top))


def _widen_range(slots: list[float], first: int, last: int, extra_width: float) -> None:
    """Widen a range of slots; a negative width changes nothing."""
    slots[first : last + 1] = [slot + max(0.0, extra_width) for slot in slots[first : last + 1]]


def read_source_tree(path: Path, sentence_number: int) -> SourceTree:
    """Read the tree of a sentence, numbered from 1, from CoNLL-U or from brackets (`.ptb`).

    Raises:
        InputError: if the file lacks the sentence.
    """
    if path.suffix == ".conllu":
        return DependencyArcs(get_sentence(read_dependency_trees(path), sentence_number, path))
    tree = get_sentence(read_phrase_trees(path), sentence_number, path)
    phrases = [] if tree.root is None or tree.is_failed else build_phrase_columns([tree.root], len(tree.leaves))
    return PhraseBrackets(tree.words, phrases)
