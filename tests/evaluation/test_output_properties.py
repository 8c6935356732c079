"""Properties of outputs, and the reasons why a system counts as untrained."""

from pathlib import Path

import numpy as np
import pytest

from pipeline_py.config.evaluation import TrainedThresholdsConfig
from pipeline_py.evaluation.output_properties import (
    OutputProperties,
    find_training_failures,
    join_set_properties,
    measure_outputs,
    read_output_properties,
)
from tests.evaluation.statistics_files import write_output_statistics

REFERENCES = [f"the {noun} sees a big dog today" for noun in ("man", "cat", "boy", "girl", "cow")]
THRESHOLDS = TrainedThresholdsConfig()


def measured(*outputs: str) -> OutputProperties:
    chance = [(7, 7, 0.1, 0.1, 0.1, 0.1, 7, 6, 5, 4)] * len(outputs)
    return OutputProperties(measure_outputs(outputs, REFERENCES[: len(outputs)], str.split, chance))


def test_properties_are_counted_by_hand() -> None:
    properties = measured("a b c a b c a", "a b", "a  b")
    # Trigrams: abc bca cab abc bca, of which two repeat.
    assert properties.rows[:, 2:6].tolist() == [[7, 7, 5, 2], [2, 7, 0, 0], [2, 7, 0, 0]]
    assert properties.repeated_ngram_share == 2 / 5 and properties.length_ratio == 11 / 21
    assert properties.distinct_output_ratio == 2 / 3, "spaces do not make outputs different"
    assert (
        join_set_properties([properties, properties]).distinct_reference_count
        == properties.distinct_reference_count
        == 3
    )
    assert (
        properties.select_sentences(np.array([0])).distinct_reference_count == 1
        and properties.select_sentences(None) is properties
    )


@pytest.mark.parametrize(
    ("outputs", "score", "phrase_based", "reasons"),
    [
        (REFERENCES, 40.0, 26.0, []),
        (REFERENCES, 9.9, 28.0, []),
        (REFERENCES, 1.2, None, ["BLEU 1.2 is below 5", "is less than 5 times the"]),
        (REFERENCES, 6.8, None, ["BLEU 6.8 is less than 5 times the 1.9 with the references of other sentences"]),
        (REFERENCES, 6.0, 25.9, ["BLEU 6.0 is below 30% of the phrase-based system's 25.9", "less than 5 times"]),
        (
            ["a man is here at the house"] * 5,
            9.9,
            None,
            ["only 20% as many different outputs as different references, below 50%"],
        ),
        (
            [f"{line.split()[1]} in a man in a man in a man in a red" for line in REFERENCES],
            9.9,
            None,
            ["56% of the 3-grams repeat within a sentence, above 15%"],
        ),
        (
            [line.split()[1] for line in REFERENCES],
            9.9,
            None,
            ["outputs are 0.14 times as long as references, outside 0.5 to 2"],
        ),
        ([""] * 5, 0.0, None, ["BLEU", "less than 5 times", "different outputs", "0.00 times as long"]),
    ],
)
def test_every_reason(outputs: list[str], score: float, phrase_based: float | None, reasons: list[str]) -> None:
    properties = find_training_failures(measured(*outputs), score, phrase_based, THRESHOLDS)
    assert len(properties) == len(reasons) and all(
        reason in text for reason, text in zip(reasons, properties, strict=True)
    )


def test_statistics_have_properties_in_words_of_the_language(tmp_path: Path) -> None:
    (path,) = write_output_statistics(tmp_path, {"A": ["我爱你 。"]}, [["我爱 你"]], tokenizer="zh").values()
    assert read_output_properties(path).rows[0, 2:6].tolist() == [4, 3, 2, 0]
