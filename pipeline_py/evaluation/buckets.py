"""BLEU by groups of similar sentences: by source length, as in the figures of the SDAtt and SDRNMT papers."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.evaluation import bleu, group_scores
from pipeline_py.evaluation.named_files import named_file, named_files
from pipeline_py.evaluation.sentence_groups import LENGTH_BOUNDS, check_bounds, grouped
from pipeline_py.evaluation.system_statistics import SystemStatistics
from pipeline_py.options import Option
from pipeline_py.progress import progress
from pipeline_py.stage import InputError
from pipeline_py.text import tokens_of

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

COLUMNS = ("feature", "group", "from", "to", *group_scores.COLUMNS)
LENGTH = "length"


def buckets(
    *,
    system: list[str],
    reference: list[str],
    source: list[str],
    output: Path,
    bounds: list[int] | None = None,
    tokenizer: bleu.Tokenizer = "13a",
    lowercase: Annotated[bool, Option("--lowercase/--cased")] = True,
) -> None:
    """Score groups of sentences of similar source length, over all test sets together.

    BLEU of a group is the corpus BLEU of its sentences; `bleu` is its mean over a system's runs and `sd` the sample
    standard deviation over them, empty for a single run; `bleu_low` and `bleu_high` are the ends of its 95 % interval
    (`group_scores`). A group holds lengths with `from` < length <= `to`; an empty field stands for an open end. Groups
    without a sentence are left out.

    Args:
        system: NAME:RUN:SET=FILE, detokenized output of one run (training seed) of a system on one set; no name
            holds a ':' or '='. Give the option once for every run and set.
        reference: SET=FILE, a reference translation of a set; repeatable for one set, which then has several.
        source: SET=FILE, the tokenized source of a set, in words; give the option once for each set.
        output: the scores as TSV, by group and then by system.
        bounds: longest length of a group; give the option once for each, rising. By default 10, 20 … 80. One more
            group follows where there are longer sentences.
        tokenizer: sacrebleu's tokenizer, the same as for the scores.
        lowercase: case-insensitive BLEU, the same as for the scores.

    Raises:
        InputError: if files of a set differ in length, a run lacks a set, a set lacks a reference, a reference line
            is empty, or bounds do not rise.
    """
    bounds = list(LENGTH_BOUNDS) if bounds is None else bounds
    check_bounds(bounds)
    sources = named_files(source, "--source")
    references = _references(reference, list(sources))
    outputs = _outputs(system, list(sources))
    if not outputs:
        raise InputError("no system to score; give --system NAME:RUN:SET=FILE")
    lengths, statistics = _read(sources, references, outputs, bleu.metric(tokenizer, lowercase))
    rows_of: dict[str, list[int]] = {}
    for row, (name, _) in enumerate(outputs):
        rows_of.setdefault(name, []).append(row)
    systems = {name: SystemStatistics(statistics[rows]) for name, rows in rows_of.items()}
    with writing(output) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(COLUMNS)
        for group, members in grouped(lengths, bounds):
            # csv writes None as an empty field.
            about = LENGTH, group.name, group.above, group.up_to
            table.writerows((*about, *scores) for scores in group_scores.scores_of(systems, members))


def _references(pairs: Sequence[str], sets: Sequence[str]) -> dict[str, list[Path]]:
    references: dict[str, list[Path]] = {name: [] for name in sets}
    for name, path in (named_file(pair, "--reference") for pair in pairs):
        if name not in references:
            raise InputError(f"--reference {name!r} belongs to no set; give --source {name}=FILE, or leave it out")
        references[name].append(path)
    for name, paths in references.items():
        if not paths:
            raise InputError(f"no reference of {name!r}; give --reference {name}=FILE")
    return references


def _outputs(pairs: Sequence[str], sets: Sequence[str]) -> dict[tuple[str, str], dict[str, Path]]:
    """Files by (system, run) and set; every run has every set, or its groups would hold other sentences."""
    outputs: dict[tuple[str, str], dict[str, Path]] = {}
    for key, path in named_files(pairs, "--system").items():
        parts = key.split(":")
        if len(parts) != 3 or not all(parts) or "=" in key:
            raise InputError(f"--system {key!r} is no NAME:RUN:SET; write it so, without ':' or '=' in a name")
        name, run, on = parts
        if on not in sets:
            raise InputError(f"--system {key!r} belongs to no set; give --source {on}=FILE, or leave it out")
        outputs.setdefault((name, run), {})[on] = path
    for (name, run), files in outputs.items():
        for on in sets:
            if on not in files:
                raise InputError(f"no output of {name}:{run} on {on!r}; give --system {name}:{run}:{on}=FILE")
    return outputs


def _read(
    sources: dict[str, Path],
    references: dict[str, list[Path]],
    outputs: dict[tuple[str, str], dict[str, Path]],
    metric: "BLEU",
) -> tuple[np.ndarray, np.ndarray]:
    """Source lengths, (sentences,), and statistics, (outputs, sentences, 10), of all sets one after the other."""
    lengths: list[int] = []
    rows: list[list[list[int]]] = []
    for name, path in sources.items():
        files = [path, *(files[name] for files in outputs.values())]
        for line, *others in progress(bleu.read_sentences(files, references[name]), f"buckets {name}"):
            hypotheses, texts = others[: len(outputs)], others[len(outputs) :]
            lengths.append(len(tokens_of(line)))
            rows.append([bleu.sentence_statistics(metric, hypothesis, texts) for hypothesis in hypotheses])
    return np.array(lengths), np.array(rows, dtype=np.int64).transpose(1, 0, 2)


if __name__ == "__main__":
    stage.run(buckets)
