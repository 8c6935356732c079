"""All pairs of a table's systems on one set, as the page shows them: intervals, a matrix, and everything in numbers."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path

from pipeline_py.evaluation.metric import get_metric_class
from pipeline_py.evaluation.significance.resampling import DEFAULT_SAMPLE_COUNT
from pipeline_py.report.page_parts import PageSection
from pipeline_py.report.stage_results import read_tsv
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tables.sheet import MISSING_VALUE, Cell, Sheet, build_sheet, format_signed
from pipeline_py.report.tables.system_comparison import (
    OUTPUT_TEST_LABELS,
    SIGNIFICANCE_LEVEL,
    TEST_NAMES,
    SystemComparison,
    describe_run_deviations,
    format_p_value,
    index_by_system_pair,
)

PAGE_ORDER = 30
SIDE_ARROWS = {1: "↑", -1: "↓"}
"""The side that tests favour → what stands before their letters."""

MAX_NAMED_PAIRS = 10
"""So many pairs are named in a sentence; of more there is only the number."""

MIN_SHADE = 0.25
"""Of a small difference that all tests find, beside that of the greatest, which is 1."""


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    """Intervals and differences of each set, the first set open; then everything about each pair."""
    of_set: dict[str, list[Sheet]] = {}
    said: dict[str, list[str]] = {}
    matrices: list[Sheet] = []
    for split, path in chapter.manifest.iterate_set_files("intervals", chapter.table_name):
        of_set.setdefault(split, []).extend(
            build_interval_tables(path, chapter.display_names, chapter.get_set_name(split))
        )
    in_full = []
    for split, of_metrics in chapter.comparisons.items():
        for found in of_metrics.values():
            shown = of_set.setdefault(split, []) if not chapter.is_wide else matrices
            shown.append(build_difference_matrix(found, chapter.display_names, chapter.get_set_name(split)))
            in_full.append(build_pair_table(found, chapter.display_names, chapter.get_set_name(split)))
            said.setdefault(split, []).append(
                summarize_differences(found, chapter.display_names, chapter.get_set_name(split))
            )
    for place, (split, tables) in enumerate(of_set.items()):
        title = "All pairs of systems" + (f": {chapter.get_set_name(split)}" if place else "")
        yield PageSection(title, said.get(split, []), tables=tables, is_folded=place > 0)
    yield PageSection("All pairs of systems: differences", tables=matrices, is_folded=True)
    yield PageSection("All pairs of systems: everything in numbers", tables=in_full, is_folded=True)


def summarize_differences(pairs: Sequence[SystemComparison], display_names: Mapping[str, str], set_name: str) -> str:
    """Say which differences are significant after Holm's correction, over runs and in these outputs alone.

    Args:
        pairs: comparisons by one metric.
        display_names: labels of systems.
        set_name: name of the set.
    """
    tested = [pair for pair in pairs if not isnan(pair.p_values["systems"][0])]
    if not tested:
        return f"No difference in {pairs[0].metric_label} on {set_name} can be tested: the set is too small, or systems are untrained."
    better = [pair if pair.get_corrected_side("systems") > 0 else pair.swap_systems() for pair in tested]
    better = [pair for pair in better if pair.get_corrected_side("systems") > 0]
    names = [
        " above ".join(display_names.get(name, name) for name in (pair.system, pair.other_system)) for pair in better
    ]
    shown = f" ({'; '.join(names)})" if 0 < len(names) <= MAX_NAMED_PAIRS else ""
    sides = [{pair.get_corrected_side(test) for test in OUTPUT_TEST_LABELS} for pair in tested]
    agreed, none = sides.count({1}) + sides.count({-1}), sides.count({0})
    blind = (
        " With so many pairs, the paired bootstrap and approximate randomization can find none: their smallest "
        f"p-values, 2/{DEFAULT_SAMPLE_COUNT + 1:,} and 1/{DEFAULT_SAMPLE_COUNT + 1:,}, are above {SIGNIFICANCE_LEVEL:g} after the correction."
    )
    return (
        f"Of {len(tested)} difference{'s' * (len(tested) != 1)} in {pairs[0].metric_label} on {set_name}, {len(better)} "
        f"{'is' if len(better) == 1 else 'are'} significant over sentences and runs after Holm's correction{shown}. "
        f"In these outputs alone, which says nothing about other runs, {agreed} {'is' if agreed == 1 else 'are'} "
        f"significant by all three tests, {len(tested) - agreed - none} by some, and {none} by none."
        f"{blind if len(tested) / (DEFAULT_SAMPLE_COUNT + 1) >= SIGNIFICANCE_LEVEL else ''}"
    )


def build_interval_tables(path: Path, display_names: Mapping[str, str], set_name: str) -> list[Sheet]:
    """The score of each system on a set with its interval, drawn to one scale; a table for each metric.

    A set that is too small for inference has scores alone.
    """
    table = read_tsv(path, ["score", "low", "high"])
    return [
        _build_interval_table(
            [
                (row[0], row[1:])
                for row in of_metric[["system", "score", "low", "high"]].itertuples(index=False, name=None)
            ],
            get_metric_class(str(metric)).label,
            display_names,
            set_name,
        )
        for metric, of_metric in table.groupby("metric", sort=False)
    ]


def _build_interval_table(
    rows: list[tuple[str, tuple[float, ...]]], metric_label: str, display_names: Mapping[str, str], set_name: str
) -> Sheet:
    rows.sort(key=lambda row: list(display_names).index(row[0]) if row[0] in display_names else len(display_names))
    if any(isnan(low) for _, (_, low, _) in rows):
        return build_sheet(
            f"{metric_label} on {set_name}. The set is too small for confidence intervals.",
            ["System", metric_label],
            [[display_names.get(system, system), f"{score:.2f}"] for system, (score, _, _) in rows],
        )
    least, most = min(low for _, (_, low, _) in rows), max(high for _, (_, _, high) in rows)
    scale = 100 / ((most - least) or 1.0)
    return build_sheet(
        f"{metric_label} on {set_name} with its 95 % confidence interval (bootstrap over sentences). The scale of the bars goes "
        f"from {least:.1f} to {most:.1f}.",
        ["System", metric_label, "95 % interval", "To scale"],
        [
            [
                display_names.get(system, system),
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


def build_difference_matrix(
    pairs: Sequence[SystemComparison], display_names: Mapping[str, str], set_name: str
) -> Sheet:
    """The difference of every row to every column, shaded where it is significant over sentences and runs.

    Args:
        pairs: by one metric.
        display_names: what systems are called, in order.
        set_name: what the set is called.
    """
    directed = index_by_system_pair(pairs)
    systems = [name for name in display_names if any(name in key for key in directed)]
    most = max((abs(pair.difference) for pair in pairs), default=1.0) or 1.0

    def difference(row: str, column: str) -> Cell:
        pair = directed.get((row, column))
        return Cell("" if row == column else MISSING_VALUE) if pair is None else build_difference_cell(pair, most)

    metric = pairs[0].metric_label if pairs else ""
    return build_sheet(
        f"{metric} of the row minus {metric} of the column on {set_name}; columns are numbered like the rows.",
        ["System", *(str(place) for place in range(1, len(systems) + 1))],
        [
            [f"{place} {display_names[row]}", *(difference(row, column) for column in systems)]
            for place, row in enumerate(systems, start=1)
        ],
        explain_marks([*directed.values()], "the row", "the column", is_shaded=True)
        + describe_contradictions(pairs, display_names, set_name),
    )


def build_difference_cell(pair: SystemComparison, max_difference: float | None = None) -> Cell:
    """Give a difference with the marks of tests of outputs.

    Args:
        pair: the comparison.
        max_difference: the largest difference, by which a difference that is significant over sentences and runs is shaded; None
            for no shading.
    """
    side = pair.get_corrected_side("systems")
    shade = side * max(MIN_SHADE, abs(pair.difference) / max_difference) if max_difference else 0.0
    return Cell(format_signed(pair.difference), marks=format_test_marks(pair), shade=shade)


def format_test_marks(pair: SystemComparison) -> str:
    """Give the letters of tests of outputs that find a difference, after an arrow for the side that they favour."""
    letters = {
        side: "".join(
            letter for test, (letter, _) in OUTPUT_TEST_LABELS.items() if pair.get_corrected_side(test) == side
        )
        for side in SIDE_ARROWS
    }
    return " ".join(f"{SIDE_ARROWS[side]}{text}" for side, text in letters.items() if text)


def explain_marks(
    pairs: Sequence[SystemComparison], system_name: str, other_name: str, is_shaded: bool = False
) -> list[str]:
    """Explain the marks and colours of differences, as far as they occur.

    Args:
        pairs: the comparisons as they are shown.
        system_name: how the first system of a pair is called here.
        other_name: how the second is called.
        is_shaded: whether differences that are significant over sentences and runs are shaded.
    """
    corrected = f"p < {SIGNIFICANCE_LEVEL} after Holm's correction over all pairs of the table on the set"
    notes = []
    tested = [pair for pair in pairs if not isnan(pair.p_values["systems"][0])]
    sides = {pair.get_corrected_side("systems") for pair in tested} - {0}
    if is_shaded and sides:
        grounds = {
            1: f"green: {system_name} is significantly better",
            -1: f"orange: {system_name} is significantly worse",
        }
        shown = "; ".join(ground for side, ground in grounds.items() if side in sides)
        notes.append(f"{shown[0].upper()}{shown[1:]} ({TEST_NAMES['systems']}, {corrected}).")
    elif tested and not sides:
        notes.append(f"No difference is significant over sentences and runs ({corrected}).")
    found = {(test, side) for pair in pairs for test in OUTPUT_TEST_LABELS if (side := pair.get_corrected_side(test))}
    if found:
        texts = {1: f"{system_name} is better than {other_name}", -1: f"{system_name} is worse than {other_name}"}
        arrows = [
            f"{SIDE_ARROWS[side]}: {text}" for side, text in texts.items() if any(each == side for _, each in found)
        ]
        letters = [
            f"{letter}: {name}"
            for test, (letter, name) in OUTPUT_TEST_LABELS.items()
            if any(each == test for each, _ in found)
        ]
        notes.append(
            f"{'; '.join(arrows)} in these outputs alone, by the tests whose letters follow ({'; '.join(letters)}; "
            f"{corrected}). These tests say nothing about other runs."
        )
    return [*notes, *describe_run_deviations(tested)]


def describe_contradictions(
    pairs: Sequence[SystemComparison], display_names: Mapping[str, str], set_name: str
) -> list[str]:
    """Say where score and sign test disagree."""
    return [
        sentence for pair in pairs if (sentence := pair.describe_contradiction(display_names, set_name)) is not None
    ]


def build_pair_table(pairs: Sequence[SystemComparison], display_names: Mapping[str, str], set_name: str) -> Sheet:
    """Everything that is known of each pair, by one metric."""
    metric = pairs[0].metric_label if pairs else ""
    better, worse, higher = "rises", "falls", "higher"
    if pairs and not get_metric_class(pairs[0].metric).higher_is_better:
        better, worse, higher = "falls", "rises", "lower"
    heads = ["System", "Other", "Runs", metric, f"{metric} of other", "Difference", "95 % interval"]
    heads += ["95 % interval, these outputs", "Better", "Worse", "Ties"]
    names = [name for _, name in OUTPUT_TEST_LABELS.values()]
    return build_sheet(
        f"Every pair of systems on {set_name}: the difference in {metric} with its 95 % interval over sentences and runs and "
        "with that of the paired bootstrap over the sentences of these outputs; the "
        f"number of sentences for which {metric} of the set {better} (better), {worse} (worse) or stays (ties) if the "
        "system's output replaces the other's; p before and after Holm's correction, of the difference over sentences "
        f"and runs and of each test of these outputs. p below {SIGNIFICANCE_LEVEL} is bold: the sign test then favours the system "
        f"that is better in more sentences, and the other tests the system with the {higher} {metric}.",
        [*heads, *(f"p {name}{kind}" for name in ("sentences and runs", *names) for kind in ("", ", Holm"))],
        [
            [
                *(display_names.get(system, system) for system in (pair.system, pair.other_system)),
                " / ".join(map(str, pair.run_counts)),
                *(f"{score:.2f}" for score in pair.scores),
                build_difference_cell(pair),
                _build_interval_cell(pair.interval),
                _build_interval_cell(pair.outputs_interval),
                *(MISSING_VALUE if isnan(count) else f"{count:.0f}" for count in pair.sentence_counts),
                *(_build_p_value_cell(p) for test in TEST_NAMES for p in pair.p_values[test]),
            ]
            for pair in pairs
        ],
        explain_marks(pairs, "the system", "the other"),
        text_heads=["Other", "Runs"],
    )


def _build_interval_cell(interval: tuple[float, float]) -> Cell:
    return (
        Cell(MISSING_VALUE)
        if isnan(interval[0])
        else Cell(f"{format_signed(interval[0])} to {format_signed(interval[1])}", str(interval[0]))
    )


def _build_p_value_cell(p_value: float) -> Cell:
    return (
        Cell(MISSING_VALUE)
        if isnan(p_value)
        else Cell(format_p_value(p_value).removeprefix("= "), str(p_value), bold=p_value < SIGNIFICANCE_LEVEL)
    )
