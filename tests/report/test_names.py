"""Names of things on the command line."""

import pytest

from pipeline_py.report.names import names
from pipeline_py.stage import InputError

THINGS = ["A", "A (n=2)", "句", "A (n"]


def test_names_by_thing():
    assert names([], THINGS, "--label") == {}
    assert names(["句=b = c", "A=1"], THINGS, "--label") == {"句": "b = c", "A": "1"}


def test_a_thing_may_hold_an_equals_sign():
    assert names(["A (n=2)=two", "A (n=3)=three"], THINGS, "--label") == {"A (n=2)": "two", "A (n": "3)=three"}


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["A"], r"--label 'A' names none of 'A', 'A \(n=2\)', '句', 'A \(n'; write THING=NAME with one of them"),
        (["B=x"], "--label 'B=x' names none of"),
        (["A="], "--label 'A=' needs a printable name behind A="),
        (["A=a\tb"], "needs a printable name behind A="),
        (["A=a", "A=b"], "--label names 'A' twice; give every name once"),
    ],
)
def test_what_does_not_fit_is_named(pairs, message):
    with pytest.raises(InputError, match=message):
        names(pairs, THINGS, "--label")
