"""How good the parsers of a table's systems are."""

from collections.abc import Sequence

from pipeline_py.evaluation.named_files import named_files
from pipeline_py.syntax import accuracy_table
from pipeline_py.syntax.accuracy_table import Accuracy

METRICS = ("UAS", "LAS", "bracket F1")


def read_accuracies(pairs: Sequence[str]) -> dict[str, dict[str, Accuracy]]:
    """Read `PARSER=FILE`, or `PARSER:TREES=FILE` where both kinds of trees were measured, TSV of `syntax.accuracy`.

    Returns:
        By parser and metric.

    Raises:
        InputError: if a file is no such table.
    """
    accuracies: dict[str, dict[str, Accuracy]] = {}
    for name, path in named_files(pairs, "--parser-accuracy").items():
        found = {accuracy.metric: accuracy for accuracy in accuracy_table.read_accuracies(path)}
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
