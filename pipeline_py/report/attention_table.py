"""Whether a system attends to words or to phrases (tree2seq Table 12)."""

from pathlib import Path

from pipeline_py import stage
from pipeline_py.report import sheet
from pipeline_py.report.names import names
from pipeline_py.report.sheet import Cell, Sheet
from pipeline_py.report.tsv_rows import count, number, read_rows

COLUMNS = ("system", "threshold", "words", "phrases", "generated_words")


def attention_table(
    *,
    title: str,
    shares: Path,
    label: list[str] | None = None,
    output: Path,
    markdown_output: Path | None = None,
    latex_output: Path | None = None,
) -> None:
    """Lay out shares of high attention weights: a row for each threshold, words and phrases of each system.

    Args:
        title: headline of the table.
        shares: TSV of `evaluation.attention_shares`.
        label: SYSTEM=NAME, what the table calls a system; repeatable.
        output: the table as TSV.
        markdown_output: the table as Markdown.
        latex_output: the table as LaTeX.

    Raises:
        InputError: if the file holds no shares, or a label belongs to no system.
    """
    rows = read_rows(shares, COLUMNS)
    systems = list(dict.fromkeys(row["system"] for row in rows))
    called = {system: system for system in systems} | names(label or [], systems, "--label")
    heads = [
        f"{part} (%)" if len(systems) == 1 else f"{called[system]} {part} (%)"
        for system in systems
        for part in ("Wrd", "Phr")
    ]
    table: dict[str, list[str]] = {}
    for row in rows:
        table.setdefault(row["threshold"], []).extend(
            f"{number(row, part, shares):.1f}" for part in ("words", "phrases")
        )
    generated = {row["system"]: count(row, "generated_words", shares) for row in rows}
    drawn = Sheet(
        title,
        ["", *heads],
        [[Cell(f"α > {threshold}"), *map(Cell, cells)] for threshold, cells in table.items()],
        notes=[
            "Shares of the five highest weights at each generated word that lie on a word or phrase and exceed α.",
            *(f"{called[system]} generated {words:,} words." for system, words in generated.items()),
        ],
    )
    values = ["threshold", *(f"{part}_{system}" for system in systems for part in ("words", "phrases"))]
    sheet.write(
        drawn,
        (values, [[threshold, *cells] for threshold, cells in table.items()]),
        output,
        markdown_output,
        latex_output,
    )


if __name__ == "__main__":
    stage.run(attention_table)
