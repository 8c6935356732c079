"""How a table of results is laid out: rows by sets, the average, and beside them what a paper printed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from pipeline_py.report.marks import Marks
from pipeline_py.report.published import Published, published_score
from pipeline_py.report.results import Results, deviation
from pipeline_py.report.sheet import Cell, Sheet

AVERAGE = "AVG"
BLEU = "bleu"
NOTHING = "–"


@dataclass(frozen=True)
class PrintedTable:
    """One table of a paper; `names` is what the paper calls our rows."""

    numbers: Sequence[Published]
    table: str
    task: str
    names: Mapping[str, str]

    def value(self, row: str, name: str) -> str:
        """The printed number of one of our rows on a set, "" where the paper has none."""
        found = published_score(self.numbers, self.table, self.task, self.names[row], name)
        return "" if found is None else f"{found.value:.2f}"


@dataclass(frozen=True)
class TableLayout:
    """A table before it is drawn.

    Attributes:
        results: its numbers.
        marks: those behind them.
        labels: what its rows are called, where not by their names.
        best: the row that bold compares with, if any.
        proposed: the rows that bold is for.
        dev_name: what its head calls the development set.
        printed: what a paper printed.
        further_notes: that stand below its own.
    """

    results: Results
    marks: Marks
    labels: Mapping[str, str]
    best: str | None
    proposed: Sequence[str]
    dev_name: str
    printed: PrintedTable | None
    further_notes: Sequence[str] = ()

    def sheet(self, title: str) -> Sheet:
        """Lay the table out for people: means with deviations, marks, bold, notes."""
        dev = "Dev" if self.dev_name.lower() == "dev" else f"Dev ({self.dev_name})"
        columns = [dev, *self.results.tests, AVERAGE]
        return Sheet(
            title=title,
            columns=["System", *columns, *(f"{name} (paper)" for name in columns if self.printed)],
            rows=[
                [*self._row(row), *(Cell(text or NOTHING) for text in self._printed(row))] for row in self.results.rows
            ],
            notes=[
                *self.marks.notes((row, test, BLEU) for row in self.results.rows for test in self.results.tests),
                f"{AVERAGE} is the mean over the test sets.",
                *(
                    ["(paper): as published, not made here; the paper may have scored otherwise."]
                    if self.printed
                    else []
                ),
                *self._run_notes(),
                *self._signature_notes(),
                *self.further_notes,
            ],
            bold_means=f"better than the best baseline, {self._label(self.best)}"
            if self.best and self.proposed
            else "",
        )

    def values(self) -> tuple[list[str], list[list[str]]]:
        """Columns and rows of the TSV: marks, deviations and printed numbers apart from numbers."""
        results = self.results
        several = any(len(score.runs) > 1 for score in results.scores.values())

        def spread(name: str) -> list[str]:
            return [f"{name}_sd"] if several else []

        columns = ["system", results.dev, *spread(results.dev)]
        for test in results.tests:
            columns += [test, *spread(test), f"{test}_marks"]
        columns += [AVERAGE, *spread(AVERAGE)]
        if self.printed:
            columns += [f"{name}_published" for name in (results.dev, *results.tests, AVERAGE)]
        rows = []
        for name in results.rows:
            row = [self._label(name), *_numbers(results.scores[name, results.dev].runs, several)]
            for test in results.tests:
                row += [*_numbers(results.scores[name, test].runs, several), self.marks.of(name, test, BLEU)]
            rows.append([*row, *_numbers(results.averages(name), several), *self._printed(name)])
        return columns, rows

    def _row(self, name: str) -> list[Cell]:
        results = self.results
        compared = self.best if name in self.proposed else None

        def is_bold(test: str) -> bool:
            return compared is not None and results.scores[name, test].bleu > results.scores[compared, test].bleu

        return [
            Cell(self._label(name)),
            Cell(_with_deviation(results.scores[name, results.dev].runs)),
            *(
                Cell(
                    _with_deviation(results.scores[name, test].runs),
                    marks=self.marks.of(name, test, BLEU),
                    bold=is_bold(test),
                )
                for test in results.tests
            ),
            Cell(
                _with_deviation(results.averages(name)),
                bold=compared is not None and results.average(name) > results.average(compared),
            ),
        ]

    def _label(self, row: str) -> str:
        return self.labels.get(row, row)

    def _printed(self, row: str) -> list[str]:
        if self.printed is None:
            return []
        return [self.printed.value(row, name) for name in (self.dev_name, *self.results.tests, AVERAGE)]

    def _run_notes(self) -> list[str]:
        runs = max(len(score.runs) for score in self.results.scores.values())
        if runs == 1:
            return []
        return [
            f"Mean ± sample standard deviation over {runs} runs; the tests are of this mean, and replace a sentence "
            "in all runs together."
        ]

    def _signature_notes(self) -> list[str]:
        signatures = self.results.signatures()
        if len(set(signatures.values())) == 1:
            return [f"BLEU by sacrebleu: {next(iter(signatures.values()))}."]
        return [f"BLEU on {name} by sacrebleu: {signature}." for name, signature in signatures.items()]


def _with_deviation(runs: Sequence[float]) -> str:
    spread = deviation(runs)
    return f"{fmean(runs):.2f}" if spread is None else f"{fmean(runs):.2f} ± {spread:.2f}"


def _numbers(runs: Sequence[float], several: bool) -> list[str]:
    mean, spread = f"{fmean(runs):.2f}", deviation(runs)
    return [mean, "" if spread is None else f"{spread:.2f}"] if several else [mean]
