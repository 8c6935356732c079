"""Tests of the conversion of contrastive sets to parallel texts."""

import pytest

from pipeline_py.corpus.split_contrastive_pairs import split_contrastive_pairs
from pipeline_py.run.errors import InputError


@pytest.fixture
def files(tmp_path):
    (tmp_path / "gender.tsv").write_text("source\tcorrect\tcontrastive\nThe dog\tder Hund\tdie Hund\n")
    (tmp_path / "negation.json").write_text(
        '[{"source": "He sleeps", "reference": "Er schläft", "errors": ['
        '{"contrastive": "Er schläft nicht", "type": "insertion", "distance": 1},'
        '{"contrastive": "Sie schläft", "type": "subject", "frequency": 12}]}]',
        encoding="utf-8",
    )
    return [tmp_path / "gender.tsv", tmp_path / "negation.json"]


def build_arguments(files):
    folder = files[0].parent
    return {"input": files, **{f"{name}_output": folder / f"out.{name}" for name in NAMES}}


NAMES = ("source", "correct", "contrastive", "pairs")


def test_files_are_concatenated(files):
    split_contrastive_pairs(**build_arguments(files))
    texts = [(files[0].parent / f"out.{name}").read_text(encoding="utf-8").split("\n") for name in NAMES]
    assert texts == [
        ["The dog", "He sleeps", "He sleeps", ""],
        ["der Hund", "Er schläft", "Er schläft", ""],
        ["die Hund", "Er schläft nicht", "Sie schläft", ""],
        ["sentence\tkind\tdistance\tfrequency", "1\tgender\t\t", "2\tinsertion\t1\t", "2\tsubject\t\t12", ""],
    ]


def test_nothing_is_written_if_a_file_is_bad(files):
    files[1].write_text("[]")
    with pytest.raises(InputError, match=r"negation\.json: the file has no contrastive pair"):
        split_contrastive_pairs(**build_arguments(files))
    with pytest.raises(InputError, match="no such file"):
        split_contrastive_pairs(**build_arguments([files[0], files[0].parent / "absent.tsv"]))
    assert not [*files[0].parent.glob("out.*")]
