"""Shares of the highest attention weights on words and on phrases (tree2seq, Table 12)."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from typing_extensions import TypedDict

from pipeline_py.evaluation.columns import write_rows
from pipeline_py.files.ragged import Ragged
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress
from pipeline_py.subword import pieces as subword

COLUMNS = ("system", "threshold", "words", "phrases", "generated_words")
THRESHOLDS = (0.2, 0.4, 0.6, 0.8)

HIGHEST = 5
"""Destinations counted of each generated word."""


class Counts(NamedTuple):
    """What is counted of one file.

    Attributes:
        words, phrases: for each threshold how many weights above it lie there (4,).
        generated: generated words.
    """

    words: np.ndarray
    phrases: np.ndarray
    generated: int


class AttentionFiles(TypedDict):
    """Files of a run: weights of `nmt.attend` for all sentences of a set, the packed source, and output pieces."""

    attention: Path
    source: Path
    pieces: Path


def attention_shares(*, systems: dict[str, dict[str, AttentionFiles]], output: Path) -> None:
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
        for row in _rows(
            system, [_count(files["attention"], files["source"], files["pieces"]) for files in runs.values()]
        )
    ]
    write_rows(output, COLUMNS, rows)


def shares(weights: np.ndarray, positions: int) -> tuple[np.ndarray, np.ndarray]:
    """Count the weights above each threshold, of the five highest of each step.

    Five weights of one step cannot all be above .2, since they add up to 1 at the most. So every weight above a
    threshold is one of the five highest.

    Args:
        weights: (I, N); columns are words, then phrases.
        positions: columns of words, EOS included.

    Returns:
        Counts of words and of phrases, (4,) each.
    """
    above = weights > np.array(THRESHOLDS, dtype=weights.dtype)[:, None, None]
    return above[:, :, :positions].sum(axis=(1, 2)), above[:, :, positions:].sum(axis=(1, 2))


def _rows(system: str, runs: Sequence[Counts]) -> list[tuple[str, float, str, str, int]]:
    generated = sum(run.generated for run in runs)
    words, phrases = (
        np.sum(counts, axis=0) for counts in zip(*((run.words, run.phrases) for run in runs), strict=True)
    )
    percent = 100 / (HIGHEST * max(1, generated))
    return [
        (system, threshold, f"{on_words * percent:.2f}", f"{on_phrases * percent:.2f}", generated)
        for threshold, on_words, on_phrases in zip(THRESHOLDS, words, phrases, strict=True)
    ]


def _count(path: Path, source_path: Path, translation: Path) -> Counts:
    rows, sources = Ragged(path), Ragged(source_path)
    targets = [len(line) for line in subword.read(translation)]
    for other, sentences in ((source_path, len(sources)), (translation, len(targets))):
        if sentences != len(rows):
            raise InputError(
                f"the file has {len(rows)} sentences and {other} has {sentences}; give the files of one set", path
            )
    words, phrases = np.zeros(len(THRESHOLDS), dtype=np.int64), np.zeros(len(THRESHOLDS), dtype=np.int64)
    for number, generated in enumerate(progress(targets, f"attention_shares {path.name}")):
        positions, row = int(sources.lengths[number]), rows[number]
        if not generated and not len(row):
            continue
        # How many phrases there are only the attention tells.
        on_words, on_phrases = shares(row.reshape(generated + 1, -1)[:generated], positions)
        words += on_words
        phrases += on_phrases
    return Counts(words, phrases, sum(targets))
