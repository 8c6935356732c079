"""Files given on the command line by what they are of: SPLIT:ANNOTATION=FILE or ANNOTATION=FILE."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from pipeline_py.input_error import InputError
from pipeline_py.syntax.trees.formats import Annotation

ALL = "all"
"""Stands for the split where something is of every split."""

Trees: TypeAlias = tuple[str, Annotation]
"""A split, or `ALL`, and the kind of its trees."""


def files_by_split(pairs: Sequence[str], option: str, form: str = "SPLIT:ANNOTATION") -> dict[Trees, Path]:
    """Map the trees of splits to files, in the order given.

    Args:
        pairs: values of the option; no name of a split holds a `:` or a `=`.
        option: the option's name, for messages.
        form: what stands before the `=`: SPLIT:ANNOTATION, or ANNOTATION where a file is of all splits.

    Raises:
        InputError: if a value is no such pair, or the trees of a split come twice.
    """
    kinds = {kind.value: kind for kind in Annotation}
    files: dict[Trees, Path] = {}
    for pair in pairs:
        name, _, path = pair.partition("=")
        split, _, kind = name.partition(":") if form == "SPLIT:ANNOTATION" else (ALL, "", name)
        if not split or kind not in kinds or not path:
            raise InputError(
                f"{option} {pair!r} is not of the form {form}=FILE with {' or '.join(kinds)} for ANNOTATION; correct it"
            )
        trees = split, kinds[kind]
        if trees in files:
            raise InputError(f"{option} names {name} twice; give it once")
        files[trees] = Path(path)
    return files


def need_the_same(files: Mapping[str, Mapping[Trees, Path]]) -> None:
    """Make sure that every option was given for the same trees.

    Args:
        files: for each option what it maps to files.

    Raises:
        InputError: naming trees that one option has and another has not.
    """
    (first, expected), *others = files.items()
    for option, found in others:
        unpaired = next((trees for trees in [*expected, *found] if trees not in expected or trees not in found), None)
        if unpaired is not None:
            name = ":".join(unpaired)
            raise InputError(f"{name} is not named by both {first} and {option}; give it to both as {name}=FILE")
