"""Examples: the greatest differences either way, and the words that differ."""

from pathlib import Path

from pipeline_py.evaluation.select_example_sentences import EXAMPLE_COLUMNS
from pipeline_py.report.sections.examples import read_examples, select_examples


def examples(folder: Path, scores: dict[int, tuple[float, float]], pair: tuple[str, str] = ("A", "B")) -> Path:
    path = folder / "examples.tsv"
    rows = [
        "\t".join([*pair, str(number), f'"{number}', "r", "ein Satz", "kein Satz", str(system), str(other)])
        for number, (system, other) in scores.items()
    ]
    path.write_text("\n".join(["\t".join(EXAMPLE_COLUMNS), *rows]) + "\n")
    return path


def test_those_that_differ_most_come_first(tmp_path):
    scores = {1: (10, 9), 2: (50, 5), 3: (20, 60), 4: (30, 10), 5: (7, 7), 6: (40, 10), 7: (20, 80)}
    found = select_examples(read_examples(examples(tmp_path, scores)), "A", "B")
    assert [(each.sentence_number, each.score_difference) for each in found] == [(2, 45), (6, 30), (7, -60), (3, -40)]
    assert found[0].source == '"2', "a quote is a character like any other"


def test_a_pair_may_stand_the_other_way_round(tmp_path):
    (found,) = select_examples(read_examples(examples(tmp_path, {1: (10, 30)})), "B", "A")
    assert (found.system_translation.system, found.score_difference, found.system_translation.text) == (
        "B",
        20,
        "kein Satz",
    )
    assert select_examples([found], "A", "C") == []


def test_words_that_differ_are_told_apart(tmp_path):
    (example,) = read_examples(examples(tmp_path, {1: (1, 2)}))
    assert example.split_into_spans() == ([("ein", True), ("Satz", False)], [("kein", True), ("Satz", False)])
