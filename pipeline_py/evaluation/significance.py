"""Every pair of systems on one set, compared with the sign test that the papers used."""

import csv
from itertools import permutations
from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Option

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.evaluation import bleu
from pipeline_py.evaluation.named_files import named_files
from pipeline_py.evaluation.sign_test import sign_test
from pipeline_py.progress import progress
from pipeline_py.stage import InputError

COLUMNS = ("system", "other", "bleu_system", "bleu_other", "better", "worse", "ties", "p_value")


def significance(
    *,
    system: list[str],
    reference: list[Path],
    output: Path,
    tokenizer: bleu.Tokenizer = "13a",
    lowercase: Annotated[bool, Option("--lowercase/--cased")] = True,
) -> None:
    """Compare systems pairwise with the sign test of Collins et al. (2005); two-sided, uncorrected p-values.

    The output has one row for every ordered pair: `system` is tested against the baseline `other`; `better`,
    `worse` and `ties` count the sentences that raise, lower or leave BLEU when they replace the baseline's.

    Args:
        system: NAME=FILE, a system's detokenized output; give the option once for each system.
        reference: a reference translation; give the option once for each.
        output: the comparisons as TSV.
        tokenizer: sacrebleu's tokenizer, the same as for the scores.
        lowercase: case-insensitive BLEU, the same as for the scores.

    Raises:
        InputError: if there are fewer than two systems, files differ in length, or a reference line is empty.
    """
    outputs = named_files(system, "--system")
    if len(outputs) < 2:
        raise InputError("significance compares systems; give --system NAME=FILE at least twice")
    statistics = _statistics(list(outputs.values()), reference, tokenizer, lowercase)
    by_name = dict(zip(outputs, statistics, strict=True))
    scores = {name: bleu.corpus_score(values).score for name, values in by_name.items()}
    with writing(output) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(COLUMNS)
        for name, other in permutations(outputs, 2):
            test = sign_test(by_name[name], by_name[other])
            table.writerow((name, other, scores[name], scores[other], test.better, test.worse, test.ties, test.p_value))


def _statistics(outputs: list[Path], references: list[Path], tokenizer: bleu.Tokenizer, lowercase: bool) -> np.ndarray:
    """Statistics of every sentence of every system, (systems, sentences, 10)."""
    metric = bleu.metric(tokenizer, lowercase)
    rows = [
        [bleu.sentence_statistics(metric, line, lines[len(outputs) :]) for line in lines[: len(outputs)]]
        for lines in progress(bleu.read_sentences(outputs, references), "significance")
    ]
    return np.array(rows, dtype=np.int64).transpose(1, 0, 2)


if __name__ == "__main__":
    stage.run(significance)
