"""How a table of measures is laid out: a row for each system, facts and then measures by set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from pipeline_py.config.tables import MeasureTable
from pipeline_py.report.kernel_note import note_on_kernels
from pipeline_py.report.marks import Marks
from pipeline_py.report.measured import Measured
from pipeline_py.report.results import deviation
from pipeline_py.report.shared_cores import note_on_shared_cores
from pipeline_py.report.sheet import Cell, Sheet
from pipeline_py.report.table_layout import NOTHING

HEADS = {
    "negative_samples": "K",
    "hidden": "d",
    "subword": "BPE",
    "parameters": "Parameters",
    "minutes": "Time",
    "cpu_minutes": "CPU time",
    "search": "Search",
    "beam": "Beam size",
    "perplexity": "Perp.",
    "ribes": "RIBES",
    "bleu": "BLEU",
    "brevity": "BP",
    "length": "Avg. length",
}
FROM_SETTINGS = ("negative_samples", "subword", "search", "beam")
FROM_FACTS = {
    "hidden": ("hidden", 1.0),
    "parameters": ("parameters", 1.0),
    "perplexity": ("dev_perplexity", 1.0),
    "minutes": ("seconds_per_epoch", 60.0),
    "cpu_minutes": ("cpu_seconds_per_epoch", 60.0),
}
"""Column → the fact of a training, and what it is divided by."""

DECIMALS = {
    "perplexity": 1,
    "ribes": 2,
    "bleu": 2,
    "brevity": 3,
    "length": 2,
    "minutes": 2,
    "cpu_minutes": 2,
    "hidden": 0,
    "parameters": 0,
}
MARKED = ("ribes", "bleu")


@dataclass(frozen=True)
class Column:
    """One column: what it says, on which set (None: on none), and what it is called in the TSV and for people."""

    what: str
    on: str | None
    name: str
    head: str


@dataclass(frozen=True)
class MeasuresLayout:
    """A table of measures before it is drawn; `set_names` is what it calls sets, `further_notes` stand below."""

    table: MeasureTable
    measured: Measured
    marks: Marks
    set_names: Mapping[str, str]
    further_notes: Sequence[str] = ()

    def columns(self) -> list[Column]:
        """Facts once, measures for each set; named after the set where there are several."""
        table, several = self.table, len(self.table.sets) > 1
        measures = [what for what in table.columns if what not in FROM_SETTINGS and what not in FROM_FACTS]
        columns = []
        for what in table.columns:
            if what not in measures:
                columns.append(Column(what, None, what, HEADS[what]))
                continue
            for on in table.sets:
                called = self._called(on)
                head = HEADS[what] if not several else called if len(measures) == 1 else f"{HEADS[what]} {called}"
                columns.append(Column(what, on, f"{what}_{on}" if several else what, head))
        return columns

    def sheet(self) -> Sheet:
        """Lay the table out for people."""
        columns = self.columns()
        return Sheet(
            title=self.table.title,
            columns=["System", *(column.head for column in columns)],
            rows=[
                [Cell(self._label(row)), *(self._cell(row, column) for column in columns)] for row in self.table.systems
            ],
            notes=self._notes(columns),
        )

    def values(self) -> tuple[list[str], list[list[str]]]:
        """Columns and rows of the TSV: marks and deviations apart from numbers."""
        columns = self.columns()
        several = any(len(runs) > 1 for runs in (*self.measured.scores.values(), *self.measured.facts.values()))
        names = ["system"]
        for column in columns:
            has_spread = several and column.what not in FROM_SETTINGS
            marked = self.table.marks and column.what in MARKED
            names += [
                column.name,
                *([f"{column.name}_sd"] if has_spread else []),
                *([f"{column.name}_marks"] if marked else []),
            ]
        rows = []
        for row in self.table.systems:
            cells = [self._label(row)]
            for column in columns:
                if column.what in FROM_SETTINGS:
                    cells.append(self._setting(row, column))
                    continue
                runs = self._runs(row, column)
                spread = deviation(runs) if runs else None
                cells.append("" if runs is None else _number(fmean(runs), column.what))
                if several:
                    cells.append("" if spread is None else _number(spread, column.what))
                if self.table.marks and column.on is not None and column.what in MARKED:
                    cells.append(self.marks.of(row, column.on, column.what))
            rows.append(cells)
        return names, rows

    def _cell(self, row: str, column: Column) -> Cell:
        if column.what in FROM_SETTINGS:
            return Cell(self._setting(row, column) or NOTHING)
        runs = self._runs(row, column)
        if runs is None:
            return Cell(NOTHING)
        spread = deviation(runs)
        text = _readable(fmean(runs), column.what)
        if spread is not None and column.on is not None:
            text += f" ± {_readable(spread, column.what)}"
        marked = column.on is not None and column.what in MARKED
        return Cell(text, marks=self.marks.of(row, column.on or "", column.what) if marked else "")

    def _setting(self, row: str, column: Column) -> str:
        return self.measured.settings.get((row, column.what), "")

    def _runs(self, row: str, column: Column) -> Sequence[float] | None:
        """The values of a cell's runs; None where the system has none."""
        if column.what in FROM_FACTS:
            fact, unit = FROM_FACTS[column.what]
            found = self.measured.of_training(row, fact)
            return None if found is None else [value / unit for value in found]
        on = column.on or ""
        if column.what == "brevity":
            return self.measured.of_score(row, on, "bleu", "bp")
        if column.what == "length":
            words, sentences = (self.measured.of_score(row, on, "bleu", field) for field in ("sys_len", "sentences"))
            return [of_run / count for of_run, count in zip(words, sentences, strict=True)]
        return self.measured.of_score(row, on, column.what)

    def _label(self, row: str) -> str:
        return self.table.labels.get(row, row)

    def _called(self, on: str) -> str:
        return self.set_names.get(on, on)

    def _notes(self, columns: Sequence[Column]) -> list[str]:
        asked = {column.what for column in columns}
        notes = self.marks.notes(
            (row, column.on, column.what)
            for column in columns
            if column.on is not None and column.what in MARKED
            for row in self.table.systems
        )
        if len(self.table.sets) == 1 and any(column.on is not None for column in columns):
            notes.append(f"Scores are those on {self._called(self.table.sets[0])}.")
        if "minutes" in asked:
            notes.append("Time: minutes of training per epoch, on the wall.")
            notes += note_on_shared_cores(self._shares_of_cores(), self._label)
        if "cpu_minutes" in asked:
            notes.append("CPU time: minutes that processors worked on training, per epoch.")
        if "perplexity" in asked:
            notes.append("Perp.: perplexity of a target unit on the development set, end of sentence included.")
        if "length" in asked:
            notes += [f"References have {length:.2f} words on average{on}." for on, length in self._reference_lengths()]
        if self.table.parsed_by is not None:
            notes.append(f"Only sentences that {self.table.parsed_by} parsed are scored.")
        for metric, called in (("bleu", "BLEU"), ("ribes", "RIBES")):
            if asked & ({"bleu", "brevity", "length"} if metric == "bleu" else {"ribes"}):
                notes += [f"{called}: {signature}." for signature in self.measured.signatures(metric)]
        notes += [*self.further_notes, *note_on_kernels(self.measured.facts, self._label)]
        runs = max((len(runs) for runs in self.measured.scores.values()), default=1)
        if runs > 1:
            notes.append(f"Mean ± sample standard deviation over {runs} runs; the tests are of this mean.")
        return notes

    def _shares_of_cores(self) -> dict[str, list[float]]:
        return {row: shares for row in self.table.systems if (shares := self.measured.of_training(row, "core_share"))}

    def _reference_lengths(self) -> list[tuple[str, float]]:
        first = self.table.systems[0]
        several = len(self.table.sets) > 1
        return [
            (
                f" on {self._called(on)}" if several else "",
                self.measured.of_score(first, on, "bleu", "ref_len")[0]
                / self.measured.of_score(first, on, "bleu", "sentences")[0],
            )
            for on in self.table.sets
        ]


def _number(value: float, what: str) -> str:
    return f"{value:.{DECIMALS[what]}f}"


def _readable(value: float, what: str) -> str:
    """Write a number for people: parameters in millions."""
    return f"{value / 1e6:.2f}M" if what == "parameters" else _number(value, what)
