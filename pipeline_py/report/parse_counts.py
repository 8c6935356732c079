"""How many sentences of every split a parser has parsed (tree2seq Tables 1 and 2)."""

import json
from pathlib import Path

from pipeline_py import stage
from pipeline_py.evaluation.named_files import named_files
from pipeline_py.report import sheet
from pipeline_py.report.sheet import Cell, Sheet
from pipeline_py.stage import InputError
from pipeline_py.syntax.binarize import FAILED

COLUMNS = ("Sentences", "Parsed successfully", "Parsed unsuccessfully")


def parse_counts(
    *,
    title: str,
    split: list[str],
    output: Path,
    markdown_output: Path | None = None,
    latex_output: Path | None = None,
) -> None:
    """Lay out how many sentences have a tree, and for how many words alone are used.

    Args:
        title: headline of the table.
        split: NAME=FILE, what `syntax.binarize` counted of a split; give the option once for each, in order.
        output: the table as TSV.
        markdown_output: the table as Markdown.
        latex_output: the table as LaTeX.

    Raises:
        InputError: if a file does not hold such counts.
    """
    rows = [(name, *_counts(path)) for name, path in named_files(split, "--split").items()]
    drawn = Sheet(
        title, ["", *COLUMNS], [[Cell(name), *(Cell(f"{number:,}") for number in counts)] for name, *counts in rows]
    )
    sheet.write(
        drawn,
        (["split", "sentences", "parsed", "failed"], [[name, *map(str, counts)] for name, *counts in rows]),
        output,
        markdown_output,
        latex_output,
    )


def _counts(path: Path) -> tuple[int, int, int]:
    """Sentences of a ledger, parsed ones, failed ones."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        sentences, failed = int(content["in"]), int(content["noted"].get(FAILED, 0))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError("the file is no ledger of `syntax.binarize`; make the trees binary again", path) from None
    return sentences, sentences - failed, failed


if __name__ == "__main__":
    stage.run(parse_counts)
