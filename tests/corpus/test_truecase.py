"""Tests of truecasing, against sacremoses and for tokens that sacremoses splits or joins."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesTruecaser

from pipeline_py.corpus.truecase import Truecaser, truecase
from pipeline_py.run.errors import InputError

MODEL = "apple (2/3) Apple (1)\nBerlin (9/9)\nthe (40/60) The (20)\nÜber (3/5) über (2)\n"
FORMS = [
    "the",
    "The",
    "THE",
    "apple",
    "Apple",
    "berlin",
    "Berlin",
    "ÜBER",
    "unseen",
    "Unseen",
    ".",
    ":",
    "?",
    '"',
    "(",
    ",",
]


@given(st.lists(st.sampled_from(FORMS), min_size=1))
def test_truecasing_equals_sacremoses(tmp_path_factory: pytest.TempPathFactory, tokens: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "model"
    path.write_text(MODEL)
    library = MosesTruecaser(str(path))
    assert Truecaser.load(path).truecase_sentence(tokens) == library.truecase(" ".join(tokens), use_known=True)


def test_lines_and_tokens_keep_their_positions(tmp_path: Path) -> None:
    (tmp_path / "model").write_text(MODEL)
    text = "The a<b < the c > | The\n\nTHE <tag x> APPLE\u00a0BERLIN THE\n"
    (tmp_path / "text").write_text(text)
    truecase(input=tmp_path / "text", model=tmp_path / "model", output=tmp_path / "out")
    assert (tmp_path / "out").read_text() == "the a<b < the c > | The\n\nthe <tag x> APPLE\u00a0BERLIN the\n"


@pytest.mark.parametrize("line", ["the", "the (1) The", "the 40/60", ""])
def test_a_malformed_model_is_reported(tmp_path: Path, line: str) -> None:
    (tmp_path / "model").write_text(f"a (1/1)\n{line}\n")
    with pytest.raises(InputError, match="model, line 2: not `word"):
        Truecaser.load(tmp_path / "model")
