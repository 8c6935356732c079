"""A table of results in the papers' layout: systems by sets, with averages and significance marks."""

from collections.abc import Sequence
from pathlib import Path

from pipeline_py import stage
from pipeline_py.report import sheet
from pipeline_py.report.kernel_note import note_on_kernels
from pipeline_py.report.marks import Marks, MarkStyle, of_style
from pipeline_py.report.measured import read_facts
from pipeline_py.report.names import names
from pipeline_py.report.pair import read_comparisons
from pipeline_py.report.published import Published, read_published
from pipeline_py.report.results import Results, read_scores
from pipeline_py.report.table_layout import PrintedTable, TableLayout
from pipeline_py.stage import InputError


def table(
    *,
    title: str,
    row: list[str],
    baseline: str,
    dev: str,
    test: list[str],
    score: list[str],
    output: Path,
    dev_name: str | None = None,
    proposed: list[str] | None = None,
    comparisons: list[str] | None = None,
    facts: list[str] | None = None,
    note: list[str] | None = None,
    label: list[str] | None = None,
    published: Path | None = None,
    published_table: str = "1",
    published_task: str = "",
    published_name: list[str] | None = None,
    mark_style: MarkStyle = "sdatt",
    markdown_output: Path | None = None,
    latex_output: Path | None = None,
) -> None:
    """Lay out BLEU on dev and every test set, its average over the test sets, and the paper's marks.

    The TSV has the columns `system`, the dev set, for each test set its name and `NAME_marks`, and `AVG`; where rows
    have several runs, scores are means over them, and `NAME_sd` their sample standard deviation. The table is printed
    on stderr as well. Dev is never marked and not averaged, as in the papers.

    Args:
        title: headline of the table.
        row: a system's name; give the option once for each, in the table's order.
        baseline: the row that * and ** compare with.
        dev: the development set, as --score names it.
        dev_name: what the table's head calls it, as in "Dev (newstest2012)"; by default the same.
        test: name of a test set; give the option once for each, in the table's order.
        score: ROW:SET=FILE, sacrebleu JSON of one cell; give the option once for each cell, or as ROW:SET:RUN=FILE
            for each of its runs.
        output: the table as TSV.
        proposed: a row that † compares with the best of the other rows, by AVG; repeatable.
        comparisons: TEST=FILE, TSV of `evaluation.comparisons` of a test set; repeatable.
        facts: SYSTEM:RUN=FILE, facts.json of a training behind a row; repeatable.
        note: a further sentence below the table; repeatable.
        label: ROW=NAME, what the table calls a row; repeatable.
        published: numbers that a paper printed for the same data, `workflow/published/*.tsv`; they get columns of
            their own, called `NAME_published` in the TSV.
        published_table: number of the paper's table.
        published_task: the paper's task, as `en-de`.
        published_name: ROW=NAME, what the paper calls a row, where not as its label; repeatable.
        mark_style: sdatt: * p < .05, ** p < .01 against the baseline, † p < .05 against the best; sdrnmt: * and **
            alone, and only behind proposed rows; or none. ↓ stands before the mark of what is significantly worse.
        markdown_output: the table as Markdown.
        latex_output: the table as LaTeX.

    Raises:
        InputError: if a name is unknown or given twice, a score or a comparison is missing, or scores of one set
            were counted differently.
    """
    _check_names(row, [dev, *test], [baseline, *(proposed or [])])
    results = Results(
        rows=row,
        dev=dev,
        tests=test,
        scores=read_scores(score, row, [dev, *test]),
    )
    best = results.best([name for name in row if name not in (proposed or [])])
    labels = names(label or [], row, "--label")
    marks = Marks(
        of_style(mark_style, row, baseline, best, proposed or []),
        "sign",
        read_comparisons(comparisons or []),
        score=lambda name, on, _: results.scores[name, on].bleu,
        labels=labels,
        set_names={},
    )
    printed = None
    if published is not None:
        theirs = {name: labels.get(name, name) for name in row} | names(published_name or [], row, "--published-name")
        printed = PrintedTable(
            _printed(published, published_table, published_task), published_table, published_task, theirs
        )
    further = [*(note or []), *note_on_kernels(read_facts(facts or []), lambda name: labels.get(name, name))]
    layout = TableLayout(results, marks, labels, best, proposed or [], dev_name or dev, printed, further)
    drawn = layout.sheet(title)

    sheet.write(drawn, layout.values(), output, markdown_output, latex_output)


def _printed(path: Path, table: str, task: str) -> list[Published]:
    numbers = read_published(path)
    known = sorted({(number.table, number.task) for number in numbers})
    if (table, task) not in known:
        raise InputError(
            f"the paper prints no table {table} of {task}; it has {', '.join(f'{a} of {b}' for a, b in known)}", path
        )
    return numbers


def _check_names(rows: Sequence[str], sets: Sequence[str], marked: Sequence[str]) -> None:
    for what, given in (("--row", rows), ("--dev or --test", sets)):
        for name in given:
            if given.count(name) > 1:
                raise InputError(f"{what} {name!r} is given twice; give every name once")
    for name in marked:
        if name not in rows:
            raise InputError(f"{name!r} is not a row of the table; the rows are {', '.join(map(repr, rows))}")


if __name__ == "__main__":
    stage.run(table)
