"""Sentences that two systems translate most differently, and in which words."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from pipeline_py.report.tsv_rows import count, number, read_rows
from pipeline_py.text import tokens_of

COLUMNS = (
    *("system", "other", "sentence", "source", "reference"),
    *("translation_system", "translation_other", "score_system", "score_other"),
)
MOST = 2
"""Examples for, and as many against a system, of each pair."""

Span = tuple[str, bool]
"""Words, and whether they are those of one translation alone."""


@dataclass(frozen=True)
class Translated:
    """What one system said, and how good it is, in percent."""

    system: str
    text: str
    score: float


@dataclass(frozen=True)
class Example:
    """A sentence, counted from 1, and two translations of it."""

    sentence: int
    source: str
    reference: str
    system: Translated
    other: Translated

    @property
    def difference(self) -> float:
        """How much better the system is."""
        return self.system.score - self.other.score

    def spans(self) -> tuple[list[Span], list[Span]]:
        """Both translations, cut where they differ."""
        words = tokens_of(self.system.text), tokens_of(self.other.text)
        both: tuple[list[Span], list[Span]] = ([], [])
        for kind, *ends in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
            for side, (start, end) in enumerate((ends[:2], ends[2:])):
                if end > start:
                    both[side].append((" ".join(words[side][start:end]), kind != "equal"))
        return both


def read_examples(path: Path) -> list[Example]:
    """Read the examples of a set.

    Raises:
        InputError: if the file holds none.
    """
    return [
        Example(
            count(row, "sentence", path),
            row["source"],
            row["reference"],
            *(
                Translated(row[side], row[f"translation_{side}"], number(row, f"score_{side}", path))
                for side in ("system", "other")
            ),
        )
        for row in read_rows(path, COLUMNS)
    ]


def chosen(examples: Sequence[Example], system: str, other: str) -> list[Example]:
    """Of two systems those that differ most: where the one is better, then where the other is."""
    found = [
        each
        if each.system.system == system
        else Example(each.sentence, each.source, each.reference, each.other, each.system)
        for each in examples
        if {each.system.system, each.other.system} == {system, other}
    ]
    ranked = sorted({each.sentence: each for each in found}.values(), key=lambda each: each.difference)
    better = [each for each in reversed(ranked) if each.difference > 0]
    return [*better[:MOST], *(each for each in ranked[:MOST] if each.difference < 0)]
