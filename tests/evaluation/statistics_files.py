"""Statistics of outputs that are written out, as the stages that read them are given them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_py.evaluation.compute_metric_statistics import compute_metric_statistics
from pipeline_py.evaluation.metric import get_metric_class
from tests.text_files import write_lines


def write_output_statistics(
    folder: Path,
    outputs: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    metrics: Sequence[str] = ("bleu",),
    **options: Any,
) -> dict[str, Path]:
    """Write the statistics of each output, and return their files by the name of the output."""
    files = [write_lines(folder / f"reference{place}", lines) for place, lines in enumerate(references)]
    paths = {}
    for name, lines in outputs.items():
        path = folder / f"{name.replace(':', '-')}.arrow"
        hypothesis = write_lines(folder / name.replace(":", "-"), lines)
        compute_metric_statistics(hypothesis=hypothesis, references=files, output=path, metrics=[*metrics], **options)
        paths[name] = path
    return paths


def compute_statistics(
    lines: list[str], references: list[list[str]], metric: str = "bleu", lowercase: bool = True
) -> np.ndarray:
    """Statistics of one run, (1, sentences, statistics)."""
    return np.array([get_metric_class(metric)("13a", lowercase, references).compute_sentence_statistics(lines)])
