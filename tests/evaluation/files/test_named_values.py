"""NAME=VALUE of the command line, and what is wrong with it."""

import pytest

from pipeline_py.evaluation.files.named_values import named_numbers, named_texts
from pipeline_py.input_error import InputError


def test_names_may_hold_an_equals_sign() -> None:
    assert named_texts(["SDAtt (n=2)=net", "A=b"], "--networks") == {"SDAtt (n=2)": "net", "A": "b"}
    assert named_numbers(["bleu=0.6", "ter=1"], "--run-deviation") == {"bleu": 0.6, "ter": 1.0}


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["bleu"], "--x 'bleu' is not of the form NAME=VALUE; correct it"),
        (["=1"], "is not of the form NAME=VALUE"),
        (["bleu=1", "bleu=2"], "--x names 'bleu' twice; give every name once"),
        (["bleu=much"], "--x 'bleu' has 'much'; give a number that is not negative"),
        (["bleu=-1"], "give a number that is not negative"),
        (["bleu=nan"], "give a number that is not negative"),
    ],
)
def test_mistakes_are_one_sentence(pairs: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        named_numbers(pairs, "--x")
