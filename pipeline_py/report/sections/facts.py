"""Section with the facts of all trainings of a table; equal values are listed once."""

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
        rows: rows as `read_facts_table` returns them.
        display_names: display names of systems; members of an ensemble have none and keep their names.
    """
    columns = [column for column in (rows[0] if rows else {}) if column != "system"]
    values = {column: {row[column] for row in rows} for column in columns}
    differing_columns = [column for column in columns if len(values[column]) > 1]
    shared_facts = [
        f"{column.replace('_', ' ')}: {value}"
        for column in columns
        if len(values[column]) == 1
        for value in values[column]
        if value
    ]
    external_systems = [
        display_names.get(row["system"], row["system"])
        for row in rows
        if row.get("origin", LOCAL_ORIGIN) != LOCAL_ORIGIN
    ]
    notes = [f"The same for all: {'; '.join(shared_facts)}."] if shared_facts else []
    if external_systems:
        notes.append(f"External translations, with unknown training: {', '.join(external_systems)}.")
    return build_sheet(
        "Facts of each training, from its facts.json: updates, epochs, target words per second, seconds, loss and "
        "perplexity on dev, versions.",
        ["System", *(column.replace("_", " ") for column in differing_columns)],
        [
            [
                display_names.get(row["system"], row["system"]),
                *(
                    _format_value(
                        row[column], "unknown" if row.get("origin", LOCAL_ORIGIN) != LOCAL_ORIGIN else MISSING_VALUE
                    )
                    for column in differing_columns
                ),
            ]
            for row in rows
        ],
        notes=notes,
    )


def _format_value(text: str, placeholder: str) -> Cell:
    """Format a number with four significant digits; return other text unchanged and the placeholder for empty text."""
    try:
        value = float(text)
    except ValueError:
        return Cell(text or placeholder)
    is_integer = isfinite(value) and value == int(value) and "." not in text
    return Cell(f"{value:,.0f}" if is_integer or abs(value) >= 1000 else f"{value:.4g}", text)
