"""BLEU by groups of similar sentences of one set: of similar length, with similar trees, with and without a parse."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from statistics import fmean
from typing import Annotated

import numpy as np

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.evaluation import bleu, group_scores
from pipeline_py.evaluation.named_files import by_system, named_files
from pipeline_py.evaluation.sentence_groups import LENGTH_BOUNDS, check_bounds, grouped
from pipeline_py.evaluation.system_statistics import SystemStatistics, read_statistics
from pipeline_py.options import Option
from pipeline_py.stage import InputError
from pipeline_py.syntax.constituency import read_trees
from pipeline_py.syntax.dependency import read_dependencies
from pipeline_py.syntax.tree_shape import dependency_lengths, depth, phrase_shape
from pipeline_py.text import read_lines, tokens_of

COLUMNS = ("by", "bucket", "low", "high", *group_scores.COLUMNS)

DEPTH_BOUNDS = (2, 3, 4, 5, 6, 8, 10)
PHRASE_DEPTH_BOUNDS = (4, 6, 8, 10, 12, 15, 20)
DEPENDENCY_LENGTH_BOUNDS = (1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0)


@dataclass(frozen=True)
class Bucket:
    """Some sentences of the set.

    Attributes:
        by: what they have in common.
        name: how much of it.
        low, high: it is more than `low`, and at most `high`; None where there is no such limit.
        places: of the sentences in the set, from 0.
    """

    by: str
    name: str
    low: float | None
    high: float | None
    places: np.ndarray


def by_sentence(
    *,
    system: list[str],
    reference: list[Path],
    source: Path,
    output: Path,
    dependencies: Path | None = None,
    phrases: Path | None = None,
    bounds: list[int] | None = None,
    tokenizer: bleu.Tokenizer = "13a",
    lowercase: Annotated[bool, Option("--lowercase/--cased")] = True,
) -> None:
    """Score groups of sentences of one set that are similar in one respect after the other.

    These are `length`, in words of the source; of dependency trees `depth` and `dependency_length`, the mean distance
    of words to their heads; of phrase trees `phrase_depth`; and of either `parse`, whether there is a tree (`parsed`)
    or not (`not parsed`: the parse failed, or the sentence is empty). Depths and distances are defined in
    `syntax.tree_shape`; a sentence without a tree has none, neither has one of roots alone a mean distance, and is in
    no such group.

    BLEU of a group is the corpus BLEU of its sentences; `bleu` is its mean over a system's runs and `sd` the sample
    standard deviation over them, empty for a single run; `bleu_low` and `bleu_high` are the ends of its 95 % interval
    (`group_scores`). A group holds values with `low` < value <= `high`; an empty field stands for an open end, or for
    no number at all. Groups without a sentence are left out.

    Args:
        system: NAME:RUN=FILE, the detokenized output of a system's run; give the option once for each (NAME=FILE
            where there is one run).
        reference: a reference translation; give the option once for each.
        source: the tokenized source, in words.
        output: the scores as TSV, by group and then by system.
        dependencies: a parser's dependency trees of the source, CoNLL-U.
        phrases: a parser's phrase trees of the source, PTB brackets, one tree a line. Without trees of either kind
            sentences are grouped by length alone; `parse` is that of the dependencies where there are both.
        bounds: longest length of a group; give the option once for each, rising. By default 10, 20 … 80.
        tokenizer: sacrebleu's tokenizer, the same as for the scores.
        lowercase: case-insensitive BLEU, the same as for the scores.

    Raises:
        InputError: if there is no system, files differ in length, a reference line is empty, a tree is none, or bounds
            do not rise.
    """
    bounds = list(LENGTH_BOUNDS) if bounds is None else bounds
    check_bounds(bounds)
    systems = by_system(named_files(system, "--system"))
    if not systems:
        raise InputError("no system to score; give --system NAME=FILE")
    statistics = read_statistics(systems, reference, tokenizer, lowercase)
    lengths = [len(tokens_of(line)) for line in read_lines(source)]
    _check_number(lengths, statistics, source)
    buckets = [*_by("length", lengths, bounds)]
    depths: list[float] | None = None
    if phrases is not None:
        depths = _of_phrases(phrases)
        _check_number(depths, statistics, phrases)
        buckets += _by("phrase_depth", depths, PHRASE_DEPTH_BOUNDS)
    if dependencies is not None:
        depths, means = _of_dependencies(dependencies)
        _check_number(depths, statistics, dependencies)
        buckets += _by("depth", depths, DEPTH_BOUNDS)
        buckets += _by("dependency_length", means, DEPENDENCY_LENGTH_BOUNDS)
    if depths is not None:
        buckets += _by_success(depths)
    with writing(output) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(COLUMNS)
        for bucket in buckets:
            # csv writes None as an empty field.
            about = bucket.by, bucket.name, bucket.low, bucket.high
            table.writerows((*about, *scores) for scores in group_scores.scores_of(statistics, bucket.places))


def _check_number(values: Sequence[float], statistics: dict[str, SystemStatistics], path: Path) -> None:
    (sentences,) = {of_system.runs.shape[1] for of_system in statistics.values()}
    if len(values) != sentences:
        raise InputError(
            f"the file has {len(values)} sentences and the outputs have {sentences}; give the files of one set", path
        )


def _by(what: str, values: Sequence[float], bounds: Sequence[float]) -> Iterator[Bucket]:
    for group, places in grouped(np.array(values, dtype=np.float64), bounds):
        yield Bucket(what, group.name, group.above, group.up_to, places)


def _by_success(depths: Sequence[float]) -> Iterator[Bucket]:
    has_tree = ~np.isnan(depths)
    for name, places in (("parsed", np.flatnonzero(has_tree)), ("not parsed", np.flatnonzero(~has_tree))):
        if len(places):
            yield Bucket("parse", name, None, None, places)


def _of_dependencies(path: Path) -> tuple[list[float], list[float]]:
    """Depths and mean dependency lengths, NaN where there are none."""
    depths, means = [], []
    for tree in read_dependencies(path):
        has_tree = bool(tree.words) and tree.failed is None
        lengths = dependency_lengths(tree.heads) if has_tree else []
        depths.append(float(depth(tree.heads)) if has_tree else nan)
        means.append(fmean(lengths) if lengths else nan)
    return depths, means


def _of_phrases(path: Path) -> list[float]:
    """Depths, NaN where there are none."""
    return [nan if tree.root is None or tree.failed else float(phrase_shape(tree).depth) for tree in read_trees(path)]


if __name__ == "__main__":
    stage.run(by_sentence)
