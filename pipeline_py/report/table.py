"""A table of results in the papers' layout: systems by sets, with averages and significance marks."""

import sys
from collections.abc import Sequence
from pathlib import Path

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.report import sheet
from pipeline_py.report.marks import Marker, MarkStyle
from pipeline_py.report.results import Results, read_comparisons, read_scores
from pipeline_py.report.sheet import Cell, Sheet
from pipeline_py.stage import InputError

AVERAGE = "AVG"


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
    significance: list[str] | None = None,
    mark_style: MarkStyle = "sdatt",
    markdown_output: Path | None = None,
    latex_output: Path | None = None,
) -> None:
    """Lay out BLEU on dev and every test set, its average over the test sets, and the paper's marks.

    The TSV has the columns `system`, the dev set, for each test set its name and `NAME_marks`, and `AVG`. The table
    is printed on stderr as well. Dev is never marked and not averaged, as in the papers.

    Args:
        title: headline of the table.
        row: a system's name; give the option once for each, in the table's order.
        baseline: the row that * and ** compare with.
        dev: the development set, as --score names it.
        dev_name: what the table's head calls it, as in "Dev (newstest2012)"; by default the same.
        test: name of a test set; give the option once for each, in the table's order.
        score: ROW:SET=FILE, sacrebleu JSON of one cell; give the option once for each cell.
        output: the table as TSV.
        proposed: a row that † compares with the best of the other rows, by AVG; repeatable.
        significance: TEST=FILE, the sign tests of a test set; repeatable.
        mark_style: sdatt: * p < .05, ** p < .01 against the baseline, † p < .05 against the best; or none.
        markdown_output: the table as Markdown.
        latex_output: the table as LaTeX.

    Raises:
        InputError: if a name is unknown or given twice, a score or a sign test is missing, or scores of one set
            were counted differently.
    """
    _check_names(row, [dev, *test], [baseline, *(proposed or [])])
    results = Results(
        rows=row,
        dev=dev,
        tests=test,
        scores=read_scores(score, row, [dev, *test]),
        comparisons=read_comparisons(significance or [], test),
    )
    best = results.best([name for name in row if name not in (proposed or [])])
    marker = Marker(results=results, style=mark_style, baseline=baseline, best=best, proposed=proposed or [])
    layout = _layout(title, dev_name or dev, results, marker)

    with writing(output) as file:
        sheet.write_tsv(file, *_values(results, layout))
    for path, render in ((markdown_output, sheet.markdown), (latex_output, sheet.latex)):
        if path is not None:
            with writing(path) as file:
                file.write(render(layout))
    sys.stderr.write(sheet.plain(layout))


def _check_names(rows: Sequence[str], sets: Sequence[str], marked: Sequence[str]) -> None:
    for what, names in (("--row", rows), ("--dev or --test", sets)):
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"{what} {name!r} is given twice; give every name once")
    for name in marked:
        if name not in rows:
            raise InputError(f"{name!r} is not a row of the table; the rows are {', '.join(map(repr, rows))}")


def _layout(title: str, dev_name: str, results: Results, marker: Marker) -> Sheet:
    dev = "Dev" if dev_name.lower() == "dev" else f"Dev ({dev_name})"
    averaged = f"{AVERAGE} is the mean over the test sets."
    return Sheet(
        title=title,
        columns=["System", dev, *results.tests, AVERAGE],
        rows=[_row(name, results, marker) for name in results.rows],
        notes=[*marker.legend(), averaged, *_signature_notes(results.signatures())],
        bold_means=f"better than the best baseline, {marker.best}" if marker.best and marker.proposed else "",
    )


def _row(name: str, results: Results, marker: Marker) -> list[Cell]:
    compared = marker.best if name in marker.proposed else None

    def is_bold(test: str) -> bool:
        return compared is not None and results.scores[name, test].bleu > results.scores[compared, test].bleu

    average = results.average(name)
    return [
        Cell(name),
        Cell(f"{results.scores[name, results.dev].bleu:.2f}"),
        *(
            Cell(f"{results.scores[name, test].bleu:.2f}", marks=marker.marks(name, test), bold=is_bold(test))
            for test in results.tests
        ),
        Cell(f"{average:.2f}", bold=compared is not None and average > results.average(compared)),
    ]


def _signature_notes(signatures: dict[str, str]) -> list[str]:
    if len(set(signatures.values())) == 1:
        return [f"BLEU by sacrebleu: {next(iter(signatures.values()))}."]
    return [f"BLEU on {name} by sacrebleu: {signature}." for name, signature in signatures.items()]


def _values(results: Results, layout: Sheet) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the TSV, marks apart from numbers."""
    columns = ["system", results.dev, *(part for test in results.tests for part in (test, f"{test}_marks")), AVERAGE]
    rows = [
        [name.text, dev.text, *(part for cell in tests for part in (cell.text, cell.marks)), average.text]
        for name, dev, *tests, average in layout.rows
    ]
    return columns, rows


if __name__ == "__main__":
    stage.run(table)
