"""Tests of the section with examples."""

from pathlib import Path

from pipeline_py.evaluation.select_example_sentences import EXAMPLE_COLUMNS
from pipeline_py.report.sections.examples import read_examples, select_examples


def write_examples(folder: Path, scores: dict[int, tuple[float, float]], pair: tuple[str, str] = ("A", "B")) -> Path:
    path = folder / "examples.tsv"
    rows = [
        "\t".join([*pair, str(number), f'"{number}', "r", "ein Satz", "kein Satz", str(system_score), str(other_score)])
        for number, (system_score, other_score) in scores.items()
    ]
    path.write_text("\n".join(["\t".join(EXAMPLE_COLUMNS), *rows]) + "\n")
    return path


def test_select_examples_returns_largest_differences_first(tmp_path):
    scores = {1: (10, 9), 2: (50, 5), 3: (20, 60), 4: (30, 10), 5: (7, 7), 6: (40, 10), 7: (20, 80)}
    examples = select_examples(read_examples(write_examples(tmp_path, scores)), "A", "B")
    assert [(example.sentence_number, example.score_difference) for example in examples] == [
        (2, 45),
        (6, 30),
        (7, -60),
        (3, -40),
    ]
    assert examples[0].source == '"2', "a quote is a character like any other"


def test_select_examples_swaps_systems(tmp_path):
    (example,) = select_examples(read_examples(write_examples(tmp_path, {1: (10, 30)})), "B", "A")
    assert (example.system_translation.system, example.score_difference, example.system_translation.text) == (
        "B",
        20,
        "kein Satz",
    )
    assert select_examples([example], "A", "C") == []


def test_split_into_spans_separates_differing_words(tmp_path):
    (example,) = read_examples(write_examples(tmp_path, {1: (1, 2)}))
    assert example.split_into_spans() == ([("ein", True), ("Satz", False)], [("kein", True), ("Satz", False)])
