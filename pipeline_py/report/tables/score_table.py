"""Tables of systems: a row for each, columns of settings, facts and scores by set, and marks behind scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev

from pipeline_py.config.tables import CONTRAST_COLUMN, BleuTableConfig, MarkSubject, MeasureTableConfig
from pipeline_py.evaluation.metric import get_metric_class
from pipeline_py.report.tables.marks import SignificanceMarker, build_mark_groups
from pipeline_py.report.tables.published_numbers import PublishedNumber, find_published_number
from pipeline_py.report.tables.sheet import MISSING_VALUE, Cell, Column, Sheet
from pipeline_py.report.tables.system_comparison import ComparisonIndex, SignificanceTest
from pipeline_py.report.tables.system_measures import (
    AVERAGE,
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
    """A column: what it says of a system, on which set (None: on none)."""

    measure: str
    split: str | None
    sheet_column: Column


@dataclass(frozen=True)
class PublishedTable:
    """One table of a paper; `paper_names` is what the paper calls our rows."""

    numbers: Sequence[PublishedNumber]
    table_number: str
    task: str
    paper_names: Mapping[str, str]

    def build_cell(self, row: str, set_name: str) -> Cell:
        """The printed number of one of our rows on a set."""
        found = find_published_number(self.numbers, self.table_number, self.task, self.paper_names[row], set_name)
        value = "" if found is None else f"{found.value:.2f}"
        return Cell(value or MISSING_VALUE, value)


@dataclass(frozen=True)
class ScoreTable:
    """A table of systems before it is drawn.

    Attributes:
        options: the table's own.
        measures: its numbers.
        marker: those behind scores.
        columns: what it says.
        set_names: what it calls sets.
        best_baseline: the row that bold compares proposed rows with, if any.
        published: what a paper printed, by the names that the paper gives our sets.
    """

    options: BleuTableConfig | MeasureTableConfig
    measures: SystemMeasures
    marker: SignificanceMarker
    columns: Sequence[ScoreColumn]
    set_names: Mapping[str, str]
    best_baseline: str | None = None
    published: tuple[PublishedTable, Sequence[tuple[str, Column]]] | None = field(default=None)

    def to_sheet(self, notes: Sequence[str], bold_meaning: str = "") -> Sheet:
        """Lay the table out, with these notes below those on its marks."""
        places = [
            (row, said.split, said.measure)
            for said in ([each for each in self.columns if each.sheet_column.has_marks])
            for row in self.options.systems
            if said.split is not None and self.measures.has_output(row, said.split)
        ]
        if isinstance(self.options, BleuTableConfig):  # whose marks are told row by row
            places.sort(key=lambda place: self.options.systems.index(place[0]))
        printed, of_paper = self.published or (None, [])
        return Sheet(
            self.options.title,
            [
                Column("system", "System"),
                *(said.sheet_column for said in self.columns),
                *(column for _, column in of_paper),
            ],
            [
                [
                    Cell(self.get_label(row)),
                    *(self._build_cell(row, said) for said in self.columns),
                    *(printed.build_cell(row, name) for name, _ in of_paper if printed is not None),
                ]
                for row in self.options.systems
            ],
            [*self.measures.exclusions.descriptions, *self.marker.describe_marks(places), *notes],
            bold_meaning,
        )

    def get_label(self, row: str) -> str:
        """What a row is called."""
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
        if (ends := self.measures.get_interval(row, column.measure, column.split)) is not None:
            text += f" ({ends[0]:.1f} to {ends[1]:.1f})"
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
        """Whether a proposed row is better than the best of the others, on a test set or on average, as printed."""
        proposed = isinstance(self.options, BleuTableConfig) and row in self.options.proposed
        if not proposed or self.best_baseline is None or column.split not in (*self.measures.test_sets, AVERAGE):
            return False
        other = fmean(self.measures.get_run_values(self.best_baseline, column.measure, column.split) or [mean])
        mine, theirs = (round(one, get_column_decimals(column.measure)) for one in (mean, other))
        return mine > theirs if get_metric_class(column.measure).higher_is_better else mine < theirs


def build_bleu_sheet(
    options: BleuTableConfig,
    measures: SystemMeasures,
    comparisons: ComparisonIndex,
    dev_name: str | None,
    metrics: Sequence[str],
    published_numbers: Sequence[PublishedNumber],
    extra_notes: Sequence[str],
) -> Sheet:
    """Lay out scores on dev and every test set, the average of several test sets, and significance marks.

    Dev is never marked and not averaged, as in the papers.

    Args:
        options: the table's own.
        measures: its numbers.
        comparisons: of its systems on the test sets.
        dev_name: what the development set is called; None where the table does without.
        metrics: BLEU, and what else stands behind it.
        published_numbers: what the paper printed that the table names, if it names one.
        extra_notes: that stand below its own.
    """
    averages = {
        row: fmean(runs) for row in options.systems if (runs := measures.get_run_values(row, metrics[0], AVERAGE))
    }
    sign = 1 if get_metric_class(metrics[0]).higher_is_better else -1
    others = [row for row in averages if row not in options.proposed]
    best = max(others, key=lambda row: sign * averages[row], default=None)
    of_dev = {} if dev_name is None else {"dev": _format_dev_name(dev_name)}
    average = {AVERAGE: AVERAGE} if len(measures.test_sets) > 1 else {}
    heads = {**of_dev, **{test: test for test in measures.test_sets}, **average}
    columns = [
        ScoreColumn(
            metric,
            on,
            Column(
                f"{metric}_{on}" if place else on,
                f"{get_column_head(metric)} {head}" if place else head,
                has_spread=measures.max_run_count > 1,
                has_marks=on in measures.test_sets,
            ),
        )
        for place, metric in enumerate(metrics)
        for on, head in heads.items()
    ]
    paper = None
    if options.published is not None:
        names = {row: options.labels.get(row, row) for row in options.systems} | options.published.names
        theirs = [
            (str(dev_name) if on == "dev" else on, Column(f"{on}_published", f"{head} (paper)", "paper"))
            for on, head in heads.items()
        ]
        paper = PublishedTable(published_numbers, options.published.table, options.published.task, names), theirs
    test: SignificanceTest = "sign" if options.tested == "outputs" else "systems"
    choices = len(others) if test == "systems" else 1
    groups = build_mark_groups(options.marks, options.systems, options.baseline, best, options.proposed, choices)
    marks = SignificanceMarker(
        groups, test, comparisons, options.labels, {}, measures.has_output, measures.exclusions.system_reasons
    )
    table = ScoreTable(options, measures, marks, columns, {}, best, paper)
    notes = [
        *([f"{AVERAGE} is the mean over the test sets."] if average else []),
        *(["(paper): published numbers; the paper may have scored in another way."] if paper else []),
        *_describe_run_counts(measures, options.tested),
    ]
    for metric in metrics:
        signatures, label = measures.get_signatures(metric), get_metric_class(metric).label
        by = f"{label} by sacrebleu" if metric == "bleu" else label
        if len({*signatures.values()}) == 1:
            notes.append(f"{by}: {next(iter(signatures.values()))}.")
        else:
            notes += [f"{by.replace(label, f'{label} on {on}')}: {signature}." for on, signature in signatures.items()]
    notes += [*extra_notes, *describe_training_differences(measures.training_facts, table.get_label)]
    notes += describe_missing_kernels(measures.training_facts, table.get_label)
    bold = f"better than the best baseline, {table.get_label(best)}" if best and options.proposed else ""
    return table.to_sheet(notes, bold)


def build_measures_sheet(
    options: MeasureTableConfig,
    measures: SystemMeasures,
    comparisons: ComparisonIndex,
    set_names: Mapping[str, str],
    extra_notes: Sequence[str],
) -> Sheet:
    """Lay out any measures on any sets, with significance marks.

    Facts stand there once, measures for each set; they are named after the set where there are several.

    Args:
        options: the table's own.
        measures: its numbers.
        comparisons: of its systems on its sets, where it has marks.
        set_names: what sets are called, where not by their names.
        extra_notes: that stand below its own.
    """
    several = len(options.sets) > 1
    spread = any(len(runs) > 1 for runs in measures.training_facts.values()) or measures.max_run_count > 1
    on_sets = [*filter(is_scored_column, options.columns)]
    columns = []
    for what in options.columns:
        if what == CONTRAST_COLUMN:
            columns += [
                ScoreColumn(what, on, Column(f"{what}_{on}", f"Acc. {on}", "", spread))
                for on in measures.contrast_decisions
            ]
            continue
        if what not in on_sets:
            columns.append(
                ScoreColumn(what, None, Column(what, get_column_head(what), has_spread=spread and what in FACT_COLUMNS))
            )
            continue
        for on in options.sets:
            name = set_names.get(on, on)
            head = (
                get_column_head(what)
                if not several
                else name
                if len(on_sets) == 1
                else f"{get_column_head(what)} {name}"
            )
            marked = bool(options.marks) and is_metric_column(what)
            columns.append(
                ScoreColumn(what, on, Column(f"{what}_{on}" if several else what, head, "", spread, has_marks=marked))
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
            measures.exclusions.system_reasons,
        ),
        columns,
        set_names,
    )
    notes = []
    if on_sets and not several:
        notes.append(f"Scores are on {set_names.get(options.sets[0], options.sets[0])}.")
    if "minutes" in options.columns:
        notes.append("Time: minutes of training per epoch (wall-clock).")
        shares = {row: of for row in options.systems if (of := measures.get_training_fact(row, "core_share"))}
        notes += describe_shared_cores(shares, table.get_label)
    if "cpu_minutes" in options.columns:
        notes.append("CPU time: CPU minutes of training per epoch.")
    if "perplexity" in options.columns:
        notes.append("Perp.: perplexity per target token on the development set, end of sentence included.")
    if "length_ratio" in options.columns:
        notes.append("Length ratio: words of translations by words of references.")
    if "length" in options.columns:
        for on in options.sets:
            where = f" on {set_names.get(on, on)}" if several else ""
            length = measures.get_reference_length(on)
            notes.append(f"References have {length:.2f} words on average{where}.")
    if CONTRAST_COLUMN in options.columns:
        notes += measures.describe_contrast(options.display_names)
    if options.parsed_by is not None:
        notes.append(f"Only sentences that {options.parsed_by} parsed are scored.")
    for metric in sorted({get_column_metric(what) for what in on_sets}):
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
    tests = "; tests of outputs are of these runs alone" if mark_subject == "outputs" else ""
    return [f"Mean ± sample standard deviation over {numbers} runs{single}{tests}."]


def _format_dev_name(dev_name: str) -> str:
    return "Dev" if dev_name.lower() == "dev" else f"Dev ({dev_name})"
