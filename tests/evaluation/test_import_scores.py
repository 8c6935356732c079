"""Scores from elsewhere are counted as those of the networks here, and mistakes in them are told by line."""

from pathlib import Path

import pytest

from pipeline_py.evaluation.import_scores import import_scores
from pipeline_py.evaluation.measure_contrastive_accuracy import measure_contrastive_accuracy
from pipeline_py.run.errors import InputError
from tests.text_files import read_table


def imported(folder: Path, content: str) -> None:
    (folder / "scores.tsv").write_text(content)
    (folder / "pairs.tsv").write_text(
        "sentence\tkind\tdistance\tfrequency\n" + "".join(f"{number}\tgender\t\t\n" for number in range(3))
    )
    import_scores(
        scores=folder / "scores.tsv",
        pairs=folder / "pairs.tsv",
        name="told",
        correct_output=folder / "correct.tsv",
        contrastive_output=folder / "contrastive.tsv",
    )


def test_scores_decide_which_pairs_are_right(tmp_path):
    imported(tmp_path, "id\tcontrastive\tcorrect\n1\t-9.5\t-2\n2\t-1e1\t-1e1\n3\t-0.5\t-0.25\n")
    measure_contrastive_accuracy(
        correct={"Theirs": {"single": tmp_path / "correct.tsv"}},
        contrastive={"Theirs": {"single": tmp_path / "contrastive.tsv"}},
        pairs=tmp_path / "pairs.tsv",
        accuracies_output=tmp_path / "out.tsv",
        comparisons_output=tmp_path / "comparisons.tsv",
    )
    row = read_table(tmp_path / "out.tsv")[0]
    assert (row["system"], row["pairs"], float(row["ties"])) == ("Theirs", "3", 1)
    assert float(row["accuracy"]) == pytest.approx(200 / 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("correct\n-1\n-1\n-1\n", r"scores\.tsv, line 1: the file has no column `contrastive`"),
        ("", r"scores\.tsv, line 1: the file has no column `correct`"),
        ("correct\tcontrastive\n-1\t-2\n", r"the file has scores of 1 pairs and the set `told` has 3; give a row for"),
        ("correct\tcontrastive\n-1\t-2\n-1\n-1\t-2\n", r"scores\.tsv, line 3: the row has 1 cells and the header 2"),
        ("correct\tcontrastive\n-1\t-2\n-1\tx\n-1\t-2\n", r"scores\.tsv, line 3: `x` is no number"),
        ("correct\tcontrastive\n-1\t-2\n-1\t-2\nnan\t-2\n", r"scores\.tsv, line 4: `nan` is no number"),
    ],
)
def test_invalid_input_is_reported(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        imported(tmp_path, content)
