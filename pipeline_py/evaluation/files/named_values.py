"""Values given on the command line as NAME=VALUE."""

from collections.abc import Sequence
from math import isfinite

from pipeline_py.input_error import InputError


def named_texts(pairs: Sequence[str], option: str) -> dict[str, str]:
    """Map names to texts; a name may contain `=`, a value may not.

    Raises:
        InputError: if an option is not of the form NAME=VALUE, or a name is given twice.
    """
    values: dict[str, str] = {}
    for pair in pairs:
        name, _, value = pair.rpartition("=")
        if not name or not value:
            raise InputError(f"{option} {pair!r} is not of the form NAME=VALUE; correct it")
        if name in values:
            raise InputError(f"{option} names {name!r} twice; give every name once")
        values[name] = value
    return values


def named_numbers(pairs: Sequence[str], option: str) -> dict[str, float]:
    """Map names to numbers that are not negative.

    Raises:
        InputError: if an option is not of the form NAME=NUMBER, or a name is given twice.
    """
    numbers: dict[str, float] = {}
    for name, text in named_texts(pairs, option).items():
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not (isfinite(number) and number >= 0):
            raise InputError(f"{option} {name!r} has {text!r}; give a number that is not negative")
        numbers[name] = number
    return numbers
