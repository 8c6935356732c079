"""All pairs of a table's systems on one set: intervals, and three tests with Holm's correction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline_py.report.page_table import PageCell, PageColumn, PageTable, cell, signed
from pipeline_py.report.table_layout import NOTHING
from pipeline_py.report.tsv_rows import number, read_rows

TESTS = {
    "sign": ("s", "sign test"),
    "bootstrap": ("b", "paired bootstrap"),
    "randomization": ("r", "approximate randomization"),
}
"""Name in the columns of the file → symbol and name for people."""

COLUMNS = (
    *("system", "other", "bleu_system", "bleu_other", "difference", "low", "high", "better", "worse", "ties"),
    *(f"p_{test}{kind}" for test in TESTS for kind in ("", "_holm")),
)
INTERVALS = ("system", "bleu", "low", "high")
LEVEL = 0.05


@dataclass(frozen=True)
class Pair:
    """One system beside another; p is by test, before and after the correction."""

    system: str
    other: str
    bleu: tuple[float, float]
    difference: float
    low: float
    high: float
    counts: tuple[int, int, int]
    p: Mapping[str, tuple[float, float]]

    @property
    def marks(self) -> str:
        """The symbols of the tests that find a difference after the correction."""
        return "".join(symbol for test, (symbol, _) in TESTS.items() if self.p[test][1] < LEVEL)

    def reversed(self) -> "Pair":
        """The other system beside this one."""
        better, worse, ties = self.counts
        both = (self.bleu[1], self.bleu[0])
        counts = (worse, better, ties)
        return Pair(self.other, self.system, both, -self.difference, -self.high, -self.low, counts, self.p)


def read_pairs(path: Path) -> list[Pair]:
    """Read comparisons of a set, each pair once, as it comes first.

    Raises:
        InputError: if the file holds none.
    """
    pairs: dict[frozenset[str], Pair] = {}
    for row in read_rows(path, COLUMNS):
        values = {column: number(row, column, path) for column in COLUMNS[2:]}
        pair = Pair(
            row["system"],
            row["other"],
            (values["bleu_system"], values["bleu_other"]),
            values["difference"],
            values["low"],
            values["high"],
            counts=(int(values["better"]), int(values["worse"]), int(values["ties"])),
            p={test: (values[f"p_{test}"], values[f"p_{test}_holm"]) for test in TESTS},
        )
        pairs.setdefault(frozenset((pair.system, pair.other)), pair)
    return list(pairs.values())


def intervals(path: Path, called: Mapping[str, str], on: str) -> PageTable:
    """BLEU of each system on a set with its interval, drawn to one scale.

    Raises:
        InputError: if the file holds none.
    """
    rows = [
        (row["system"], [number(row, column, path) for column in INTERVALS[1:]]) for row in read_rows(path, INTERVALS)
    ]
    rows.sort(key=lambda row: list(called).index(row[0]) if row[0] in called else len(called))
    least, most = min(low for _, (_, low, _) in rows), max(high for _, (_, _, high) in rows)
    scale = 100 / ((most - least) or 1.0)
    return PageTable(
        f"BLEU on {on} with its 95 % confidence interval: percentiles of BLEU over sets resampled from its sentences. "
        f"Bars reach from {least:.1f} to {most:.1f}.",
        [PageColumn("System", is_text=True), PageColumn("BLEU"), PageColumn("95 % interval"), PageColumn("To scale")],
        [
            [
                PageCell(called.get(system, system)),
                cell(f"{bleu:.2f}"),
                PageCell(f"{low:.2f} to {high:.2f}", value=low),
                PageCell(
                    "", value=bleu, interval=((low - least) * scale, (bleu - least) * scale, (high - least) * scale)
                ),
            ]
            for system, (bleu, low, high) in rows
        ],
    )


def matrix(pairs: Sequence[Pair], called: Mapping[str, str], on: str) -> PageTable:
    """The difference of every row to every column, shaded where all three tests find one."""
    directed = {(pair.system, pair.other): pair for both in pairs for pair in (both, both.reversed())}
    systems = [name for name in called if any(name in key for key in directed)]
    most = max((abs(pair.difference) for pair in pairs), default=1.0) or 1.0

    def difference(row: str, column: str) -> PageCell:
        pair = directed.get((row, column))
        if pair is None:
            return PageCell("" if row == column else NOTHING)
        certain = len(pair.marks) == len(TESTS)
        return cell(signed(pair.difference), pair.marks, shade=pair.difference / most if certain else 0.0)

    return PageTable(
        f"BLEU of the row minus BLEU of the column on {on}; columns have the numbers of the rows.",
        [PageColumn("System", is_text=True), *(PageColumn(str(place)) for place in range(1, len(systems) + 1))],
        [
            [PageCell(f"{place} {called[row]}"), *(difference(row, column) for column in systems)]
            for place, row in enumerate(systems, start=1)
        ],
        notes=[
            "; ".join(f"{symbol}: {name}" for symbol, name in TESTS.values())
            + f"; a letter stands where p < {LEVEL} after Holm's correction over all pairs of the set; "
            "shaded where all three agree."
        ],
    )


def listing(pairs: Sequence[Pair], called: Mapping[str, str], on: str) -> PageTable:
    """Everything that is known of each pair."""
    heads = [
        "Other", "BLEU", "BLEU of other", "Difference", "95 % interval", "Better", "Worse", "Ties"
    ]  # fmt: skip
    return PageTable(
        f"Every pair of systems on {on}: the difference in BLEU with its 95 % interval of the paired bootstrap; "
        "for how many sentences BLEU of the set rises, falls or stays where the system's output takes the place of the "
        "other's; p of each test, and p after Holm's correction.",
        [
            PageColumn("System", is_text=True),
            *(PageColumn(head, is_text=head == "Other") for head in heads),
            *(PageColumn(f"p {name}{kind}") for _, name in TESTS.values() for kind in ("", ", Holm")),
        ],
        [
            [
                PageCell(called.get(pair.system, pair.system)),
                PageCell(called.get(pair.other, pair.other)),
                *(cell(f"{bleu:.2f}") for bleu in pair.bleu),
                cell(signed(pair.difference), pair.marks),
                PageCell(f"{signed(pair.low)} to {signed(pair.high)}", value=pair.low),
                *(cell(str(count)) for count in pair.counts),
                *(_p_value(p) for test in TESTS for p in pair.p[test]),
            ]
            for pair in pairs
        ],
    )


def _p_value(p: float) -> PageCell:
    return PageCell(f"{p:.3f}" if p >= 0.001 else "< 0.001", bold=p < LEVEL, value=p)
