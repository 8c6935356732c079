"""Properties of outputs that tell whether a system has learned to translate, and how many sentences of a set differ."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from pipeline_py.config.evaluation import TrainedThresholds
from pipeline_py.evaluation.columns import read_columns
from pipeline_py.evaluation.metrics.bleu import Bleu

COLUMN = "output properties"
"""The column in a file of `evaluation.statistics`; no metric can have this name."""

ORDER = 3
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
        (sentences, 16): identifiers of output and reference, numbers of their words, number of n-grams of the output,
        how many of these it had before, and the statistics of BLEU by chance.
    """
    rows = []
    for output, reference, chance in zip(outputs, references, chance_statistics, strict=True):
        words = split_words(output)
        ngrams = [tuple(words[start : start + ORDER]) for start in range(len(words) - ORDER + 1)]
        row = (len(words), len(split_words(reference)), len(ngrams), len(ngrams) - len({*ngrams}))
        rows.append((_identify(output), _identify(reference), *row, *chance))
    return np.array(rows, dtype=np.float64)


def _identify(line: str) -> int:
    """Return a hash that a float64 holds exactly."""
    return int.from_bytes(blake2b(" ".join(line.split()).encode(), digest_size=6).digest(), "big")


@dataclass(frozen=True)
class OutputProperties:
    """Properties of the outputs of one run, as `measure_outputs` gives them, (sentences, 16)."""

    rows: np.ndarray

    @property
    def different_sentences(self) -> int:
        """The number of different references."""
        return len(np.unique(self.rows[:, 1]))

    @property
    def distinct_share(self) -> float:
        """The number of different outputs, relative to that of different references."""
        return len(np.unique(self.rows[:, 0])) / self.different_sentences

    @property
    def relative_length(self) -> float:
        """The number of words, relative to that of the references."""
        return float(self.rows[:, 2].sum() / max(self.rows[:, 3].sum(), 1))

    @property
    def repeated_share(self) -> float:
        """The share of n-grams that occurred before in the same output."""
        return float(self.rows[:, 5].sum() / max(self.rows[:, 4].sum(), 1))

    @property
    def chance_score(self) -> float:
        """BLEU with the references of other sentences."""
        return float(Bleu.scores(self.rows[:, 6:].sum(axis=0, keepdims=True))[0])

    def at(self, places: np.ndarray | None) -> "OutputProperties":
        """Select sentences; None for all."""
        return self if places is None else OutputProperties(self.rows[places])


def read_output_properties(path: Path) -> OutputProperties:
    """Read the properties from a file of `evaluation.statistics`."""
    columns, _ = read_columns(path)
    return OutputProperties(columns[COLUMN])


def join_output_sets(properties: Sequence[OutputProperties]) -> OutputProperties:
    """Join the outputs of one run on several sets."""
    return OutputProperties(np.concatenate([each.rows for each in properties]))


def find_failures(
    properties: OutputProperties, score: float, phrase_based_score: float | None, thresholds: TrainedThresholds
) -> list[str]:
    """Find the reasons why a run counts as untrained; none if it has learned to translate.

    Args:
        properties: of its outputs.
        score: its BLEU on the same sentences.
        phrase_based_score: BLEU of a phrase-based system on them, if there is one.
        thresholds: of the configuration.
    """
    failures = []
    if score < thresholds.score:
        failures.append(f"BLEU {score:.1f} is below {thresholds.score:g}")
    if phrase_based_score is not None and score < thresholds.share_of_phrase_based * phrase_based_score:
        failures.append(
            f"BLEU {score:.1f} is below {thresholds.share_of_phrase_based:.0%} of the phrase-based system's "
            f"{phrase_based_score:.1f}"
        )
    if score < thresholds.chance * properties.chance_score:
        failures.append(
            f"BLEU {score:.1f} is less than {thresholds.chance:g} times the {properties.chance_score:.1f} with the "
            "references of other sentences"
        )
    if properties.distinct_share < thresholds.distinct:
        failures.append(
            f"only {properties.distinct_share:.0%} as many different outputs as different references, below "
            f"{thresholds.distinct:.0%}"
        )
    if properties.repeated_share > thresholds.repetition:
        failures.append(
            f"{properties.repeated_share:.0%} of the {ORDER}-grams repeat within a sentence, above "
            f"{thresholds.repetition:.0%}"
        )
    shortest, longest = thresholds.length
    if not shortest <= properties.relative_length <= longest:
        failures.append(
            f"outputs are {properties.relative_length:.2f} times as long as references, outside {shortest:g} to "
            f"{longest:g}"
        )
    return failures
