"""Import another system's scores of the two translations of each contrastive pair."""

from math import isfinite
from pathlib import Path

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.text_files import read_lines
from pipeline_py.run.errors import InputError

REQUIRED_COLUMNS = ("correct", "contrastive")


def import_scores(*, scores: Path, pairs: Path, name: str, correct_output: Path, contrastive_output: Path) -> None:
    """Import scores of both translations of all pairs of a contrastive set.

    Args:
        scores: TSV with a header that has the columns `correct` and `contrastive`, and a row for each pair, in order:
            log probabilities, or any other numbers that are higher for better translations. Plain or compressed.
        pairs: The properties of the pairs, from `corpus.split_contrastive_pairs`.
        name: Name of the set, for messages.
        correct_output: TSV with the column `log_probability`, as `nmt.force_decode` writes it.
        contrastive_output: The same for the contrastive translations.

    Raises:
        InputError: a column is missing, a row is not as long as the header, a score is no number, or there are more or
            fewer rows than pairs.
    """
    rows = [line.split("\t") for line in read_lines(scores)]
    header = rows[0] if rows else []
    if missing := [column for column in REQUIRED_COLUMNS if column not in header]:
        raise InputError(f"the file has no column `{missing[0]}`; begin it with a header of such columns", scores, 1)
    expected = sum(1 for _ in read_lines(pairs)) - 1
    if len(rows) - 1 != expected:
        raise InputError(
            f"the file has scores of {len(rows) - 1:,} pairs and the set `{name}` has {expected:,}; give a row for "
            "each",
            scores,
        )
    cells = [
        [_validate_score_cell(row, header.index(column), len(header), scores, line) for column in REQUIRED_COLUMNS]
        for line, row in enumerate(rows[1:], start=2)
    ]
    for output, column in zip((correct_output, contrastive_output), zip(*cells, strict=True), strict=True):
        with open_atomic_text_file(output) as file:
            file.write("log_probability\n")
            file.writelines(f"{number}\n" for number in column)


def _validate_score_cell(row: list[str], column_index: int, cell_count: int, path: Path, line_number: int) -> str:
    """Return the cell if it is a finite number."""
    if len(row) != cell_count:
        raise InputError(
            f"the row has {len(row)} cells and the header {cell_count}; separate them by tabs", path, line_number
        )
    try:
        is_number = isfinite(float(row[column_index]))
    except ValueError:
        is_number = False
    if not is_number:
        raise InputError(f"`{row[column_index]}` is no number; give the score of the translation", path, line_number)
    return row[column_index].strip()
