"""The tree of a source sentence over its words, wherever these stand: dependencies, or phrases."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pipeline_py.report.figures.attended_sentence import PhraseColumn, nth, phrase_columns
from pipeline_py.report.figures.pens import bracket, write
from pipeline_py.report.figures.typesetting import width
from pipeline_py.syntax.trees.constituency import read_trees
from pipeline_py.syntax.trees.dependency import DependencyTree, read_dependencies

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL = 13.0
"""From one level to the next, in points."""

LABEL_SIZE = 6.5
SHIFT = 2.5
"""How far an arc begins beside the middle of its head, in points."""

NOTE, LINE = "#555555", "#009e73"


class SourceTree(Protocol):
    """A tree that can be drawn.

    Attributes:
        words: of the sentence.
        height: of the drawing, in points.
    """

    words: Sequence[str]
    height: float

    def widened(self, slots: Sequence[float]) -> list[float]:
        """Widen the slots of words, in points, as its labels need it; further slots stay as they are."""
        ...

    def draw(self, axes: "Axes", x: Sequence[float], base: float) -> None:
        """Draw it over words that stand at x (further places are passed over), upwards from `base`."""


class Dependencies:
    """Arcs from heads to what depends on them; an arc lies over those that it spans."""

    def __init__(self, tree: DependencyTree) -> None:
        """Find how high each arc is; a failed parse has none."""
        self.words: Sequence[str] = tree.words
        parsed = [] if tree.failed else [*enumerate(zip(tree.heads, tree.labels, strict=True))]
        arcs = [(head - 1, place, label) for place, (head, label) in parsed if head]
        self._roots = [place for place, (head, _) in parsed if not head]
        self._levels: dict[tuple[int, int, str], int] = {}
        for arc in sorted(arcs, key=lambda arc: abs(arc[0] - arc[1])):
            first, last = sorted(arc[:2])
            below = [level for other, level in self._levels.items() if min(other[:2]) < last and max(other[:2]) > first]
            self._levels[arc] = 1 + max(below, default=0)
        self.height = LEVEL * (max(self._levels.values(), default=0) + 1)

    def widened(self, slots: Sequence[float]) -> list[float]:
        """Widen words until each arc, from the middle of a word to that of another, is as wide as its label."""
        wider = [*slots]
        for head, place, label in self._levels:
            first, last = sorted((head, place))
            wide = sum(wider[first : last + 1]) - (wider[first] + wider[last]) / 2
            _widen(wider, first, last, (width(label, LABEL_SIZE) + SHIFT + 2 - wide) / (last - first))
        return wider

    def draw(self, axes: "Axes", x: Sequence[float], base: float) -> None:
        """Draw it over words that stand at x, upwards from `base`."""
        for root in self._roots:
            axes.plot([x[root], x[root]], [base - 1, base - self.height], color=LINE, linewidth=0.8, zorder=1)
        for (head, place, label), level in self._levels.items():
            top, shift = base - LEVEL * level, SHIFT if place > head else -SHIFT
            start, end = x[head] + shift, x[place]
            axes.plot([start, start, end, end], [base - 1, top, top, base - 1], color=LINE, linewidth=0.8, zorder=1)
            axes.plot([end], [base - 1.5], marker="v", color=LINE, markersize=2.5, zorder=2)
            write(axes, ((start + end) / 2, top - LABEL_SIZE * 0.7), label, LABEL_SIZE, color=NOTE, align="center")


class Phrases:
    """Brackets over phrases, the lowest ones nearest to the words."""

    def __init__(self, words: Sequence[str], phrases: Sequence[PhraseColumn]) -> None:
        """Take phrases whose columns follow those of the words."""
        self.words, self._phrases = words, phrases
        self.height = LEVEL * (max((phrase.height for phrase in phrases), default=0) + 1)

    def widened(self, slots: Sequence[float]) -> list[float]:
        """Widen words until each phrase is as wide as its label."""
        wider = [*slots]
        for phrase in self._phrases:
            wide = sum(wider[phrase.first : phrase.last + 1])
            needed = width(phrase.label, LABEL_SIZE) + 4 - wide
            _widen(wider, phrase.first, phrase.last, needed / (phrase.last + 1 - phrase.first))
        return wider

    def draw(self, axes: "Axes", x: Sequence[float], base: float) -> None:
        """Draw it over words that stand at x, upwards from `base`."""
        at = [(place, base) for place in x[: len(self.words)]]
        for phrase in self._phrases:
            top = base - LEVEL * phrase.height
            corners = bracket(top, [at[child] for child in phrase.children])
            middle = (corners[0][0] + corners[1][0]) / 2
            axes.plot(*zip(*corners, strict=True), color=LINE, linewidth=0.8, zorder=1)
            write(axes, (middle, top - LABEL_SIZE * 0.7), phrase.label, LABEL_SIZE, color=NOTE, align="center")
            at.append((middle, top))


def _widen(slots: list[float], first: int, last: int, each: float) -> None:
    """Widen the slots of some words; none is made narrower."""
    slots[first : last + 1] = [slot + max(0.0, each) for slot in slots[first : last + 1]]


def read_source_tree(path: Path, number: int) -> SourceTree:
    """Read the tree of a sentence, counted from 1, from CoNLL-U or from brackets in `.ptb`.

    Raises:
        InputError: if the file lacks the sentence.
    """
    if path.suffix == ".conllu":
        return Dependencies(nth(read_dependencies(path), number, path))
    tree = nth(read_trees(path), number, path)
    phrases = [] if tree.root is None or tree.failed else phrase_columns([tree.root], len(tree.leaves))
    return Phrases(tree.words, phrases)
