"""Every pair of systems on one set, compared with the sign test that the papers used."""

import csv
from itertools import permutations
from pathlib import Path
from typing import Annotated

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.evaluation import bleu
from pipeline_py.evaluation.named_files import by_system, named_files
from pipeline_py.evaluation.sign_test import sign_test
from pipeline_py.evaluation.system_statistics import pooled_alike, read_statistics
from pipeline_py.options import Option
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

    Of several runs of a system (seeds), the outputs of all runs for a sentence are replaced together, and BLEU is that
    of all runs as one corpus. So the trials of the test stay sentences, as many as the set has, and what a run owes
    to its seed averages out, as Clark et al. (2011) ask for; trials of single outputs would count a sentence several
    times over. `bleu_system` and `bleu_other` are means over the runs.

    Args:
        system: NAME:RUN=FILE, the detokenized output of a system's run; give the option once for each (NAME=FILE
            where there is one run). Systems have equally many runs, or a single one.
        reference: a reference translation; give the option once for each.
        output: the comparisons as TSV.
        tokenizer: sacrebleu's tokenizer, the same as for the scores.
        lowercase: case-insensitive BLEU, the same as for the scores.

    Raises:
        InputError: if there are fewer than two systems, their runs differ in number, files differ in length, or a
            reference line is empty.
    """
    systems = by_system(named_files(system, "--system"))
    if len(systems) < 2:
        raise InputError("significance compares systems; give --system NAME=FILE at least twice")
    statistics = read_statistics(systems, reference, tokenizer, lowercase)
    pooled = pooled_alike(statistics)
    scores = {name: of_system.mean_score for name, of_system in statistics.items()}
    with writing(output) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(COLUMNS)
        for name, other in permutations(systems, 2):
            test = sign_test(pooled[name], pooled[other])
            table.writerow((name, other, scores[name], scores[other], test.better, test.worse, test.ties, test.p_value))


if __name__ == "__main__":
    stage.run(significance)
