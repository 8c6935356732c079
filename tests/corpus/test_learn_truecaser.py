"""Tests of the truecasing model, against sacremoses."""

from pathlib import Path

import pytest
from sacremoses import MosesTruecaser

from pipeline_py.corpus.learn_truecaser import learn_truecaser
from pipeline_py.run.errors import InputError

TEXT = """\
The cat saw the Dog .
the dog , The Dog and the dog : The end
Die katze sah die Katze und die Katze
" Ein Hund " sagte der Hund ! Hund
x
"""


def test_the_model_is_that_of_sacremoses(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(TEXT)
    learn_truecaser(input=tmp_path / "text", output=tmp_path / "model")
    library = MosesTruecaser()
    library.train([line.split() for line in TEXT.splitlines()], save_to=str(tmp_path / "library"))
    lines = (tmp_path / "model").read_text().splitlines()
    assert sorted(lines) == sorted((tmp_path / "library").read_text().splitlines())
    assert [line.split()[0].lower() for line in lines] == sorted(line.split()[0].lower() for line in lines)


def test_forms_are_counted_and_sorted(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("Once the The the cat\nTHE the\n")
    learn_truecaser(input=tmp_path / "text", output=tmp_path / "model")
    assert (tmp_path / "model").read_text() == "cat (1/1)\nthe (3/4) The (1)\n"


def test_text_without_a_word_inside_a_sentence_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("One\n\n. .\n")
    with pytest.raises(InputError, match="no sentence has a word after its first"):
        learn_truecaser(input=tmp_path / "text", output=tmp_path / "model")
    assert not (tmp_path / "model").exists()
