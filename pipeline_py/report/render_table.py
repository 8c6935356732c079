"""Render a table of scores and other measures of systems, or of counts of texts."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from pipeline_py.config.tables import (
    AnyTableConfig,
    AttentionTableConfig,
    BleuTableConfig,
    ParseTableConfig,
    VocabularyTableConfig,
)
from pipeline_py.report.answers import group_answer_sentences, read_answers
from pipeline_py.report.stage_results import read_ceilings
from pipeline_py.report.tables import count_tables, renderings
from pipeline_py.report.tables.published_columns import add_published_columns
from pipeline_py.report.tables.published_numbers import PublishedNumber, read_published_numbers
from pipeline_py.report.tables.score_table import build_bleu_sheet, build_measures_sheet
from pipeline_py.report.tables.sheet import InputFiles, Sheet
from pipeline_py.report.tables.system_comparison import read_comparison_index
from pipeline_py.report.tables.system_measures import (
    describe_parser_accuracies,
    get_column_metric,
    is_scored_column,
    read_parser_accuracies,
    read_system_measures,
)
from pipeline_py.run.errors import InputError


def render_table(
    *,
    description: dict[str, Any],
    files: dict[str, dict[str, Path]],
    tsv_output: Path,
    sheet_output: Path,
    markdown_output: Path,
    latex_output: Path,
) -> None:
    """Render a table of the configuration in all formats, and print it on stderr.

    The first column of the TSV names the row; lines at its end that begin with `# ` name rows that depart from their
    papers. The column `NAME_marks` follows a score that can have marks. With several runs, numbers are means, and
    `NAME_sd` is their sample standard deviation. A table of type `bleu` has a column for each set, named like the set,
    and `AVG`. `NAME_published` has the numbers of a paper. Columns of further metrics are named `METRIC_SET`, as are
    those of a table of type `measures` with several sets.

    Args:
        description: The plan's description of the table: `table`, one of `tables` of the configuration;
            `dev`, the name of the development set; `tests`, the test sets; `metrics` of a table of type `bleu`;
            `settings` by system and column; `contrastive`, the contrastive sets; `set_names`; `notes` below the table;
            `lowercase_trees`, whether parsers read lower-cased text.
        files: Inputs by kind and name. For scores: `statistics` by SYSTEM:RUN:SET, `comparisons` by SET, `facts` by
            SYSTEM:RUN, `parsed` by SET if only parsed sentences are scored, `correct` and `contrastive` by
            SYSTEM:RUN:SET and `pairs` by SET for each contrastive set, `accuracy` by PARSER:TREES, and with an empty
            name `claims`, `exclusions` and `ceiling`. For counts: `counts` by SPLIT, `original`, `generalised` and
            `bpe` by LANGUAGE, or `shares`. For all tables with published numbers: `published` with an empty name.
        tsv_output: The table as TSV.
        sheet_output: The table as JSON, the source of the report.
        markdown_output: The table as Markdown, followed by the verdicts on claims.
        latex_output: The table as LaTeX.

    Raises:
        InputError: if files of one set differ in length or signature, a user's file is malformed, or `published` names
            what the paper or the table does not have.
    """
    options: AnyTableConfig = TypeAdapter(AnyTableConfig).validate_python(description["table"])
    inputs = InputFiles(files)
    sheet: Sheet
    numbers = _read_published_numbers(options, inputs)
    answers = [answer for path in inputs.get_files("claims").values() for answer in read_answers(path)]
    if isinstance(options, ParseTableConfig):
        sheet = count_tables.build_parse_sheet(options, inputs, description.get("parser_chain", []))
    elif isinstance(options, VocabularyTableConfig):
        sheet = count_tables.build_vocabulary_sheet(options, inputs)
    elif isinstance(options, AttentionTableConfig):
        sheet = count_tables.build_attention_sheet(options, inputs)
    else:
        comparisons = read_comparison_index(
            {set_name: path for (set_name,), path in inputs.get_files("comparisons").items()}
        )
        ceilings = [ceiling for path in inputs.get_files("ceiling").values() for ceiling in read_ceilings(path)]
        sets = {split for *_, split in inputs.get_files("statistics")}
        notes = [ceiling.warning_message for ceiling in ceilings if ceiling.is_low and ceiling.set in sets]
        notes += description["notes"]
        if isinstance(options, BleuTableConfig):
            measures = read_system_measures(inputs, options.systems, description["metrics"], description)
            sheet = build_bleu_sheet(
                options,
                measures,
                comparisons,
                description["dev"],
                description["metrics"],
                numbers,
                notes,
            )
        else:
            metrics = [*dict.fromkeys(map(get_column_metric, filter(is_scored_column, options.columns)))]
            measures = read_system_measures(inputs, options.systems, metrics, description)
            accuracies = read_parser_accuracies(inputs.get_files("accuracy"))
            notes += describe_parser_accuracies(accuracies, description["lowercase_trees"])
            sheet = build_measures_sheet(options, measures, comparisons, description["set_names"], notes)
        sheet = replace(sheet, departures=description.get("departures", []))
    if not isinstance(options, BleuTableConfig):
        sheet = add_published_columns(sheet, options, numbers, description.get("dev"))
    renderings.write_sheet(
        sheet, tsv_output, sheet_output, markdown_output, latex_output, group_answer_sentences(answers)
    )


def _read_published_numbers(options: AnyTableConfig, files: InputFiles) -> list[PublishedNumber]:
    """Read the numbers of the paper that a table names."""
    selection = options.published
    if selection is None:
        return []
    path = files.get_single_file("published")
    numbers = read_published_numbers(path)
    available_tables = sorted({(number.table, number.task) for number in numbers})
    if (selection.table, selection.task) not in available_tables:
        raise InputError(
            f"the paper has no table {selection.table} of {selection.task}; "
            f"it has {', '.join(f'{table} of {task}' for table, task in available_tables)}",
            path,
        )
    places = (selection.table, *selection.sections)
    selected = [number for number in numbers if number.table in places and number.task == selection.task]
    for key, names, known_names in (
        ("sections", selection.sections, {number.table for number in selected}),
        ("names", selection.names.values(), {number.system for number in selected}),
        ("columns", selection.columns.values(), {number.set for number in selected}),
    ):
        for name in names:
            if name not in known_names:
                raise InputError(
                    f"`published.{key}` names {name!r}, which the paper does not have there; it has "
                    f"{', '.join(sorted(known_names))}",
                    path,
                )
    return numbers
