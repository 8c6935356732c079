"""Columns of published numbers after the columns of a table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline_py.config.tables import (
    AttentionTableConfig,
    MeasureTableConfig,
    ParseTableConfig,
    PublishedNumbersConfig,
    SystemTableConfig,
    VocabularyTableConfig,
)
from pipeline_py.evaluation.metric import get_metric_class
from pipeline_py.report.tables.published_numbers import PublishedNumber, count_decimals, find_published_number
from pipeline_py.report.tables.sheet import MISSING_VALUE, Cell, Column, Sheet
from pipeline_py.report.tables.system_measures import FACT_COLUMNS, is_metric_column, is_scored_column
from pipeline_py.run.errors import InputError

PUBLISHED_NOTE = "(paper): published numbers; the paper may have computed scores differently."

PUBLISHED_MEASURES = {
    "parameters": "parameters (millions)",
    "minutes": "minutes per epoch",
    "perplexity": "perplexity",
    "length_ratio": "brevity penalty",  # the ratio of lengths has this name in Eriguchi et al. (2019), Table 5
    "length": "average length",
}
"""Measures of papers by our columns; metrics have the same label."""

UNITS = {" (thousands)": ("k", 1e3), " (millions)": ("M", 1e6)}
"""Suffix after a number for readers and factor for programs, by the end of a measure."""


@dataclass(frozen=True)
class PublishedTable:
    """The numbers of a paper, and the part that a table of ours names."""

    numbers: Sequence[PublishedNumber]
    options: PublishedNumbersConfig

    def find_number(self, system: str, set_name: str | None, measures: Iterable[str]) -> PublishedNumber | None:
        """Find a number of the paper's table, or else of the sections.

        Args:
            system: name of the row in the paper.
            set_name: name of the set or column in the paper; None for any number of a training.
            measures: alternative names of the measure.
        """
        sets = (
            [set_name]
            if set_name is not None
            else dict.fromkeys(number.set for number in self.numbers if number.role == "train")
        )
        matches = (
            find_published_number(self.numbers, place, self.options.task, system, name, measure)
            for place in (self.options.table, *self.options.sections)
            for measure in measures
            for name in sets
        )
        return next(filter(None, matches), None)


@dataclass(frozen=True)
class PublishedPlace:
    """The set or column of a number in a paper, None for a training, and alternative names of its measure."""

    set_name: str | None
    measures: tuple[str, ...]


def add_published_columns(
    sheet: Sheet,
    options: MeasureTableConfig | ParseTableConfig | VocabularyTableConfig | AttentionTableConfig,
    numbers: Sequence[PublishedNumber],
    dev_name: str | None,
) -> Sheet:
    """Add a column of published numbers for each column that has one, and a note.

    Args:
        sheet: the table.
        options: configuration of the table.
        numbers: the numbers of the paper that it names.
        dev_name: display name of the development set.

    Raises:
        InputError: if `published` names a row, a column, or rows of the paper that do not exist, or no cell of the
            table has a published number.
    """
    if options.published is None:
        return sheet
    published = PublishedTable(numbers, options.published)
    row_names = _find_row_names(sheet, options, options.published)
    places = _find_places(sheet, options, options.published, dev_name)
    columns, cells = [], []
    for column in sheet.columns:
        if (place := places.get(column.name)) is not None:
            matches = [published.find_number(name, place.set_name, place.measures) for name in row_names]
            if any(matches):
                columns.append(Column(f"{column.name}_published", f"{column.head} (paper)", "paper"))
                cells.append(_build_cells(matches, numbers))
    if not columns:
        raise InputError(
            f"table {options.published.table} of the paper has no number of these rows and columns; set `names` and "
            "`columns` of `published`, or leave it out"
        )
    return replace(
        sheet,
        columns=[*sheet.columns, *columns],
        rows=[[*row, *(column[index] for column in cells)] for index, row in enumerate(sheet.rows)],
        notes=[*sheet.notes, PUBLISHED_NOTE],
    )


def _find_row_names(
    sheet: Sheet,
    options: MeasureTableConfig | ParseTableConfig | VocabularyTableConfig | AttentionTableConfig,
    published: PublishedNumbersConfig,
) -> list[str]:
    """Return the names of the rows in the paper."""
    texts = [row[0].text for row in sheet.rows]
    keys = options.systems if isinstance(options, MeasureTableConfig) else [row[0].raw_text for row in sheet.rows]
    if not isinstance(options, SystemTableConfig):
        _check_names("names", "row", published.names, keys)
    return [published.names.get(key, text) for key, text in zip(keys, texts, strict=True)]


def _find_places(
    sheet: Sheet,
    options: MeasureTableConfig | ParseTableConfig | VocabularyTableConfig | AttentionTableConfig,
    published: PublishedNumbersConfig,
    dev_name: str | None,
) -> Mapping[str, PublishedPlace]:
    """Return the place in the paper for each column that may have published numbers."""

    def name_set(split: str) -> str:
        return published.columns.get(split, dev_name or split if split == "dev" else split)

    if isinstance(options, AttentionTableConfig):
        parts = zip(sheet.columns[1:], ("Wrd", "Phr"), strict=True)
        return {column.name: PublishedPlace(name_set(options.set), (part,)) for column, part in parts}
    if isinstance(options, MeasureTableConfig):
        places = {}
        for measure in options.columns:
            if measure in FACT_COLUMNS and measure in PUBLISHED_MEASURES:
                is_training_cost = measure != "perplexity"
                places[measure] = PublishedPlace(
                    None if is_training_cost else name_set("dev"), (PUBLISHED_MEASURES[measure],)
                )
            elif is_scored_column(measure):
                label = (
                    get_metric_class(measure).label if is_metric_column(measure) else PUBLISHED_MEASURES.get(measure)
                )
                for split in options.sets if label else []:
                    name = f"{measure}_{split}" if len(options.sets) > 1 else measure
                    places[name] = PublishedPlace(name_set(split), (str(label),))
        return places
    keys = [column.name for column in sheet.columns[1:]]
    _check_names("columns", "column", published.columns, keys)
    measures = ("sentences",) if isinstance(options, ParseTableConfig) else ("vocabulary", "vocabulary (thousands)")
    return {
        column.name: PublishedPlace(published.columns.get(column.name, column.head), measures)
        for column in sheet.columns[1:]
    }


def _check_names(key: str, noun: str, names: Iterable[str], known_names: Sequence[str]) -> None:
    for name in names:
        if name not in known_names:
            raise InputError(f"`published.{key}`: the table has no {noun} {name!r}; it has {', '.join(known_names)}")


def _build_cells(matches: Sequence[PublishedNumber | None], numbers: Iterable[PublishedNumber]) -> list[Cell]:
    """Build the cells of a column, with as many decimals as the paper prints of this measure."""
    places = {(match.table, match.metric) for match in matches if match is not None}
    decimals = count_decimals(number.value for number in numbers if (number.table, number.metric) in places)
    return [Cell(MISSING_VALUE, "") if match is None else _build_cell(match, decimals) for match in matches]


def _build_cell(number: PublishedNumber, decimals: int) -> Cell:
    for end, (suffix, factor) in UNITS.items():
        if number.metric.endswith(end):
            return Cell(f"{number.value:.{decimals}f}{suffix}", f"{number.value * factor:.0f}")
    return Cell(f"{number.value:,.{decimals}f}", f"{number.value:.{decimals}f}")
