"""All pairs of a table's systems on one set, as the page shows them: intervals, a matrix, and everything in numbers."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path

from pipeline_py.evaluation.metric import named
from pipeline_py.evaluation.significance.resampling import SAMPLES
from pipeline_py.report.page_parts import Part
from pipeline_py.report.stage_results import read_table
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tables.sheet import NOTHING, Cell, Sheet, listed, signed
from pipeline_py.report.tables.system_comparison import (
    LEVEL,
    OUTPUT_TESTS,
    TESTS,
    SystemComparison,
    describe_run_deviations,
    format_p_value,
    index_both_ways,
)

PLACE = 30
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
            said.setdefault(split, []).append(summarize(found, chapter.called, chapter.on(split)))
    for place, (split, tables) in enumerate(of_set.items()):
        title = "All pairs of systems" + (f": {chapter.on(split)}" if place else "")
        yield Part(title, said.get(split, []), tables=tables, folded=place > 0)
    yield Part("All pairs of systems: differences", tables=matrices, folded=True)
    yield Part("All pairs of systems: everything in numbers", tables=in_full, folded=True)


def summarize(pairs: Sequence[SystemComparison], called: Mapping[str, str], on: str) -> str:
    """Say which differences are significant after Holm's correction, over runs and in these outputs alone.

    Args:
        pairs: comparisons by one metric.
        called: labels of systems.
        on: name of the set.
    """
    tested = [pair for pair in pairs if not isnan(pair.p["systems"][0])]
    if not tested:
        return (
            f"No difference in {pairs[0].label} on {on} can be tested: the set is too small, or systems are untrained."
        )
    better = [pair if pair.corrected_side("systems") > 0 else pair.reversed() for pair in tested]
    better = [pair for pair in better if pair.corrected_side("systems") > 0]
    names = [" above ".join(called.get(name, name) for name in (pair.system, pair.other)) for pair in better]
    shown = f" ({'; '.join(names)})" if 0 < len(names) <= MOST_NAMED else ""
    sides = [{pair.corrected_side(test) for test in OUTPUT_TESTS} for pair in tested]
    agreed, none = sides.count({1}) + sides.count({-1}), sides.count({0})
    blind = (
        " With so many pairs, the paired bootstrap and approximate randomization can find none: their smallest "
        f"p-values, 2/{SAMPLES + 1:,} and 1/{SAMPLES + 1:,}, are above {LEVEL:g} after the correction."
    )
    return (
        f"Of {len(tested)} difference{'s' * (len(tested) != 1)} in {pairs[0].label} on {on}, {len(better)} "
        f"{'is' if len(better) == 1 else 'are'} significant over sentences and runs after Holm's correction{shown}. "
        f"In these outputs alone, which says nothing about other runs, {agreed} {'is' if agreed == 1 else 'are'} "
        f"significant by all three tests, {len(tested) - agreed - none} by some, and {none} by none."
        f"{blind if len(tested) / (SAMPLES + 1) >= LEVEL else ''}"
    )


def intervals(path: Path, called: Mapping[str, str], on: str) -> list[Sheet]:
    """The score of each system on a set with its interval, drawn to one scale; a table for each metric.

    A set that is too small for inference has scores alone.
    """
    table = read_table(path, ["score", "low", "high"])
    return [
        _intervals(
            [
                (row[0], row[1:])
                for row in of_metric[["system", "score", "low", "high"]].itertuples(index=False, name=None)
            ],
            named(str(metric)).label,
            called,
            on,
        )
        for metric, of_metric in table.groupby("metric", sort=False)
    ]


def _intervals(rows: list[tuple[str, tuple[float, ...]]], metric: str, called: Mapping[str, str], on: str) -> Sheet:
    rows.sort(key=lambda row: list(called).index(row[0]) if row[0] in called else len(called))
    if any(isnan(low) for _, (_, low, _) in rows):
        return listed(
            f"{metric} on {on}. The set is too small for confidence intervals.",
            ["System", metric],
            [[called.get(system, system), f"{score:.2f}"] for system, (score, _, _) in rows],
        )
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


def matrix(pairs: Sequence[SystemComparison], called: Mapping[str, str], on: str) -> Sheet:
    """The difference of every row to every column, shaded where it is significant over sentences and runs.

    Args:
        pairs: by one metric.
        called: what systems are called, in order.
        on: what the set is called.
    """
    directed = index_both_ways(pairs)
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
        legend([*directed.values()], "the row", "the column", is_shaded=True)
        + describe_contradictions(pairs, called, on),
    )


def compared(pair: SystemComparison, most: float | None = None) -> Cell:
    """Give a difference with the marks of tests of outputs.

    Args:
        pair: the comparison.
        most: the largest difference, by which a difference that is significant over sentences and runs is shaded; None
            for no shading.
    """
    side = pair.corrected_side("systems")
    shade = side * max(LEAST_SHADE, abs(pair.difference) / most) if most else 0.0
    return Cell(signed(pair.difference), marks=marks(pair), shade=shade)


def marks(pair: SystemComparison) -> str:
    """Give the letters of tests of outputs that find a difference, after an arrow for the side that they favour."""
    letters = {
        side: "".join(letter for test, (letter, _) in OUTPUT_TESTS.items() if pair.corrected_side(test) == side)
        for side in ARROWS
    }
    return " ".join(f"{ARROWS[side]}{text}" for side, text in letters.items() if text)


def legend(pairs: Sequence[SystemComparison], system: str, other: str, is_shaded: bool = False) -> list[str]:
    """Explain the marks and colours of differences, as far as they occur.

    Args:
        pairs: the comparisons as they are shown.
        system: how the first system of a pair is called here.
        other: how the second is called.
        is_shaded: whether differences that are significant over sentences and runs are shaded.
    """
    corrected = f"p < {LEVEL} after Holm's correction over all pairs of the table on the set"
    notes = []
    tested = [pair for pair in pairs if not isnan(pair.p["systems"][0])]
    sides = {pair.corrected_side("systems") for pair in tested} - {0}
    if is_shaded and sides:
        grounds = {1: f"green: {system} is significantly better", -1: f"orange: {system} is significantly worse"}
        shown = "; ".join(ground for side, ground in grounds.items() if side in sides)
        notes.append(f"{shown[0].upper()}{shown[1:]} ({TESTS['systems']}, {corrected}).")
    elif tested and not sides:
        notes.append(f"No difference is significant over sentences and runs ({corrected}).")
    found = {(test, side) for pair in pairs for test in OUTPUT_TESTS if (side := pair.corrected_side(test))}
    if found:
        texts = {1: f"{system} is better than {other}", -1: f"{system} is worse than {other}"}
        arrows = [f"{ARROWS[side]}: {text}" for side, text in texts.items() if any(each == side for _, each in found)]
        letters = [
            f"{letter}: {name}"
            for test, (letter, name) in OUTPUT_TESTS.items()
            if any(each == test for each, _ in found)
        ]
        notes.append(
            f"{'; '.join(arrows)} in these outputs alone, by the tests whose letters follow ({'; '.join(letters)}; "
            f"{corrected}). These tests say nothing about other runs."
        )
    return [*notes, *describe_run_deviations(tested)]


def describe_contradictions(pairs: Sequence[SystemComparison], called: Mapping[str, str], on: str) -> list[str]:
    """Say where score and sign test disagree."""
    return [sentence for pair in pairs if (sentence := pair.describe_contradiction(called, on)) is not None]


def listing(pairs: Sequence[SystemComparison], called: Mapping[str, str], on: str) -> Sheet:
    """Everything that is known of each pair, by one metric."""
    metric = pairs[0].label if pairs else ""
    better, worse, higher = "rises", "falls", "higher"
    if pairs and not named(pairs[0].metric).higher_is_better:
        better, worse, higher = "falls", "rises", "lower"
    heads = ["System", "Other", "Runs", metric, f"{metric} of other", "Difference", "95 % interval"]
    heads += ["95 % interval, these outputs", "Better", "Worse", "Ties"]
    names = [name for _, name in OUTPUT_TESTS.values()]
    return listed(
        f"Every pair of systems on {on}: the difference in {metric} with its 95 % interval over sentences and runs and "
        "with that of the paired bootstrap over the sentences of these outputs; the "
        f"number of sentences for which {metric} of the set {better} (better), {worse} (worse) or stays (ties) if the "
        "system's output replaces the other's; p before and after Holm's correction, of the difference over sentences "
        f"and runs and of each test of these outputs. p below {LEVEL} is bold: the sign test then favours the system "
        f"that is better in more sentences, and the other tests the system with the {higher} {metric}.",
        [*heads, *(f"p {name}{kind}" for name in ("sentences and runs", *names) for kind in ("", ", Holm"))],
        [
            [
                *(called.get(system, system) for system in (pair.system, pair.other)),
                " / ".join(map(str, pair.runs)),
                *(f"{score:.2f}" for score in pair.scores),
                compared(pair),
                _interval(pair.interval),
                _interval(pair.outputs_interval),
                *(NOTHING if isnan(count) else f"{count:.0f}" for count in pair.counts),
                *(_p_value(p) for test in TESTS for p in pair.p[test]),
            ]
            for pair in pairs
        ],
        legend(pairs, "the system", "the other"),
        texts=["Other", "Runs"],
    )


def _interval(ends: tuple[float, float]) -> Cell:
    return Cell(NOTHING) if isnan(ends[0]) else Cell(f"{signed(ends[0])} to {signed(ends[1])}", str(ends[0]))


def _p_value(p: float) -> Cell:
    return Cell(NOTHING) if isnan(p) else Cell(format_p_value(p).removeprefix("= "), str(p), bold=p < LEVEL)
