"""Join the accuracy tables of a parser for all kinds of trees."""

from pathlib import Path

from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.syntax.parser_measures import AccuracyRow, read_accuracy_rows


def join_accuracies(*, input: list[Path], output: Path) -> None:
    """Join the accuracy tables of one parser, in the given order.

    Args:
        input: TSV files of `measure_accuracy`.
        output: TSV with the rows of all input files.
    """
    write_tsv(output, AccuracyRow._fields, [row for path in input for row in read_accuracy_rows(path)])
