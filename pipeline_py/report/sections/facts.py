"""The facts of all trainings behind a table; what is the same of all of them is said once."""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

from pipeline_py.report.page_parts import PageSection
from pipeline_py.report.render_facts import LOCAL_ORIGIN
from pipeline_py.report.sections.scores_and_costs import read_facts_table
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tables.sheet import MISSING_VALUE, Cell, Sheet, build_sheet

PAGE_ORDER = 100


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    path = chapter.manifest.find_file("facts", chapter.table_name)
    if path is not None:
        yield PageSection(
            "Facts of the trainings",
            tables=[build_fact_table(read_facts_table(path), chapter.display_names)],
            is_folded=True,
        )


def build_fact_table(rows: Sequence[Mapping[str, str]], display_names: Mapping[str, str]) -> Sheet:
    """Lay out facts, a row for each training.

    Args:
        rows: as `costs.read_facts` reads them.
        display_names: what systems are called; members of an ensemble go by their own name.
    """
    columns = [column for column in (rows[0] if rows else {}) if column != "system"]
    values = {column: {row[column] for row in rows} for column in columns}
    differing = [column for column in columns if len(values[column]) > 1]
    same = [
        f"{column.replace('_', ' ')}: {value}"
        for column in columns
        if len(values[column]) == 1
        for value in values[column]
        if value
    ]
    outside = [
        display_names.get(row["system"], row["system"])
        for row in rows
        if row.get("origin", LOCAL_ORIGIN) != LOCAL_ORIGIN
    ]
    notes = [f"The same for all: {'; '.join(same)}."] if same else []
    if outside:
        notes.append(f"Translations from elsewhere, of whose training nothing more is known: {', '.join(outside)}.")
    return build_sheet(
        "Facts of each training, from its facts.json: updates, epochs, target words per second, seconds, loss and "
        "perplexity on dev, versions.",
        ["System", *(column.replace("_", " ") for column in differing)],
        [
            [
                display_names.get(row["system"], row["system"]),
                *(
                    _format_value(
                        row[column], "unknown" if row.get("origin", LOCAL_ORIGIN) != LOCAL_ORIGIN else MISSING_VALUE
                    )
                    for column in differing
                ),
            ]
            for row in rows
        ],
        notes=notes,
    )


def _format_value(text: str, placeholder: str) -> Cell:
    """A number with no more decimals than matter, or what stands where there is no value."""
    try:
        value = float(text)
    except ValueError:
        return Cell(text or placeholder)
    whole = isfinite(value) and value == int(value) and "." not in text
    return Cell(f"{value:,.0f}" if whole or abs(value) >= 1000 else f"{value:.4g}", text)
