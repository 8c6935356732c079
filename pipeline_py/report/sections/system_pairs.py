"""Section on all pairs of systems: intervals, a matrix of differences, and a table of all numbers."""

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
    format_p_value_relation,
    index_by_system_pair,
)

PAGE_ORDER = 30
SIDE_ARROWS = {1: "↑", -1: "↓"}
"""Arrow before the letters of tests, by the side that they favour."""

MAX_NAMED_PAIRS = 10
"""Largest number of pairs that a sentence names."""

MIN_SHADE = 0.25
"""Smallest shade of a significant difference; the largest difference has shade 1."""


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    """Yield intervals and differences for each set, then the full table of pairs."""
    tables_by_set: dict[str, list[Sheet]] = {}
    summaries: dict[str, list[str]] = {}
    matrices: list[Sheet] = []
    for split, path in chapter.manifest.iterate_set_files("intervals", chapter.table_name):
        tables_by_set.setdefault(split, []).extend(
            build_interval_tables(path, chapter.display_names, chapter.get_set_name(split))
        )
    pair_tables = []
    for split, comparisons_by_metric in chapter.comparisons.items():
        for comparisons in comparisons_by_metric.values():
            tables = tables_by_set.setdefault(split, []) if not chapter.is_wide else matrices
            tables.append(build_difference_matrix(comparisons, chapter.display_names, chapter.get_set_name(split)))
            pair_tables.append(build_pair_table(comparisons, chapter.display_names, chapter.get_set_name(split)))
            summaries.setdefault(split, []).append(
                summarize_differences(comparisons, chapter.display_names, chapter.get_set_name(split))
            )
    for index, (split, tables) in enumerate(tables_by_set.items()):
        title = "All pairs of systems" + (f": {chapter.get_set_name(split)}" if index else "")
        yield PageSection(title, summaries.get(split, []), tables=tables, is_folded=index > 0)
    yield PageSection("All pairs of systems: differences", tables=matrices, is_folded=True)
    yield PageSection("All pairs of systems: full table", tables=pair_tables, is_folded=True)


def summarize_differences(pairs: Sequence[SystemComparison], display_names: Mapping[str, str], set_name: str) -> str:
    """Describe the significant differences after Holm's correction, over runs and in these outputs.

    Args:
        pairs: comparisons by one metric.
        display_names: labels of systems.
        set_name: name of the set.
    """
    tested = [pair for pair in pairs if not isnan(pair.p_values["systems"][0])]
    scope = f"in {pairs[0].metric_label} on {set_name}"
    if not tested:
        return f"No difference {scope} can be tested: the set is too small, or systems are untrained."
    significant = [
        pair if pair.get_significant_side_after_correction("systems") > 0 else pair.swap_systems() for pair in tested
    ]
    significant = [pair for pair in significant if pair.get_significant_side_after_correction("systems") > 0]
    names = [
        " above ".join(display_names.get(name, name) for name in (pair.system, pair.other_system))
        for pair in significant
    ]
    named_pairs = f" ({'; '.join(names)})" if 0 < len(names) <= MAX_NAMED_PAIRS else ""
    sides = [{pair.get_significant_side_after_correction(test) for test in OUTPUT_TEST_LABELS} for pair in tested]
    unanimous, undetected = sides.count({1}) + sides.count({-1}), sides.count({0})
    resolution_note = (
        " With so many pairs, the paired bootstrap and approximate randomization cannot find any: their smallest "
        f"p-values, 2/{DEFAULT_SAMPLE_COUNT + 1:,} and 1/{DEFAULT_SAMPLE_COUNT + 1:,}, are above "
        f"{SIGNIFICANCE_LEVEL:g} after the correction."
        if len(tested) / (DEFAULT_SAMPLE_COUNT + 1) >= SIGNIFICANCE_LEVEL
        else ""
    )
    return (
        f"Of {len(tested)} difference{'s' * (len(tested) != 1)} {scope}, {len(significant)} "
        f"{'is' if len(significant) == 1 else 'are'} significant over sentences and runs after Holm's "
        f"correction{named_pairs}. In these outputs alone, without variation between runs, {unanimous} "
        f"{'is' if unanimous == 1 else 'are'} significant by all three tests, {len(tested) - unanimous - undetected} "
        f"by some, and {undetected} by none.{resolution_note}"
    )


