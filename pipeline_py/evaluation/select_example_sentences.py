"""Choose example sentences for which two systems have the most different scores."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import PositiveInt

from pipeline_py.evaluation.aligned_sentences import read_aligned_sentences
from pipeline_py.evaluation.metric import SENTENCE_METRIC
from pipeline_py.evaluation.system_statistics import read_statistics
from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.run.errors import InputError

EXAMPLE_COLUMNS = (
    "system",
    "other",
    "sentence",
    "source",
    "reference",
    "translation_system",
    "translation_other",
    "score_system",
    "score_other",
)


def select_example_sentences(
    *,
    outputs: dict[str, Path],
    statistics: dict[str, Path],
    references: list[Path],
    source: Path,
    output: Path,
    max_per_direction: PositiveInt = 5,
) -> None:
    """Choose the sentences that each system translates much better, or much worse, than the first one does.

    The score is sacrebleu's chrF of the sentence, in percent. For each system except the first, the output has up to
    `max_per_direction` sentences that it translates better, the largest difference first, and then as many that it
    translates worse, the smallest difference first, so that differences fall from top to bottom. With equal
    differences, the earlier sentence comes first. All sentences are from the middle half of the set by length (first to
    third quartile of source characters): a short sentence shows only one mistake, and a long one is hard to read. Cells
    are not quoted; a tab within a sentence becomes a space.

    Args:
        outputs: Detokenized outputs by system. The others are compared with the first.
        statistics: Files of `evaluation.compute_metric_statistics` for the same outputs, by system.
        references: Reference translations. The first is shown.
        source: The source as people read it.
        output: The sentences as TSV, by system.
        max_per_direction: Most sentences in either direction.

    Raises:
        InputError: if files differ in length, or a reference line is empty.
    """
    lines = [*read_aligned_sentences([source, *outputs.values()], references)]
    statistics_by_system = read_statistics({name: [path] for name, path in statistics.items()}, [SENTENCE_METRIC])[
        SENTENCE_METRIC
    ]
    scores = {
        name: system.metric.score_corpora(system.run_statistics[0]) for name, system in statistics_by_system.items()
    }
    baseline, *systems = outputs
    if len(scores[baseline]) != len(lines):
        raise InputError(
            f"{len(scores[baseline])} sentences, but {source} has {len(lines)}; give files of one set",
            statistics[baseline],
        )
    middle = mask_middle_lengths([line[0] for line in lines])
    rows: list[tuple[object, ...]] = []
    for place, name in enumerate(systems, start=2):
        for sentence in select_most_different(np.where(middle, scores[name] - scores[baseline], 0), max_per_direction):
            line = lines[sentence]
            texts = line[0], line[1 + len(outputs)], line[place], line[1]
            score_pair = float(scores[name][sentence]), float(scores[baseline][sentence])
            rows.append((name, baseline, sentence + 1, *texts, *score_pair))
    write_tsv(output, EXAMPLE_COLUMNS, rows)


def mask_middle_lengths(texts: Sequence[str]) -> np.ndarray:
    """Return a mask of the texts with lengths from the first to the third quartile, (texts,) of bool.

    Lengths are in characters, since not every language has spaces between words.
    """
    lengths = np.array([len(text) for text in texts])
    shortest, longest = np.percentile(lengths, [25, 75]) if len(texts) else (0, 0)
    return (shortest <= lengths) & (lengths <= longest)


def select_most_different(score_differences: np.ndarray, max_per_direction: int) -> list[int]:
    """Choose up to `max_per_direction` sentences in each direction, sorted by falling difference."""
    # The stable sort keeps equal differences in the order of sentences.
    better = [place for place in np.argsort(-score_differences, kind="stable").tolist() if score_differences[place] > 0]
    worse = [place for place in np.argsort(score_differences, kind="stable").tolist() if score_differences[place] < 0]
    return [
        *better[:max_per_direction],
        *sorted(worse[:max_per_direction], key=lambda place: -score_differences[place]),
    ]
