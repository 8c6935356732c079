"""Tables of systems: a row for each, columns of settings, facts and scores by set, and marks behind scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev

from pipeline_py.config.tables import CONTRAST, BleuTable, MeasureTable, Tested
from pipeline_py.evaluation.metric import named
from pipeline_py.report.tables.marks import Marks, of_style
from pipeline_py.report.tables.measures import (
    AVERAGE,
    FACTS,
    SETTINGS,
    Measured,
    decimals_of,
    head_of,
    is_metric,
    is_scored,
    metric_of,
    note_on_kernels,
    note_on_shared_cores,
    notes_on_differences,
)
from pipeline_py.report.tables.published import Published, published_score
from pipeline_py.report.tables.sheet import NOTHING, Cell, Column, Sheet
from pipeline_py.report.tables.system_comparison import Comparisons, Test


@dataclass(frozen=True)
class Said:
    """A column: what it says of a system, on which set (None: on none)."""

    what: str
    on: str | None
    column: Column


@dataclass(frozen=True)
class PrintedTable:
    """One table of a paper; `names` is what the paper calls our rows."""

    numbers: Sequence[Published]
    table: str
    task: str
    names: Mapping[str, str]

    def cell(self, row: str, name: str) -> Cell:
        """The printed number of one of our rows on a set."""
        found = published_score(self.numbers, self.table, self.task, self.names[row], name)
        value = "" if found is None else f"{found.value:.2f}"
        return Cell(value or NOTHING, value)


@dataclass(frozen=True)
class Table:
    """A table of systems before it is drawn.

    Attributes:
        options: the table's own.
        measured: its numbers.
        marks: those behind scores.
        columns: what it says.
        called: what it calls sets.
        best: the row that bold compares proposed rows with, if any.
        printed: what a paper printed, by the names that the paper gives our sets.
    """

    options: BleuTable | MeasureTable
    measured: Measured
    marks: Marks
    columns: Sequence[Said]
    called: Mapping[str, str]
    best: str | None = None
    printed: tuple[PrintedTable, Sequence[tuple[str, Column]]] | None = field(default=None)

    def sheet(self, notes: Sequence[str], bold_means: str = "") -> Sheet:
        """Lay the table out, with these notes below those on its marks."""
        places = [
            (row, said.on, said.what)
            for said in ([each for each in self.columns if each.column.has_marks])
            for row in self.options.systems
            if said.on is not None and self.measured.has_output(row, said.on)
        ]
        if isinstance(self.options, BleuTable):  # whose marks are told row by row
            places.sort(key=lambda place: self.options.systems.index(place[0]))
        printed, of_paper = self.printed or (None, [])
        return Sheet(
            self.options.title,
            [Column("system", "System"), *(said.column for said in self.columns), *(column for _, column in of_paper)],
            [
                [
                    Cell(self.label(row)),
                    *(self._cell(row, said) for said in self.columns),
                    *(printed.cell(row, name) for name, _ in of_paper if printed is not None),
                ]
                for row in self.options.systems
            ],
            [*self.measured.exclusions.sentences, *self.marks.notes(places), *notes],
            bold_means,
        )

    def label(self, row: str) -> str:
        """What a row is called."""
        return self.options.labels.get(row, row)

    def _cell(self, row: str, said: Said) -> Cell:
        if said.what in SETTINGS:
            text = self.measured.settings.get(row, {}).get(said.what, "")
            return Cell(text or NOTHING, text)
        runs = self.measured.of(row, said.what, said.on)
        if runs is None:
            return Cell(NOTHING, "")
        mean, spread = fmean(runs), stdev(runs) if len(runs) > 1 else None
        decimals = decimals_of(said.what)
        text = f"{mean / 1e6:.2f}M" if said.what == "parameters" else f"{mean:.{decimals}f}"
        if spread is not None and said.on is not None:
            text += f" ± {spread:.{decimals}f}"
        if (ends := self.measured.interval(row, said.what, said.on)) is not None:
            text += f" ({ends[0]:.1f} to {ends[1]:.1f})"
        return Cell(
            text,
            f"{mean:.{decimals}f}",
            "" if spread is None else f"{spread:.{decimals}f}",
            self.marks.of(row, said.on, said.what) if said.column.has_marks and said.on is not None else "",
            self._is_bold(row, said, mean),
        )

    def _is_bold(self, row: str, said: Said, mean: float) -> bool:
        """Whether a proposed row is better than the best of the others, on a test set or on average, as printed."""
        proposed = isinstance(self.options, BleuTable) and row in self.options.proposed
        if not proposed or self.best is None or said.on not in (*self.measured.tests, AVERAGE):
            return False
        other = fmean(self.measured.of(self.best, said.what, said.on) or [mean])
        mine, theirs = (round(one, decimals_of(said.what)) for one in (mean, other))
        return mine > theirs if named(said.what).higher_is_better else mine < theirs


def bleu_sheet(
    options: BleuTable,
    measured: Measured,
    comparisons: Comparisons,
    dev: str | None,
    metrics: Sequence[str],
    numbers: Sequence[Published],
    further_notes: Sequence[str],
) -> Sheet:
    """Lay out scores on dev and every test set, the average of several test sets, and significance marks.

    Dev is never marked and not averaged, as in the papers.

    Args:
        options: the table's own.
        measured: its numbers.
        comparisons: of its systems on the test sets.
        dev: what the development set is called; None where the table does without.
        metrics: BLEU, and what else stands behind it.
        numbers: what the paper printed that the table names, if it names one.
        further_notes: that stand below its own.
    """
    averages = {row: fmean(runs) for row in options.systems if (runs := measured.of(row, metrics[0], AVERAGE))}
    sign = 1 if named(metrics[0]).higher_is_better else -1
    others = [row for row in averages if row not in options.proposed]
    best = max(others, key=lambda row: sign * averages[row], default=None)
    of_dev = {} if dev is None else {"dev": _name_of_dev(dev)}
    average = {AVERAGE: AVERAGE} if len(measured.tests) > 1 else {}
    heads = {**of_dev, **{test: test for test in measured.tests}, **average}
    columns = [
        Said(
            metric,
            on,
            Column(
                f"{metric}_{on}" if place else on,
                f"{head_of(metric)} {head}" if place else head,
                has_spread=measured.most_runs > 1,
                has_marks=on in measured.tests,
            ),
        )
        for place, metric in enumerate(metrics)
        for on, head in heads.items()
    ]
    paper = None
    if options.published is not None:
        names = {row: options.labels.get(row, row) for row in options.systems} | options.published.names
        theirs = [
            (str(dev) if on == "dev" else on, Column(f"{on}_published", f"{head} (paper)", "paper"))
            for on, head in heads.items()
        ]
        paper = PrintedTable(numbers, options.published.table, options.published.task, names), theirs
    test: Test = "sign" if options.tested == "outputs" else "systems"
    choices = len(others) if test == "systems" else 1
    groups = of_style(options.marks, options.systems, options.baseline, best, options.proposed, choices)
    marks = Marks(groups, test, comparisons, options.labels, {}, measured.has_output, measured.exclusions.systems)
    table = Table(options, measured, marks, columns, {}, best, paper)
    notes = [
        *([f"{AVERAGE} is the mean over the test sets."] if average else []),
        *(["(paper): published numbers; the paper may have scored in another way."] if paper else []),
        *_on_runs(measured, options.tested),
    ]
    for metric in metrics:
        signatures, label = measured.signatures(metric), named(metric).label
        by = f"{label} by sacrebleu" if metric == "bleu" else label
        if len({*signatures.values()}) == 1:
            notes.append(f"{by}: {next(iter(signatures.values()))}.")
        else:
            notes += [f"{by.replace(label, f'{label} on {on}')}: {signature}." for on, signature in signatures.items()]
    notes += [*further_notes, *notes_on_differences(measured.facts, table.label)]
    notes += note_on_kernels(measured.facts, table.label)
    bold = f"better than the best baseline, {table.label(best)}" if best and options.proposed else ""
    return table.sheet(notes, bold)


def measures_sheet(
    options: MeasureTable,
    measured: Measured,
    comparisons: Comparisons,
    called: Mapping[str, str],
    further_notes: Sequence[str],
) -> Sheet:
    """Lay out any measures on any sets, with significance marks.

    Facts stand there once, measures for each set; they are named after the set where there are several.

    Args:
        options: the table's own.
        measured: its numbers.
        comparisons: of its systems on its sets, where it has marks.
        called: what sets are called, where not by their names.
        further_notes: that stand below its own.
    """
    several = len(options.sets) > 1
    spread = any(len(runs) > 1 for runs in measured.facts.values()) or measured.most_runs > 1
    on_sets = [*filter(is_scored, options.columns)]
    columns = []
    for what in options.columns:
        if what == CONTRAST:
            columns += [Said(what, on, Column(f"{what}_{on}", f"Acc. {on}", "", spread)) for on in measured.contrast]
            continue
        if what not in on_sets:
            columns.append(Said(what, None, Column(what, head_of(what), has_spread=spread and what in FACTS)))
            continue
        for on in options.sets:
            name = called.get(on, on)
            head = head_of(what) if not several else name if len(on_sets) == 1 else f"{head_of(what)} {name}"
            marked = bool(options.marks) and is_metric(what)
            columns.append(
                Said(what, on, Column(f"{what}_{on}" if several else what, head, "", spread, has_marks=marked))
            )
    table = Table(
        options,
        measured,
        Marks(
            [options.marks],
            "bootstrap" if options.tested == "outputs" else "systems",
            comparisons,
            options.labels,
            called,
            measured.has_output,
            measured.exclusions.systems,
        ),
        columns,
        called,
    )
    notes = []
    if on_sets and not several:
        notes.append(f"Scores are on {called.get(options.sets[0], options.sets[0])}.")
    if "minutes" in options.columns:
        notes.append("Time: minutes of training per epoch (wall-clock).")
        shares = {row: of for row in options.systems if (of := measured.of_training(row, "core_share"))}
        notes += note_on_shared_cores(shares, table.label)
    if "cpu_minutes" in options.columns:
        notes.append("CPU time: CPU minutes of training per epoch.")
    if "perplexity" in options.columns:
        notes.append("Perp.: perplexity per target token on the development set, end of sentence included.")
    if "length_ratio" in options.columns:
        notes.append("Length ratio: words of translations by words of references.")
    if "length" in options.columns:
        for on in options.sets:
            where = f" on {called.get(on, on)}" if several else ""
            length = measured.reference_length(on)
            notes.append(f"References have {length:.2f} words on average{where}.")
    if CONTRAST in options.columns:
        notes += measured.sentences_on_contrast(options.called)
    if options.parsed_by is not None:
        notes.append(f"Only sentences that {options.parsed_by} parsed are scored.")
    for metric in sorted({metric_of(what) for what in on_sets}):
        signatures = dict.fromkeys(measured.signatures(metric).values())
        notes += [f"{named(metric).label}: {signature}." for signature in signatures]
    notes += [*further_notes, *notes_on_differences(measured.facts, table.label)]
    notes += [*note_on_kernels(measured.facts, table.label), *_on_runs(measured, options.tested)]
    return table.sheet(notes)


def _on_runs(measured: Measured, tested: Tested) -> list[str]:
    runs = sorted({*measured.numbers_of_runs} - {1})
    if not runs:
        return []
    numbers = f"{runs[0]} to {runs[-1]}" if len(runs) > 1 else f"{runs[0]}"
    single = "; scores without ± are of a single run" if 1 in measured.numbers_of_runs else ""
    tests = "; tests of outputs are of these runs alone" if tested == "outputs" else ""
    return [f"Mean ± sample standard deviation over {numbers} runs{single}{tests}."]


def _name_of_dev(dev: str) -> str:
    return "Dev" if dev.lower() == "dev" else f"Dev ({dev})"
