"""How good the parsers of a table's systems are."""

from collections.abc import Mapping
from pathlib import Path

from pipeline_py.syntax import measures
from pipeline_py.syntax.measures import RAW_TEXT, Accuracy

METRICS = ("UAS", "LAS", f"UAS{RAW_TEXT}", f"LAS{RAW_TEXT}", "bracket F1")


def read_accuracies(files: Mapping[tuple[str, ...], Path]) -> dict[str, dict[str, Accuracy]]:
    """Read TSV of `syntax.accuracy` by parser, and kind of trees where both were measured.

    Returns:
        By parser and metric.

    Raises:
        InputError: if a file is no such table.
    """
    accuracies: dict[str, dict[str, Accuracy]] = {}
    for (parser, *_), path in files.items():
        found = {accuracy.metric: accuracy for accuracy in measures.read_accuracies(path)}
        accuracies.setdefault(parser, {}).update(found)
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
