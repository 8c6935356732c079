"""Section with the table and the training costs of its systems: parameters, speed and time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from pipeline_py.config.tables import BleuTableConfig, MeasureTableConfig
from pipeline_py.report.page_parts import PageSection
from pipeline_py.report.stage_results import read_tsv
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tables.sheet import MISSING_VALUE, Cell, Column
from pipeline_py.report.tables.system_measures import describe_shared_cores

PAGE_ORDER = 10


@dataclass(frozen=True)
class CostColumn:
    """A column of training costs, averaged over runs.

    Attributes:
        head: head of the column.
        fact_key: column of the fact.
        decimals: number of decimals.
        divisor: divisor that converts the fact to the unit of the column.
        is_additive: whether costs of the members of an ensemble add up.
    """

    head: str
    fact_key: str
    decimals: int
    divisor: float = 1.0
    is_additive: bool = True


COST_COLUMNS = (
    CostColumn("Parameters", "parameters", 2, 1e6),
    CostColumn("Words/s", "words_per_second", 0, is_additive=False),
    CostColumn("Words/CPU s", "target_words_per_cpu_second", 0, is_additive=False),
    CostColumn("Words/GPU s", "target_words_per_gpu_second", 0, is_additive=False),
    CostColumn("Training s", "seconds", 0),
    CostColumn("CPU s", "cpu_seconds", 0),
    CostColumn("GPU h", "gpu_hours", 3),
)
"""Cost columns; a table shows those that apply to at least one system."""

COST_NOTE = (
    "Cost of training: target words per second of wall-clock time (slower if the machine does other work) and of CPU "
    "or GPU time; seconds of wall-clock and CPU time; GPU hours. With several "
    "runs this is the mean, for an ensemble the sum over its members."
)


TABLE_CAPTIONS = {
    "bleu": "BLEU in percent of each system on the development set and on every test set; marks and signatures are "
    "explained below.",
    "measures": "Measures of each system; sets, marks and signatures are explained below.",
    "parses": "Sentences of each text with and without a parse.",
    "vocabulary": "Vocabulary size of the training text: original, after generalisation, and in pieces.",
    "attention": "Share of high attention weights on words (Wrd) and on phrases (Phr).",
}
"""Captions by type of table."""


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    table = replace(chapter.sheet, title=TABLE_CAPTIONS[chapter.experiment.tables[chapter.table_name].type])
    facts_path = chapter.manifest.find_file("facts", chapter.table_name)
    text = [f"Also in {chapter.table_name}.tsv, .md and .tex."]
    options = chapter.experiment.tables[chapter.table_name]
    if facts_path is None or not isinstance(options, BleuTableConfig | MeasureTableConfig):
        yield PageSection(paragraphs=text, tables=[table])
        return
    rows = options.systems
    members = {row: chapter.experiment.get_networks(row) or [row] for row in rows}
    facts_rows = read_facts_table(facts_path)
    columns, cells = build_cost_columns(rows, members, facts_rows, table.column_heads)
    core_notes = describe_shared_cores(
        collect_core_shares(facts_rows), lambda name: chapter.display_names.get(name, name)
    )
    notes = [
        *table.collect_notes(),
        *([COST_NOTE] if columns else []),
        *(note for note in core_notes if note not in table.notes),
    ]
    wide_rows = [[*row, *cost_cells] for row, cost_cells in zip(table.rows, cells, strict=True)]
    yield PageSection(
        paragraphs=text,
        tables=[
            replace(
                table, columns=[*table.columns, *columns], rows=wide_rows, notes=notes, bold_means="", departures=()
            )
        ],
    )


def read_facts_table(path: Path) -> list[Any]:
    """Read the TSV of `report.render_facts`, a row for each training."""
    return read_tsv(path).to_dict("records")


def build_cost_columns(
    rows: Sequence[str],
    members: Mapping[str, Sequence[str]],
    facts: Sequence[Mapping[str, str]],
    existing_heads: Sequence[str],
) -> tuple[list[Column], list[list[Cell]]]:
    """Build columns of training costs, and their cells for each row of a table.

    Args:
        rows: systems.
        members: trained systems by system: itself, or the networks of an ensemble.
        facts: rows as `read_facts_table` returns them.
        existing_heads: heads of columns that the table already has.
    """
    columns: list[Column] = []
    cells: list[list[Cell]] = [[] for _ in rows]
    for cost in COST_COLUMNS:
        values = [_compute_cost(cost, members[row], facts) for row in rows]
        if cost.head in existing_heads or all(value is None for value in values):
            continue
        columns.append(Column(cost.fact_key, cost.head, "cost"))
        for row, value in zip(cells, values, strict=True):
            row.append(Cell(MISSING_VALUE) if value is None else Cell(_format_cost(cost, value), str(value)))
    return columns, cells


def collect_core_shares(facts: Sequence[Mapping[str, str]]) -> dict[str, list[float]]:
    """Collect the received share of the requested core time of each run, by system; unknown shares are omitted."""
    shares: dict[str, list[float]] = {}
    for row in facts:
        if row.get("core_share"):
            shares.setdefault(row["system"], []).append(float(row["core_share"]))
    return shares


def _compute_cost(cost: CostColumn, members: Sequence[str], facts: Sequence[Mapping[str, str]]) -> float | None:
    """Average a cost over runs and add it up over members; return None if a member lacks it."""
    if len(members) > 1 and not cost.is_additive:
        return None
    total = 0.0
    for member in members:
        run_values = [float(row[cost.fact_key]) for row in facts if row["system"] == member and row.get(cost.fact_key)]
        if not run_values:
            return None
        total += fmean(run_values)
    return total / cost.divisor


def _format_cost(cost: CostColumn, value: float) -> str:
    return f"{value:,.{cost.decimals}f}" + ("M" if cost.fact_key == "parameters" else "")
