"""Measure word accuracy by frequency in the training text, as compare-mt does (Neubig et al. 2019)."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from pipeline_py.evaluation.aligned_sentences import read_aligned_sentences
from pipeline_py.evaluation.metric import TokenizerName
from pipeline_py.evaluation.metrics.bleu import build_word_splitter
from pipeline_py.evaluation.significance import resampling
from pipeline_py.evaluation.system_statistics import sum_over_samples
from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.run.progress_display import show_progress
from pipeline_py.subword.vocabulary import read_token_counts

WORD_ACCURACY_COLUMNS = ("frequency", "system", "precision", "recall", "f1", "f1_low", "f1_high", "words")

MIN_FREQUENCIES = (0, 1, 2, 3, 5, 10, 100, 1000)
"""The lowest frequency of each group of words."""

FREQUENCY_GROUPS = [
    *(str(least) if least + 1 == more else f"{least}-{more - 1}" for least, more in pairwise(MIN_FREQUENCIES)),
    f"{MIN_FREQUENCIES[-1]}+",
]


def measure_word_accuracy(
    *,
    outputs: dict[str, dict[str, Path]],
    references: list[Path],
    frequencies: Path,
    output: Path,
    tokenizer: TokenizerName = "13a",
    lowercase: bool = True,
) -> None:
    """Measure precision, recall and F1 of words, in groups by frequency in the training text.

    A word of an output is right if the reference of the sentence has it at any position; it is right at most as often
    as it occurs there. Precision is the share of a group's output words that are right, recall the share of its
    reference words that were found, and F1 their harmonic mean, all in percent, and 0 if there is no such word.
    `f1_low` and `f1_high` are the ends of the 95 % interval of F1, from resampled sentences as in `compare_systems`.
    `words` is the number of reference words. Sums are over all sentences, runs of a system, and references, each of
    which is compared alone. Groups without a word in references and outputs are left out.

    Args:
        outputs: Detokenized outputs by system and run.
        references: Reference translations.
        frequencies: The words of the training text with their counts, from `count_word_frequencies`.
        output: The measures as TSV, by group and system.
        tokenizer: Sacrebleu's tokenizer, the same as for the scores and the frequencies.
        lowercase: Whether case is ignored, the same as for the scores.

    Raises:
        InputError: if files differ in length, or a reference line is empty.
    """
    systems = {system: [*runs.values()] for system, runs in outputs.items()}
    word_frequencies = dict(read_token_counts(frequencies))
    files = [path for paths in systems.values() for path in paths]
    file_counts = iter(_count_words(files, references, build_word_splitter(tokenizer, lowercase), word_frequencies))
    sentence_counts = {name: np.sum([next(file_counts) for _ in paths], axis=0) for name, paths in systems.items()}
    system_counts = {name: group_counts.sum(axis=0) for name, group_counts in sentence_counts.items()}
    intervals = _compute_f1_intervals(sentence_counts)
    rows: list[tuple[object, ...]] = []
    for group_index, group in enumerate(FREQUENCY_GROUPS):
        # A group is written for all systems if any output or reference has a word of it.
        if any(group_counts[:, group_index].any() for group_counts in system_counts.values()):
            for name, group_counts in system_counts.items():
                match_count, output_count, reference_count = map(int, group_counts[:, group_index])
                measures = (
                    *compute_precision_recall_f1(match_count, output_count, reference_count),
                    *intervals[name][group_index],
                )
                rows.append((group, name, *measures, reference_count // len(systems[name])))
    write_tsv(output, WORD_ACCURACY_COLUMNS, rows)


def find_frequency_group(frequency: int) -> int:
    """Return the index in `FREQUENCY_GROUPS` for a frequency."""
    return bisect_right(MIN_FREQUENCIES, frequency) - 1


def compute_precision_recall_f1(
    match_count: int, output_count: int, reference_count: int
) -> tuple[float, float, float]:
    """Compute precision, recall and F1 in percent."""
    return (
        100 * match_count / max(1, output_count),
        100 * match_count / max(1, reference_count),
        200 * match_count / max(1, output_count + reference_count),
    )


def _compute_f1_intervals(system_counts: Mapping[str, np.ndarray]) -> dict[str, list[tuple[float, float]]]:
    """Return the 95 % interval of F1 by system and group, from counts (sentences, 3, groups)."""
    (sentences,) = {len(counts) for counts in system_counts.values()}
    sentence_multiplicities = resampling.draw_sentence_multiplicities(
        sentences, resampling.DEFAULT_SAMPLE_COUNT, resampling.DEFAULT_SEED
    )
    sums = sum_over_samples(
        sentence_multiplicities, {name: counts.reshape(1, sentences, -1) for name, counts in system_counts.items()}
    )
    intervals = {}
    for name, system_sums in sums.items():
        match_counts, output_counts, reference_counts = system_sums.reshape(
            len(sentence_multiplicities), 3, -1
        ).transpose(1, 2, 0)
        f1 = 200 * match_counts / np.maximum(1, output_counts + reference_counts)
        intervals[name] = [resampling.compute_score_interval(group_f1) for group_f1 in f1]
    return intervals


def _count_words(
    outputs: Sequence[Path],
    references: Sequence[Path],
    split_words: Callable[[str], list[str]],
    frequencies: Mapping[str, int],
) -> np.ndarray:
    """Count the matches, output words and reference words of each group, (outputs, sentences, 3, groups)."""
    counts: list[np.ndarray] = []
    for lines in show_progress(read_aligned_sentences(outputs, references), "words"):
        sentences = [Counter(split_words(line)) for line in lines]
        reference_words = sentences[len(outputs) :]
        counts.append(np.zeros((len(outputs), 3, len(FREQUENCY_GROUPS)), dtype=np.int64))
        for output_counts, output_words in zip(counts[-1], sentences, strict=False):
            for reference in reference_words:
                for row, words in zip(output_counts, (output_words & reference, output_words, reference), strict=True):
                    for word, count in words.items():
                        row[find_frequency_group(frequencies.get(word, 0))] += count
    return np.stack(counts, axis=1)
