"""A table of any measures of systems: facts of their trainings, and scores on any sets."""

from pathlib import Path
from statistics import fmean
from typing import Annotated

from pipeline_py import stage
from pipeline_py.config.tables import MeasureTable
from pipeline_py.options import Option
from pipeline_py.report import sheet
from pipeline_py.report.marks import Marks
from pipeline_py.report.measured import Measured, read_facts, read_measures, read_settings
from pipeline_py.report.measures_layout import MeasuresLayout
from pipeline_py.report.names import names
from pipeline_py.report.pair import read_comparisons
from pipeline_py.report.parser_accuracy import read_accuracies, sentences_about


def measures(
    *,
    table: str,
    score: list[str] | None = None,
    facts: list[str] | None = None,
    setting: list[str] | None = None,
    note: list[str] | None = None,
    comparisons: list[str] | None = None,
    set_name: list[str] | None = None,
    parser_accuracy: list[str] | None = None,
    lowercase_trees: Annotated[bool, Option("--lowercase-trees")] = False,
    output: Path,
    markdown_output: Path | None = None,
    latex_output: Path | None = None,
) -> None:
    """Lay out what is known of some systems on some sets, with the marks of the paired bootstrap.

    The TSV has the columns `system`, then those that are asked for; a measure of several sets is called
    `MEASURE_SET`. A score that may be marked has `NAME_marks` behind it; where rows have several runs, numbers are
    means over them, and `NAME_sd` is their sample standard deviation. The table is printed on stderr as well.

    Args:
        table: one of `tables` of the configuration, of type measures, as JSON.
        score: SYSTEM:SET:RUN:METRIC=FILE, sacrebleu JSON of `evaluation.score`, METRIC being bleu or ribes; repeatable.
        facts: SYSTEM:RUN=FILE, facts.json of a training; repeatable.
        setting: SYSTEM:COLUMN=TEXT, what the configuration says of a system in a column; repeatable.
        note: a further sentence below the table; repeatable.
        comparisons: SET=FILE, TSV of `evaluation.comparisons`; needed for every set where the table has marks;
            repeatable.
        set_name: SET=NAME, what the table calls a set; repeatable.
        parser_accuracy: PARSER:TREES=FILE, TSV of `syntax.accuracy` of a parser that a system reads; repeatable.
        lowercase_trees: the parsers saw lower-cased text, and were measured on such.
        output: the table as TSV.
        markdown_output: the table as Markdown.
        latex_output: the table as LaTeX.

    Raises:
        InputError: if a file is malformed, or what a column needs is missing.
    """
    from pipeline_py.config.base import from_json

    options = from_json(MeasureTable, table, "--table")
    measured = Measured(
        scores=read_measures(score or []),
        facts=read_facts(facts or []),
        settings=read_settings(setting or []),
    )
    set_names = names(set_name or [], options.sets, "--set-name")
    marks = Marks(
        [options.marks],
        "bootstrap",
        read_comparisons(comparisons or []),
        score=lambda row, on, metric: fmean(measured.of_score(row, on, metric)),
        labels=options.labels,
        set_names=set_names,
    )
    about_parsers = sentences_about(read_accuracies(parser_accuracy or []), lowercase_trees)
    layout = MeasuresLayout(options, measured, marks, set_names, [*(note or []), *about_parsers])
    drawn = layout.sheet()
    sheet.write(drawn, layout.values(), output, markdown_output, latex_output)


if __name__ == "__main__":
    stage.run(measures)
