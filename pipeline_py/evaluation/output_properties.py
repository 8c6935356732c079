"""Properties of outputs that show whether a system has learned to translate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from pipeline_py.config.evaluation import TrainedThresholdsConfig
from pipeline_py.evaluation.column_files import read_sentence_columns
from pipeline_py.evaluation.metrics.bleu import Bleu

PROPERTIES_COLUMN = "output properties"
"""The column of properties in a file of `evaluation.compute_metric_statistics`; no metric can have this name."""

REPETITION_NGRAM_LENGTH = 3
"""Length of the n-grams whose repetition is counted."""


def measure_outputs(
    outputs: Sequence[str],
    references: Sequence[str],
    split_words: Callable[[str], Sequence[str]],
    chance_statistics: Sequence[Sequence[float]],
) -> np.ndarray:
    """Measure each output.

    Args:
        outputs: translations.
        references: the first reference of each.
        split_words: the tokenizer of BLEU.
        chance_statistics: statistics of BLEU with the references of other sentences, (sentences, 10).

    Returns:
        (sentences, 16): hashes of output and reference, their numbers of words, the output's number of n-grams and of
        repeated n-grams, and `chance_statistics`.
    """
    rows = []
    for output, reference, chance in zip(outputs, references, chance_statistics, strict=True):
        words = split_words(output)
        ngrams = [
            tuple(words[start : start + REPETITION_NGRAM_LENGTH])
            for start in range(len(words) - REPETITION_NGRAM_LENGTH + 1)
        ]
        row = (len(words), len(split_words(reference)), len(ngrams), len(ngrams) - len({*ngrams}))
        rows.append((_hash_line(output), _hash_line(reference), *row, *chance))
    return np.array(rows, dtype=np.float64)


def _hash_line(line: str) -> int:
    """Return a hash that a float64 holds exactly."""
    return int.from_bytes(blake2b(" ".join(line.split()).encode(), digest_size=6).digest(), "big")


@dataclass(frozen=True)
class OutputProperties:
    """Properties of the outputs of one run, as `measure_outputs` gives them, (sentences, 16)."""

    rows: np.ndarray

    @property
    def distinct_reference_count(self) -> int:
        """The number of different reference sentences."""
        return len(np.unique(self.rows[:, 1]))

    @property
    def distinct_output_ratio(self) -> float:
        """The number of different outputs divided by the number of different references."""
        return len(np.unique(self.rows[:, 0])) / self.distinct_reference_count

    @property
    def length_ratio(self) -> float:
        """The number of output words divided by the number of reference words."""
        return float(self.rows[:, 2].sum() / max(self.rows[:, 3].sum(), 1))

    @property
    def repeated_ngram_share(self) -> float:
        """The share of n-grams that occurred before in the same output."""
        return float(self.rows[:, 5].sum() / max(self.rows[:, 4].sum(), 1))

    @property
    def chance_bleu(self) -> float:
        """BLEU with the references of other sentences."""
        return float(Bleu.score_corpora(self.rows[:, 6:].sum(axis=0, keepdims=True))[0])

    def select_sentences(self, sentence_indices: np.ndarray | None) -> "OutputProperties":
        """Select sentences by index; None selects all."""
        return self if sentence_indices is None else OutputProperties(self.rows[sentence_indices])


def read_output_properties(path: Path) -> OutputProperties:
    """Read the properties from a file of `evaluation.compute_metric_statistics`."""
    columns, _ = read_sentence_columns(path)
    return OutputProperties(columns[PROPERTIES_COLUMN])


def join_set_properties(properties: Sequence[OutputProperties]) -> OutputProperties:
    """Join the outputs of one run on several sets."""
    return OutputProperties(np.concatenate([set_properties.rows for set_properties in properties]))


def find_training_failures(
    properties: OutputProperties, bleu: float, phrase_based_bleu: float | None, thresholds: TrainedThresholdsConfig
) -> list[str]:
    """Return the reasons why a run counts as untrained; empty if it has learned to translate.

    Args:
        properties: of its outputs.
        bleu: its BLEU on the same sentences.
        phrase_based_bleu: BLEU of a phrase-based system on them, if there is one.
        thresholds: of the configuration.
    """
    failures = []
    if bleu < thresholds.score:
        failures.append(f"BLEU {bleu:.1f} is below {thresholds.score:g}")
    if phrase_based_bleu is not None and bleu < thresholds.share_of_phrase_based * phrase_based_bleu:
        failures.append(
            f"BLEU {bleu:.1f} is below {thresholds.share_of_phrase_based:.0%} of the phrase-based system's "
            f"{phrase_based_bleu:.1f}"
        )
    if bleu < thresholds.chance * properties.chance_bleu:
        failures.append(
            f"BLEU {bleu:.1f} is less than {thresholds.chance:g} times the {properties.chance_bleu:.1f} with the "
            "references of other sentences"
        )
    if properties.distinct_output_ratio < thresholds.distinct:
        failures.append(
            f"only {properties.distinct_output_ratio:.0%} as many different outputs as different references, below "
            f"{thresholds.distinct:.0%}"
        )
    if properties.repeated_ngram_share > thresholds.repetition:
        failures.append(
            f"{properties.repeated_ngram_share:.0%} of the {REPETITION_NGRAM_LENGTH}-grams repeat within a sentence, "
            f"above {thresholds.repetition:.0%}"
        )
    shortest, longest = thresholds.length
    if not shortest <= properties.length_ratio <= longest:
        failures.append(
            f"outputs are {properties.length_ratio:.2f} times as long as references, outside {shortest:g} to "
            f"{longest:g}"
        )
    return failures
