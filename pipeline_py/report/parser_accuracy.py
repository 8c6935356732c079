"""How good the parsers of a table's systems are."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline_py.evaluation.named_files import named_files
from pipeline_py.stage import InputError
from pipeline_py.text import read_lines

METRICS = ("UAS", "LAS", "bracket F1")


@dataclass(frozen=True)
class Accuracy:
    """One metric of a parser, in percent as it is written, and on how many sentences it was measured."""

    value: str
    sentences: str


def read_accuracies(pairs: Sequence[str]) -> dict[str, dict[str, Accuracy]]:
    """Read `PARSER=FILE`, or `PARSER:TREES=FILE` where both kinds of trees were measured, TSV of `syntax.accuracy`.

    Returns:
        By parser and metric.

    Raises:
        InputError: if a file is no such table.
    """
    accuracies: dict[str, dict[str, Accuracy]] = {}
    for name, path in named_files(pairs, "--parser-accuracy").items():
        lines = csv.DictReader(read_lines(path), delimiter="\t")
        if not {"metric", "value"} <= set(lines.fieldnames or ()):
            raise InputError("the file has no columns metric and value; measure the parser again", path, 1)
        found = {row["metric"]: Accuracy(row["value"], row.get("sentences") or "") for row in lines}
        accuracies.setdefault(name.partition(":")[0], {}).update(found)
    return accuracies


def sentences_about(accuracies: dict[str, dict[str, Accuracy]], lowercase: bool) -> list[str]:
    """Say of each parser how good it is."""
    where = "lower-cased sentences" if lowercase else "sentences"
    return [
        f"Parser {parser}: {metric} {found[metric].value} on {found[metric].sentences} held-out {where}."
        for parser, found in accuracies.items()
        for metric in METRICS
        if metric in found
    ]
