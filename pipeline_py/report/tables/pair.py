"""Two systems beside each other on one set, as `evaluation.compare` found them: the only source of all marks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipeline_py.evaluation.metric import named
from pipeline_py.report.read_table import read_table

Test = Literal["sign", "bootstrap", "randomization"]

TESTS: Mapping[Test, tuple[str, str]] = {
    "sign": ("s", "sign test"),
    "bootstrap": ("b", "paired bootstrap"),
    "randomization": ("r", "approximate randomization"),
}
"""Name in the columns of the file → letter and name for people."""

LEVEL = 0.05

COLUMNS = (
    *("metric", "system", "other", "score_system", "score_other", "difference", "low", "high"),
    *("better", "worse", "ties"),
    *(f"p_{test}{kind}" for test in TESTS for kind in ("", "_holm")),
)


@dataclass(frozen=True)
class Pair:
    """One system beside another, by one metric.

    Attributes:
        metric: a module of `evaluation/metrics`.
        system, other: the system, and what it is compared with.
        scores: of both, means over their runs.
        difference: of the scores; `low` and `high` are the ends of its 95 % interval.
        counts: for how many sentences the score gets better, gets worse and stays where the one's output takes the
            other's place.
        p: by test, before and after Holm's correction.
    """

    metric: str
    system: str
    other: str
    scores: tuple[float, float]
    difference: float
    low: float
    high: float
    counts: tuple[int, int, int]
    p: Mapping[Test, tuple[float, float]]

    @property
    def label(self) -> str:
        """What people call the metric."""
        return named(self.metric).label

    @property
    def advantage(self) -> float:
        """By how much the system is better."""
        return self.difference if named(self.metric).higher_is_better else -self.difference

    def reversed(self) -> "Pair":
        """The other system beside this one."""
        better, worse, ties = self.counts
        both, counts = (self.scores[1], self.scores[0]), (worse, better, ties)
        return Pair(self.metric, self.other, self.system, both, -self.difference, -self.high, -self.low, counts, self.p)

    def favours(self, test: Test) -> int:
        """Which side a test speaks for, however surely: 1 the system, -1 the other, 0 neither.

        The sign test counts sentences; the other two ask whether the difference of the scores is there by chance.
        """
        value = self.counts[0] - self.counts[1] if test == "sign" else self.advantage
        return (value > 0) - (value < 0)

    def found(self, test: Test, level: float = LEVEL) -> int:
        """The side that a test significantly speaks for, uncorrected."""
        return self.favours(test) if self.p[test][0] < level else 0

    def found_among_all(self, test: Test) -> int:
        """The side that a test significantly speaks for after the correction for all pairs of the table on the set."""
        return self.favours(test) if self.p[test][1] < LEVEL else 0

    def contradiction(self, called: Mapping[str, str], on: str) -> str | None:
        """Say in a sentence that the sign test significantly speaks against the system with the better score.

        Args:
            called: what systems are called, where not by their names.
            on: what the set is called.

        Returns:
            None where the two agree, or p is `LEVEL` or more.
        """
        if self.found("sign") * self.favours("bootstrap") >= 0:
            return None
        pair = self if self.advantage > 0 else self.reversed()
        system, other = (called.get(name, name) for name in (pair.system, pair.other))
        metric, (better, worse, _) = self.label, pair.counts
        beyond = f"{abs(pair.difference):.2f} {'higher' if pair.difference > 0 else 'lower'}"
        return (
            f"On {on}, {metric} and the sign test disagree: {metric} of {system} is {beyond} than "
            f"that of {other}, but sentence by sentence {system} is better in {better:,} and worse in {worse:,} "
            f"(p {p_value(self.p['sign'][0])}, uncorrected)."
        )


Comparisons = Mapping[tuple[str, str, str, str], Pair]
"""(set, metric, system, other) → the two beside each other; both ways."""


def read_pairs(path: Path) -> list[Pair]:
    """Read comparisons of a set, each pair once for each metric.

    Raises:
        InputError: if the file holds none.
    """
    pairs: dict[tuple[str, frozenset[str]], Pair] = {}
    counts = ("better", "worse", "ties")
    table = read_table(path, COLUMNS[:3], [column for column in COLUMNS[3:] if column not in counts], counts)
    for row in table.to_dict("records"):
        pair = Pair(
            row["metric"],
            row["system"],
            row["other"],
            (row["score_system"], row["score_other"]),
            row["difference"],
            row["low"],
            row["high"],
            counts=(row["better"], row["worse"], row["ties"]),
            p={test: (row[f"p_{test}"], row[f"p_{test}_holm"]) for test in TESTS},
        )
        pairs.setdefault((pair.metric, frozenset((pair.system, pair.other))), pair)
    return list(pairs.values())


def both_ways(pairs: Sequence[Pair]) -> dict[tuple[str, str], Pair]:
    """Pairs of one metric by system and other."""
    return {(pair.system, pair.other): pair for both in pairs for pair in (both, both.reversed())}


def read_comparisons(files: Mapping[str, Path]) -> Comparisons:
    """Read TSV of `evaluation.compare`, by set.

    Raises:
        InputError: if a file holds no comparisons.
    """
    return {
        (on, pair.metric, pair.system, pair.other): pair
        for on, path in files.items()
        for both in read_pairs(path)
        for pair in (both, both.reversed())
    }


def p_value(p: float) -> str:
    """Write p for people, behind the letter: `= 0.012`, or `< 0.001`."""
    return f"= {p:.3f}" if p >= 0.001 else "< 0.001"
