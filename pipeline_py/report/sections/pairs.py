"""All pairs of a table's systems on one set, as the page shows them: intervals, a matrix, and everything in numbers."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pipeline_py.evaluation.metric import named
from pipeline_py.evaluation.significance.resampling import SAMPLES
from pipeline_py.report.page_parts import Part
from pipeline_py.report.read_table import read_table
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tables.pair import LEVEL, TESTS, Pair, both_ways, p_value
from pipeline_py.report.tables.sheet import NOTHING, Cell, Sheet, listed, signed

PLACE = 30
INTERVALS = ("metric", "system", "score", "low", "high")
ARROWS = {1: "↑", -1: "↓"}
"""The side that tests favour → what stands before their letters."""

MOST_NAMED = 10
"""So many pairs are named in a sentence; of more there is only the number."""

LEAST_SHADE = 0.25
"""Of a small difference that all tests find, beside that of the greatest, which is 1."""


def section(chapter: TableChapter) -> Iterator[Part]:
    """Intervals and differences of each set, the first set open; then everything about each pair."""
    of_set: dict[str, list[Sheet]] = {}
    said: dict[str, list[str]] = {}
    matrices: list[Sheet] = []
    for split, path in chapter.manifest.by_set("intervals", chapter.name):
        of_set.setdefault(split, []).extend(intervals(path, chapter.called, chapter.on(split)))
    in_full = []
    for split, of_metrics in chapter.pairs.items():
        for found in of_metrics.values():
            shown = of_set.setdefault(split, []) if not chapter.is_wide else matrices
            shown.append(matrix(found, chapter.called, chapter.on(split)))
            in_full.append(listing(found, chapter.called, chapter.on(split)))
            said.setdefault(split, []).append(what_holds(found, chapter.called, chapter.on(split)))
    for place, (split, tables) in enumerate(of_set.items()):
        title = "All pairs of systems" + (f": {chapter.on(split)}" if place else "")
        yield Part(title, said.get(split, []), tables=tables, folded=place > 0)
    yield Part("All pairs of systems: differences", tables=matrices, folded=True)
    yield Part("All pairs of systems: everything in numbers", tables=in_full, folded=True)


def what_holds(pairs: Sequence[Pair], called: Mapping[str, str], on: str) -> str:
    """Say which differences all three tests find after Holm's correction, and how many some of them or none finds.

    Args:
        pairs: by one metric.
        called: what systems are called.
        on: what the set is called.
    """
    sides = [{pair.found_among_all(test) for test in TESTS} for pair in pairs]
    agreed = [pair for pair, found in zip(pairs, sides, strict=True) if found == {1}]
    agreed += [pair.reversed() for pair, found in zip(pairs, sides, strict=True) if found == {-1}]
    none = sides.count({0})
    named_pairs = [" above ".join(called.get(name, name) for name in (pair.system, pair.other)) for pair in agreed]
    shown = f" ({'; '.join(named_pairs)})" if 0 < len(agreed) <= MOST_NAMED else ""
    blind = (
        " With so many pairs, the paired bootstrap and approximate randomization can find none: their smallest "
        f"p-value, 1/{SAMPLES + 1:,}, is above {LEVEL:g} after the correction."
    )
    return (
        f"Of {len(pairs)} difference{'s' * (len(pairs) != 1)} in {pairs[0].label} on {on}, {len(agreed)} "
        f"{'is' if len(agreed) == 1 else 'are'} significant by all three tests after Holm's correction{shown}, "
        f"{len(pairs) - len(agreed) - none} by some of them, and {none} by none."
        f"{blind if len(pairs) / (SAMPLES + 1) >= LEVEL else ''}"
    )


def intervals(path: Path, called: Mapping[str, str], on: str) -> list[Sheet]:
    """The score of each system on a set with its interval, drawn to one scale; a table for each metric.

    Raises:
        InputError: if the file holds none.
    """
    table = read_table(path, INTERVALS[:2], INTERVALS[2:])
    return [
        _intervals(
            [(row[0], row[1:]) for row in of_metric[["system", *INTERVALS[2:]]].itertuples(index=False, name=None)],
            named(str(metric)).label,
            called,
            on,
        )
        for metric, of_metric in table.groupby("metric", sort=False)
    ]


def _intervals(rows: list[tuple[str, tuple[float, ...]]], metric: str, called: Mapping[str, str], on: str) -> Sheet:
    rows.sort(key=lambda row: list(called).index(row[0]) if row[0] in called else len(called))
    least, most = min(low for _, (_, low, _) in rows), max(high for _, (_, _, high) in rows)
    scale = 100 / ((most - least) or 1.0)
    return listed(
        f"{metric} on {on} with its 95 % confidence interval (bootstrap over sentences). The scale of the bars goes "
        f"from {least:.1f} to {most:.1f}.",
        ["System", metric, "95 % interval", "To scale"],
        [
            [
                called.get(system, system),
                f"{score:.2f}",
                Cell(f"{low:.2f} to {high:.2f}", str(low)),
                Cell(
                    "",
                    str(score),
                    interval=((low - least) * scale, (score - least) * scale, (high - least) * scale),
                ),
            ]
            for system, (score, low, high) in rows
        ],
    )


def matrix(pairs: Sequence[Pair], called: Mapping[str, str], on: str) -> Sheet:
    """The difference of every row to every column, shaded where all three tests agree.

    Args:
        pairs: by one metric.
        called: what systems are called, in order.
        on: what the set is called.
    """
    directed = both_ways(pairs)
    systems = [name for name in called if any(name in key for key in directed)]
    most = max((abs(pair.difference) for pair in pairs), default=1.0) or 1.0

    def difference(row: str, column: str) -> Cell:
        pair = directed.get((row, column))
        return Cell("" if row == column else NOTHING) if pair is None else compared(pair, most)

    metric = pairs[0].label if pairs else ""
    return listed(
        f"{metric} of the row minus {metric} of the column on {on}; columns are numbered like the rows.",
        ["System", *(str(place) for place in range(1, len(systems) + 1))],
        [
            [f"{place} {called[row]}", *(difference(row, column) for column in systems)]
            for place, row in enumerate(systems, start=1)
        ],
        legend([*directed.values()], "the row", "the column", is_shaded=True) + contradictions(pairs, called, on),
    )


def compared(pair: Pair, most: float | None = None) -> Cell:
    """A difference with its marks; shaded where all three tests agree if there is a greatest difference to shade by."""
    sides = {pair.found_among_all(test) for test in TESTS}
    agreed = sides.pop() if len(sides) == 1 else 0
    shade = agreed * max(LEAST_SHADE, abs(pair.difference) / most) if most else 0.0
    return Cell(signed(pair.difference), marks=marks(pair), shade=shade)


def marks(pair: Pair) -> str:
    """Behind an arrow for the side that they favour, the letters of the tests that find a difference."""
    found = {
        side: "".join(letter for test, (letter, _) in TESTS.items() if pair.found_among_all(test) == side)
        for side in ARROWS
    }
    return " ".join(f"{ARROWS[side]}{letters}" for side, letters in found.items() if letters)


def legend(pairs: Sequence[Pair], system: str, other: str, is_shaded: bool = False) -> list[str]:
    """Say what the marks and colours behind differences mean, as far as they occur.

    Args:
        pairs: what is shown, as it is shown.
        system: what the first of a pair is called here.
        other: what the second is called.
        is_shaded: whether agreement is shaded.
    """
    corrected = f"p < {LEVEL} after Holm's correction over all pairs of the table on the set"
    found = {(test, side) for pair in pairs for test in TESTS if (side := pair.found_among_all(test))}
    if not found:
        return [f"No test finds a difference ({corrected})."] if pairs else []
    said = {1: f"{system} is significantly better than {other}", -1: f"{system} is significantly worse than {other}"}
    arrows = [f"{ARROWS[side]}: {text}" for side, text in said.items() if any(each == side for _, each in found)]
    letters = [f"{letter}: {name}" for test, (letter, name) in TESTS.items() if any(each == test for each, _ in found)]
    notes = [f"{'; '.join(arrows)}, by the tests whose letters follow ({'; '.join(letters)}; {corrected})."]
    agreed = {side for pair in pairs for side in ARROWS if all(pair.found_among_all(test) == side for test in TESTS)}
    grounds = {1: f"green: all three tests find {system} better", -1: f"orange: all three find {system} worse"}
    if is_shaded and agreed:
        shown = "; ".join(ground for side, ground in grounds.items() if side in agreed)
        notes.append(f"{shown[0].upper()}{shown[1:]}.")
    return notes


def contradictions(pairs: Sequence[Pair], called: Mapping[str, str], on: str) -> list[str]:
    """Say where score and sign test disagree."""
    return [sentence for pair in pairs if (sentence := pair.contradiction(called, on)) is not None]


def listing(pairs: Sequence[Pair], called: Mapping[str, str], on: str) -> Sheet:
    """Everything that is known of each pair, by one metric."""
    metric = pairs[0].label if pairs else ""
    better, worse, higher = "rises", "falls", "higher"
    if pairs and not named(pairs[0].metric).higher_is_better:
        better, worse, higher = "falls", "rises", "lower"
    heads = ["System", "Other", metric, f"{metric} of other", "Difference", "95 % interval", "Better", "Worse", "Ties"]
    return listed(
        f"Every pair of systems on {on}: the difference in {metric} with its 95 % interval (paired bootstrap); the "
        f"number of sentences for which {metric} of the set {better} (better), {worse} (worse) or stays (ties) if the "
        f"system's output replaces the other's; p of each test before and after Holm's correction. p below {LEVEL} is "
        "bold: the sign test then favours the system that is better in more sentences, and the other tests the system "
        f"with the {higher} {metric}.",
        [*heads, *(f"p {name}{kind}" for _, name in TESTS.values() for kind in ("", ", Holm"))],
        [
            [
                *(called.get(system, system) for system in (pair.system, pair.other)),
                *(f"{score:.2f}" for score in pair.scores),
                compared(pair),
                Cell(f"{signed(pair.low)} to {signed(pair.high)}", str(pair.low)),
                *map(str, pair.counts),
                *(_p_value(p) for test in TESTS for p in pair.p[test]),
            ]
            for pair in pairs
        ],
        legend(pairs, "the system", "the other"),
        texts=["Other"],
    )


def _p_value(p: float) -> Cell:
    return Cell(p_value(p).removeprefix("= "), str(p), bold=p < LEVEL)
