"""Count the highest attention weights on words and on phrases (tree2seq, Table 12)."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from typing_extensions import TypedDict

from pipeline_py.files.ragged_arrays import RaggedArrayFile
from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.subword import pieces as subword

SHARE_COLUMNS = ("system", "threshold", "words", "phrases", "generated_words")
WEIGHT_THRESHOLDS = (0.2, 0.4, 0.6, 0.8)

TOP_WEIGHT_COUNT = 5
"""Number of weights that are counted for each generated word."""


class AttentionCounts(NamedTuple):
    """Counts of high attention weights in one file.

    Attributes:
        word_counts, phrase_counts: number of weights above each threshold, (4,).
        generated_words: generated words.
    """

    word_counts: np.ndarray
    phrase_counts: np.ndarray
    generated_words: int


class AttentionFiles(TypedDict):
    """Files of a run: weights of `nmt.attend` for all sentences of a set, the packed source, and output pieces."""

    attention: Path
    source: Path
    pieces: Path


def count_attention_shares(*, systems: dict[str, dict[str, AttentionFiles]], output: Path) -> None:
    """Count the attention weights above .2, .4, .6 and .8 among the five highest at each generated word.

    A share is a percentage of 5 · generated words, so that the shares of words and of phrases add up. The source's EOS,
    which systems read like a word, counts as a word. The step that predicts EOS generates no word, and is not counted.
    With subwords, each piece counts as a word on both sides.

    The TSV has the columns `system`, `threshold`, `words`, `phrases` (percent) and `generated_words`, over all runs of
    a system together.

    Args:
        systems: Files by system and run.
        output: The shares as TSV.

    Raises:
        InputError: if the files of a run do not belong together.
    """
    rows = [
        row
        for system, runs in systems.items()
        for row in _format_share_rows(
            system,
            [_count_run_weights(files["attention"], files["source"], files["pieces"]) for files in runs.values()],
        )
    ]
    write_tsv(output, SHARE_COLUMNS, rows)


def count_high_weights(weights: np.ndarray, word_count: int) -> tuple[np.ndarray, np.ndarray]:
    """Count the weights above each threshold, of the five highest of each step.

    Weights of one step add up to 1, and five of them cannot all be above .2. Every weight above a threshold is
    therefore one of the five highest.

    Args:
        weights: (I, N); columns are words, then phrases.
        word_count: columns of words, EOS included.

    Returns:
        Counts of words and of phrases, (4,) each.
    """
    above = weights > np.array(WEIGHT_THRESHOLDS, dtype=weights.dtype)[:, None, None]
    return above[:, :, :word_count].sum(axis=(1, 2)), above[:, :, word_count:].sum(axis=(1, 2))


def _format_share_rows(system: str, run_counts: Sequence[AttentionCounts]) -> list[tuple[str, float, str, str, int]]:
    generated = sum(run.generated_words for run in run_counts)
    words, phrases = (
        np.sum(counts, axis=0)
        for counts in zip(*((run.word_counts, run.phrase_counts) for run in run_counts), strict=True)
    )
    percent = 100 / (TOP_WEIGHT_COUNT * max(1, generated))
    return [
        (system, threshold, f"{word_count * percent:.2f}", f"{phrase_count * percent:.2f}", generated)
        for threshold, word_count, phrase_count in zip(WEIGHT_THRESHOLDS, words, phrases, strict=True)
    ]


def _count_run_weights(attention_path: Path, source_path: Path, pieces_path: Path) -> AttentionCounts:
    rows, sources = RaggedArrayFile(attention_path), RaggedArrayFile(source_path)
    targets = [len(line) for line in subword.read_tokens(pieces_path)]
    for path, sentences in ((source_path, len(sources)), (pieces_path, len(targets))):
        if sentences != len(rows):
            raise InputError(
                f"the file has {len(rows)} sentences and {path} has {sentences}; give the files of one set",
                attention_path,
            )
    words, phrases = np.zeros(len(WEIGHT_THRESHOLDS), dtype=np.int64), np.zeros(len(WEIGHT_THRESHOLDS), dtype=np.int64)
    for number, generated in enumerate(show_progress(targets, f"attention_shares {attention_path.name}")):
        positions, row = int(sources.row_lengths[number]), rows[number]
        if not generated and not len(row):
            continue
        # Only the attention file knows the number of phrases.
        word_counts, phrase_counts = count_high_weights(row.reshape(generated + 1, -1)[:generated], positions)
        words += word_counts
        phrases += phrase_counts
    return AttentionCounts(words, phrases, sum(targets))
