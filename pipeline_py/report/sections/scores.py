"""The table itself, and beside it what its systems cost: parameters, speed and time of their trainings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from pipeline_py.config.tables import BleuTable, MeasureTable
from pipeline_py.report.page_parts import Part
from pipeline_py.report.stage_results import read_table
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tables.measures import note_on_shared_cores
from pipeline_py.report.tables.sheet import NOTHING, Cell, Column

PLACE = 10


@dataclass(frozen=True)
class Cost:
    """One column: its head, and what makes a number of one training; runs are averaged.

    Attributes:
        head: of the column.
        name: of the fact.
        decimals: that are shown.
        divided_by: the fact's unit in that of the column.
        adds_up: whether the members of an ensemble have the sum.
    """

    head: str
    name: str
    decimals: int
    divided_by: float = 1.0
    adds_up: bool = True


COSTS = (
    Cost("Parameters", "parameters", 2, 1e6),
    Cost("Words/s", "words_per_second", 0, adds_up=False),
    Cost("Words/CPU s", "target_words_per_cpu_second", 0, adds_up=False),
    Cost("Words/GPU s", "target_words_per_gpu_second", 0, adds_up=False),
    Cost("Training s", "seconds", 0),
    Cost("CPU s", "cpu_seconds", 0),
    Cost("GPU h", "gpu_hours", 3),
)
"""Columns that a table gets where one of its systems has them."""

NOTE = (
    "Cost of training: target words per second of wall-clock time (slower if the machine does other work) and of CPU "
    "or GPU time; seconds of wall-clock and CPU time; GPU hours. With several "
    "runs this is the mean, for an ensemble the sum over its members."
)


CAPTIONS = {
    "bleu": "BLEU in percent of each system on the development set and on every test set; marks and signatures are "
    "explained below.",
    "measures": "Measures of each system; sets, marks and signatures are explained below.",
    "parses": "Sentences of each text with and without a parse.",
    "vocabulary": "Vocabulary size of the training text: original, after generalisation, and in pieces.",
    "attention": "Share of high attention weights on words (Wrd) and on phrases (Phr).",
}
"""What tables show, by their type."""


def section(chapter: TableChapter) -> Iterator[Part]:
    table = replace(chapter.sheet, title=CAPTIONS[chapter.experiment.tables[chapter.name].type])
    facts = chapter.manifest.of("facts", chapter.name)
    text = [f"Also in {chapter.name}.tsv, .md and .tex."]
    options = chapter.experiment.tables[chapter.name]
    if facts is None or not isinstance(options, BleuTable | MeasureTable):
        yield Part(text=text, tables=[table])
        return
    rows = options.systems
    members = {row: chapter.experiment.networks(row) or [row] for row in rows}
    trained = read_facts(facts)
    columns, cells = costs_of(rows, members, trained, table.heads)
    shared = note_on_shared_cores(shares_of_cores(trained), lambda name: chapter.called.get(name, name))
    notes = [*table.all_notes(), *([NOTE] if columns else []), *(note for note in shared if note not in table.notes)]
    wide = [[*row, *more] for row, more in zip(table.rows, cells, strict=True)]
    yield Part(
        text=text,
        tables=[
            replace(table, columns=[*table.columns, *columns], rows=wide, notes=notes, bold_means="", departures=())
        ],
    )


def read_facts(path: Path) -> list[Any]:
    """Read the TSV of `report.facts`, a row for each training."""
    return read_table(path).to_dict("records")


def costs_of(
    rows: Sequence[str], members: Mapping[str, Sequence[str]], facts: Sequence[Mapping[str, str]], but: Sequence[str]
) -> tuple[list[Column], list[list[Cell]]]:
    """Columns and, for each row of a table, cells that say what its system cost.

    Args:
        rows: systems.
        members: of each system those that were trained for it: itself, or the networks of an ensemble.
        facts: as `read_facts` reads them.
        but: heads of columns that the table has already.
    """
    columns: list[Column] = []
    cells: list[list[Cell]] = [[] for _ in rows]
    for cost in COSTS:
        values = [_value(cost, members[row], facts) for row in rows]
        if cost.head in but or all(value is None for value in values):
            continue
        columns.append(Column(cost.name, cost.head, "cost"))
        for row, value in zip(cells, values, strict=True):
            row.append(Cell(NOTHING) if value is None else Cell(_readable(cost, value), str(value)))
    return columns, cells


def shares_of_cores(facts: Sequence[Mapping[str, str]]) -> dict[str, list[float]]:
    """Of each system and run, the share of the time it asked for a core that it had one, where it is known."""
    shares: dict[str, list[float]] = {}
    for row in facts:
        if row.get("core_share"):
            shares.setdefault(row["system"], []).append(float(row["core_share"]))
    return shares


def _value(cost: Cost, members: Sequence[str], facts: Sequence[Mapping[str, str]]) -> float | None:
    """The mean over runs, of an ensemble summed over its members; None where one of them has none."""
    if len(members) > 1 and not cost.adds_up:
        return None
    total = 0.0
    for member in members:
        told = [float(row[cost.name]) for row in facts if row["system"] == member and row.get(cost.name)]
        if not told:
            return None
        total += fmean(told)
    return total / cost.divided_by


def _readable(cost: Cost, value: float) -> str:
    return f"{value:,.{cost.decimals}f}" + ("M" if cost.name == "parameters" else "")
