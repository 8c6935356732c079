"""Tables of systems: a row for each system, columns of settings, facts and scores by set, with marks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from pipeline_py.config.tables import CONTRAST_COLUMN, BleuTableConfig, MarkSubject, MeasureTableConfig
from pipeline_py.evaluation.metric import get_metric_class
from pipeline_py.files.set_names import AVERAGE_SET_NAME
from pipeline_py.report.tables.marks import SignificanceMarker, build_mark_groups
from pipeline_py.report.tables.published_columns import PUBLISHED_NOTE, PublishedTable
from pipeline_py.report.tables.published_numbers import PublishedNumber
from pipeline_py.report.tables.sheet import MISSING_VALUE, Cell, Column, Sheet
from pipeline_py.report.tables.system_comparison import ComparisonIndex, SignificanceTest
from pipeline_py.report.tables.system_measures import (
    FACT_COLUMNS,
    SETTING_HEADS,
    SystemMeasures,
    describe_missing_kernels,
    describe_shared_cores,
    describe_training_differences,
    get_column_decimals,
    get_column_head,
    get_column_metric,
    is_metric_column,
    is_scored_column,
)


@dataclass(frozen=True)
class ScoreColumn:
    """A column of a measure on a set; `split` is None if the measure has no set."""

    measure: str
    split: str | None
    sheet_column: Column


@dataclass(frozen=True)
class ScoreTable:
    """A table of systems that can be converted to a sheet.

    Attributes:
        options: configuration of the table.
        measures: measures of its systems.
        marker: significance marks.
        columns: columns after the name.
        set_names: display names of sets.
        best_baseline: the row that proposed rows must exceed to be bold, if any.
        published_columns: columns with numbers of a paper, and their cells by row.
    """

    options: BleuTableConfig | MeasureTableConfig
    measures: SystemMeasures
    marker: SignificanceMarker
    columns: Sequence[ScoreColumn]
    set_names: Mapping[str, str]
    best_baseline: str | None = None
    published_columns: Sequence[tuple[Column, Mapping[str, Cell]]] = ()

    def to_sheet(self, notes: Sequence[str], bold_meaning: str = "") -> Sheet:
        """Build the sheet; `notes` follow the notes on marks."""
        cells = [
            (row, column.split, column.measure)
            for column in self.columns
            for row in self.options.systems
            if column.sheet_column.has_marks
            and column.split is not None
            and self.measures.has_output(row, column.split)
        ]
        if isinstance(self.options, BleuTableConfig):  # explains marks row by row
            cells.sort(key=lambda cell: self.options.systems.index(cell[0]))
        return Sheet(
            self.options.title,
            [
                Column("system", "System"),
                *(column.sheet_column for column in self.columns),
                *(column for column, _ in self.published_columns),
            ],
            [
                [
                    Cell(self.get_label(row)),
                    *(self._build_cell(row, column) for column in self.columns),
                    *(cells[row] for _, cells in self.published_columns),
                ]
                for row in self.options.systems
            ],
            [*self.measures.verdict_exclusions.descriptions, *self.marker.describe_marks(cells), *notes],
            bold_meaning,
        )

    def get_label(self, row: str) -> str:
        """Return the display name of a row."""
        return self.options.labels.get(row, row)

    def _build_cell(self, row: str, column: ScoreColumn) -> Cell:
        if column.measure in SETTING_HEADS:
            text = self.measures.settings.get(row, {}).get(column.measure, "")
            return Cell(text or MISSING_VALUE, text)
        runs = self.measures.get_run_values(row, column.measure, column.split)
        if runs is None:
            return Cell(MISSING_VALUE, "")
        mean, spread = fmean(runs), stdev(runs) if len(runs) > 1 else None
        decimals = get_column_decimals(column.measure)
        text = f"{mean / 1e6:.2f}M" if column.measure == "parameters" else f"{mean:.{decimals}f}"
        if spread is not None and column.split is not None:
            text += f" ± {spread:.{decimals}f}"
        if (interval := self.measures.get_interval(row, column.measure, column.split)) is not None:
            text += f" ({interval[0]:.1f} to {interval[1]:.1f})"
        return Cell(
            text,
            f"{mean:.{decimals}f}",
            "" if spread is None else f"{spread:.{decimals}f}",
            self.marker.get_symbols(row, column.split, column.measure)
            if column.sheet_column.has_marks and column.split is not None
            else "",
            self._is_bold(row, column, mean),
        )

    def _is_bold(self, row: str, column: ScoreColumn, mean: float) -> bool:
        """Return True if a proposed row, as rounded, is better than the best baseline on a test set or on average."""
        proposed = isinstance(self.options, BleuTableConfig) and row in self.options.proposed
        if (
            not proposed
            or self.best_baseline is None
            or column.split not in (*self.measures.test_sets, AVERAGE_SET_NAME)
        ):
            return False
        baseline_score = fmean(self.measures.get_run_values(self.best_baseline, column.measure, column.split) or [mean])
        row_score, best_score = (round(score, get_column_decimals(column.measure)) for score in (mean, baseline_score))
        return row_score > best_score if get_metric_class(column.measure).higher_is_better else row_score < best_score


def build_bleu_sheet(
    options: BleuTableConfig,
    measures: SystemMeasures,
    comparisons: ComparisonIndex,
    dev_name: str | None,
    metrics: Sequence[str],
    published_numbers: Sequence[PublishedNumber],
    extra_notes: Sequence[str],
) -> Sheet:
    """Build the sheet of scores on dev and all test sets, their average, and significance marks.

    Scores on dev have no marks and are not averaged, as in the papers.

    Args:
        options: configuration of the table.
        measures: measures of its systems.
        comparisons: comparisons of its systems on the test sets.
        dev_name: display name of the development set; None if the table has none.
        metrics: BLEU and further metrics.
        published_numbers: numbers of the paper that the table names, if any.
        extra_notes: notes after the notes of the table.
    """
    averages = {
        row: fmean(runs)
        for row in options.systems
        if (runs := measures.get_run_values(row, metrics[0], AVERAGE_SET_NAME))
    }
    sign = 1 if get_metric_class(metrics[0]).higher_is_better else -1
    baseline_rows = [row for row in averages if row not in options.proposed]
    best_baseline = max(baseline_rows, key=lambda row: sign * averages[row], default=None)
    dev_heads = {} if dev_name is None else {"dev": _format_dev_name(dev_name)}
    average_heads = {AVERAGE_SET_NAME: AVERAGE_SET_NAME} if len(measures.test_sets) > 1 else {}
    heads = {
        **dev_heads,
        **{significance_test: significance_test for significance_test in measures.test_sets},
        **average_heads,
    }
    columns = [
        ScoreColumn(
            metric,
            split,
            Column(
                f"{metric}_{split}" if metric_index else split,
                f"{get_column_head(metric)} {head}" if metric_index else head,
                has_spread=measures.max_run_count > 1,
                has_marks=split in measures.test_sets,
            ),
        )
        for metric_index, metric in enumerate(metrics)
        for split, head in heads.items()
    ]
    published_columns: list[tuple[Column, Mapping[str, Cell]]] = []
    if options.published is not None:
        published = PublishedTable(published_numbers, options.published)
        names = {row: options.labels.get(row, row) for row in options.systems} | options.published.names
        for split, head in heads.items():
            set_name = options.published.columns.get(split, str(dev_name) if split == "dev" else split)
            cells = {row: _build_published_score_cell(published, names[row], set_name) for row in options.systems}
            published_columns.append((Column(f"{split}_published", f"{head} (paper)", "paper"), cells))
    significance_test: SignificanceTest = "sign" if options.tested == "outputs" else "systems"
    choices = len(baseline_rows) if significance_test == "systems" else 1
    groups = build_mark_groups(
        options.marks, options.systems, options.baseline, best_baseline, options.proposed, choices
    )
    marks = SignificanceMarker(
        groups,
        significance_test,
        comparisons,
        options.labels,
        {},
        measures.has_output,
        measures.verdict_exclusions.system_reasons,
    )
    table = ScoreTable(options, measures, marks, columns, {}, best_baseline, published_columns)
    notes = [
        *([f"{AVERAGE_SET_NAME} is the mean over the test sets."] if average_heads else []),
        *([PUBLISHED_NOTE] if published_columns else []),
        *_describe_run_counts(measures, options.tested),
    ]
    for metric in metrics:
        signatures, label = measures.get_signatures(metric), get_metric_class(metric).label
        metric_name = f"{label} by sacrebleu" if metric == "bleu" else label
        if len({*signatures.values()}) == 1:
            notes.append(f"{metric_name}: {next(iter(signatures.values()))}.")
        else:
            notes += [
                f"{metric_name.replace(label, f'{label} on {split}')}: {signature}."
                for split, signature in signatures.items()
            ]
    notes += [*extra_notes, *describe_training_differences(measures.training_facts, table.get_label)]
    notes += describe_missing_kernels(measures.training_facts, table.get_label)
    bold = (
        f"better than the best baseline, {table.get_label(best_baseline)}" if best_baseline and options.proposed else ""
    )
    return table.to_sheet(notes, bold)


def build_measures_sheet(
    options: MeasureTableConfig,
    measures: SystemMeasures,
    comparisons: ComparisonIndex,
    set_names: Mapping[str, str],
    extra_notes: Sequence[str],
) -> Sheet:
    """Build the sheet of any measures on any sets, with significance marks.

    A fact has one column, a measure one column for each set; with several sets, the column is named after the set.

    Args:
        options: configuration of the table.
        measures: measures of its systems.
        comparisons: comparisons of its systems on its sets, if it has marks.
        set_names: display names of sets that differ from their names.
        extra_notes: notes after the notes of the table.
    """
    has_several_sets = len(options.sets) > 1
    has_spread = any(len(runs) > 1 for runs in measures.training_facts.values()) or measures.max_run_count > 1
    scored_measures = [*filter(is_scored_column, options.columns)]
    columns = []
    for measure in options.columns:
        if measure == CONTRAST_COLUMN:
            columns += [
                ScoreColumn(measure, split, Column(f"{measure}_{split}", f"Acc. {split}", "", has_spread))
                for split in measures.contrast_decisions
            ]
            continue
        if measure not in scored_measures:
            columns.append(
                ScoreColumn(
                    measure,
                    None,
                    Column(measure, get_column_head(measure), has_spread=has_spread and measure in FACT_COLUMNS),
                )
            )
            continue
        for split in options.sets:
            name = set_names.get(split, split)
            head = (
                get_column_head(measure)
                if not has_several_sets
                else name
                if len(scored_measures) == 1
                else f"{get_column_head(measure)} {name}"
            )
            has_marks = bool(options.marks) and is_metric_column(measure)
            columns.append(
                ScoreColumn(
                    measure,
                    split,
                    Column(
                        f"{measure}_{split}" if has_several_sets else measure, head, "", has_spread, has_marks=has_marks
                    ),
                )
            )
    table = ScoreTable(
        options,
        measures,
        SignificanceMarker(
            [options.marks],
            "bootstrap" if options.tested == "outputs" else "systems",
            comparisons,
            options.labels,
            set_names,
            measures.has_output,
            measures.verdict_exclusions.system_reasons,
        ),
        columns,
        set_names,
    )
    notes = []
    if scored_measures and not has_several_sets:
        notes.append(f"Scores are on {set_names.get(options.sets[0], options.sets[0])}.")
    if "minutes" in options.columns:
        notes.append("Time: minutes of training per epoch (wall-clock).")
        shares = {
            row: run_shares for row in options.systems if (run_shares := measures.get_training_fact(row, "core_share"))
        }
        notes += describe_shared_cores(shares, table.get_label)
    if "cpu_minutes" in options.columns:
        notes.append("CPU time: CPU minutes of training per epoch.")
    if "perplexity" in options.columns:
        notes.append("Perp.: perplexity per target token on the development set, end of sentence included.")
    if "length_ratio" in options.columns:
        notes.append("Length ratio: words of translations divided by words of references.")
    if "length" in options.columns:
        for split in options.sets:
            place = f" on {set_names.get(split, split)}" if has_several_sets else ""
            length = measures.get_reference_length(split)
            notes.append(f"References have {length:.2f} words on average{place}.")
    if CONTRAST_COLUMN in options.columns:
        notes += measures.describe_contrast(options.display_names)
    if options.parsed_by is not None:
        notes.append(f"Only sentences that {options.parsed_by} parsed are scored.")
    for metric in sorted({get_column_metric(measure) for measure in scored_measures}):
        signatures = dict.fromkeys(measures.get_signatures(metric).values())
        notes += [f"{get_metric_class(metric).label}: {signature}." for signature in signatures]
    notes += [*extra_notes, *describe_training_differences(measures.training_facts, table.get_label)]
    notes += [
        *describe_missing_kernels(measures.training_facts, table.get_label),
        *_describe_run_counts(measures, options.tested),
    ]
    return table.to_sheet(notes)


def _describe_run_counts(measures: SystemMeasures, mark_subject: MarkSubject) -> list[str]:
    runs = sorted({*measures.run_counts} - {1})
    if not runs:
        return []
    numbers = f"{runs[0]} to {runs[-1]}" if len(runs) > 1 else f"{runs[0]}"
    single = "; scores without ± are of a single run" if 1 in measures.run_counts else ""
    tests = "; tests of outputs do not include variation between runs" if mark_subject == "outputs" else ""
    return [f"Mean ± sample standard deviation over {numbers} runs{single}{tests}."]


def _build_published_score_cell(published: PublishedTable, system: str, set_name: str) -> Cell:
    number = published.find_number(system, set_name, ["BLEU"])
    value = "" if number is None else f"{number.value:.2f}"
    return Cell(value or MISSING_VALUE, value)


def _format_dev_name(dev_name: str) -> str:
    return "Dev" if dev_name.lower() == "dev" else f"Dev ({dev_name})"