def build_interval_tables(path: Path, display_names: Mapping[str, str], set_name: str) -> list[Sheet]:
    """Build a table of scores with intervals on one scale, for each metric.

    A set that is too small for inference has no intervals.
    """
    table = read_tsv(path, ["score", "low", "high"])
    return [
        _build_interval_table(
            [
                (row[0], row[1:])
                for row in metric_rows[["system", "score", "low", "high"]].itertuples(index=False, name=None)
            ],
            get_metric_class(str(metric)).label,
            display_names,
            set_name,
        )
        for metric, metric_rows in table.groupby("metric", sort=False)
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
    scale_low, scale_high = min(low for _, (_, low, _) in rows), max(high for _, (_, _, high) in rows)
    scale = 100 / ((scale_high - scale_low) or 1.0)
    return build_sheet(
        f"{metric_label} on {set_name} with its 95 % confidence interval (bootstrap over sentences). The scale of the "
        f"bars goes from {scale_low:.1f} to {scale_high:.1f}.",
        ["System", metric_label, "95 % interval", "To scale"],
        [
            [
                display_names.get(system, system),
                f"{score:.2f}",
                Cell(f"{low:.2f} to {high:.2f}", str(low)),
                Cell(
                    "",
                    str(score),
                    interval=((low - scale_low) * scale, (score - scale_low) * scale, (high - scale_low) * scale),
                ),
            ]
            for system, (score, low, high) in rows
        ],
    )


def build_difference_matrix(
    pairs: Sequence[SystemComparison], display_names: Mapping[str, str], set_name: str
) -> Sheet:
    """Build the matrix of differences, row minus column, shaded if significant over sentences and runs.

    Args:
        pairs: comparisons by one metric.
        display_names: display names of systems, in order.
        set_name: display name of the set.
    """
    comparisons_by_pair = index_by_system_pair(pairs)
    systems = [name for name in display_names if any(name in key for key in comparisons_by_pair)]
    max_difference = max((abs(pair.difference) for pair in pairs), default=1.0) or 1.0

    def build_cell(row: str, column: str) -> Cell:
        pair = comparisons_by_pair.get((row, column))
        return (
            Cell("" if row == column else MISSING_VALUE)
            if pair is None
            else build_difference_cell(pair, max_difference)
        )

    metric = pairs[0].metric_label if pairs else ""
    return build_sheet(
        f"{metric} of the row minus {metric} of the column on {set_name}; columns are numbered like the rows.",
        ["System", *(str(number) for number in range(1, len(systems) + 1))],
        [
            [f"{number} {display_names[row]}", *(build_cell(row, column) for column in systems)]
            for number, row in enumerate(systems, start=1)
        ],
        explain_marks([*comparisons_by_pair.values()], "the row", "the column", is_shaded=True)
        + describe_contradictions(pairs, display_names, set_name),
    )


def build_difference_cell(pair: SystemComparison, max_difference: float | None = None) -> Cell:
    """Build a table cell with a difference and the marks of tests of outputs.

    Args:
        pair: the comparison.
        max_difference: largest difference, which has the strongest shade; None for no shading.
    """
    side = pair.get_significant_side_after_correction("systems")
    shade = side * max(MIN_SHADE, abs(pair.difference) / max_difference) if max_difference else 0.0
    return Cell(format_signed(pair.difference), marks=format_test_marks(pair), shade=shade)


def format_test_marks(pair: SystemComparison) -> str:
    """Return the letters of significant tests of outputs, after an arrow for the side that they favour."""
    letters = {
        side: "".join(
            letter
            for test, (letter, _) in OUTPUT_TEST_LABELS.items()
            if pair.get_significant_side_after_correction(test) == side
        )
        for side in SIDE_ARROWS
    }
    return " ".join(f"{SIDE_ARROWS[side]}{text}" for side, text in letters.items() if text)


def explain_marks(
    pairs: Sequence[SystemComparison], system_name: str, other_name: str, is_shaded: bool = False
) -> list[str]:
    """Explain the marks and colours that occur.

    Args:
        pairs: the comparisons as shown.
        system_name: phrase for the first system of a pair.
        other_name: phrase for the second system.
        is_shaded: whether significant differences over sentences and runs are shaded.
    """
    criterion = f"p < {SIGNIFICANCE_LEVEL} after Holm's correction over all pairs of the table on the set"
    notes = []
    tested = [pair for pair in pairs if not isnan(pair.p_values["systems"][0])]
    sides = {pair.get_significant_side_after_correction("systems") for pair in tested} - {0}
    if is_shaded and sides:
        shade_texts = {
            1: f"green: {system_name} is significantly better",
            -1: f"orange: {system_name} is significantly worse",
        }
        shades = "; ".join(ground for side, ground in shade_texts.items() if side in sides)
        notes.append(f"{shades[0].upper()}{shades[1:]} ({TEST_NAMES['systems']}, {criterion}).")
    elif tested and not sides:
        notes.append(f"No difference is significant over sentences and runs ({criterion}).")
    marks = {
        (test, side)
        for pair in pairs
        for test in OUTPUT_TEST_LABELS
        if (side := pair.get_significant_side_after_correction(test))
    }
    if marks:
        texts = {1: f"{system_name} is better than {other_name}", -1: f"{system_name} is worse than {other_name}"}
        arrows = [
            f"{SIDE_ARROWS[side]}: {text}" for side, text in texts.items() if any(mark == side for _, mark in marks)
        ]
        letters = [
            f"{letter}: {name}"
            for test, (letter, name) in OUTPUT_TEST_LABELS.items()
            if any(mark == test for mark, _ in marks)
        ]
        notes.append(
            f"{'; '.join(arrows)} in these outputs alone, by the tests whose letters follow ({'; '.join(letters)}; "
            f"{criterion}). These tests do not include variation between runs."
        )
    return [*notes, *describe_run_deviations(tested)]


def describe_contradictions(
    pairs: Sequence[SystemComparison], display_names: Mapping[str, str], set_name: str
) -> list[str]:
    """Return a sentence for each pair for which score and sign test disagree."""
    return [
        sentence for pair in pairs if (sentence := pair.describe_contradiction(display_names, set_name)) is not None
    ]


def build_pair_table(pairs: Sequence[SystemComparison], display_names: Mapping[str, str], set_name: str) -> Sheet:
    """Build the table of all results of each pair, by one metric."""
    metric = pairs[0].metric_label if pairs else ""
    better, worse, higher = "rises", "falls", "higher"
    if pairs and not get_metric_class(pairs[0].metric).higher_is_better:
        better, worse, higher = "falls", "rises", "lower"
    heads = ["System", "Other", "Runs", metric, f"{metric} of other", "Difference", "95 % interval"]
    heads += ["95 % interval, these outputs", "Better", "Worse", "Ties"]
    names = [name for _, name in OUTPUT_TEST_LABELS.values()]
    return build_sheet(
        f"Every pair of systems on {set_name}: the difference in {metric} with its 95 % interval over sentences and "
        "runs and with that of the paired bootstrap over the sentences of these outputs; the number of sentences "
        f"for which {metric} of the set {better} (better), {worse} (worse) or stays (ties) if the system's output "
        "replaces the other's; p before and after Holm's correction, of the difference over sentences and runs and "
        f"of each test of these outputs. p below {SIGNIFICANCE_LEVEL} is bold: the sign test then favours the system "
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
        else Cell(format_p_value_relation(p_value).removeprefix("= "), str(p_value), bold=p_value < SIGNIFICANCE_LEVEL)
    )
