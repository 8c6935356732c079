"""Files given on the command line by what they are of: SPLIT:ANNOTATION=FILE or ANNOTATION=FILE."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, TypeVar

from pipeline_py.stage import InputError
from pipeline_py.syntax.trees.formats import Annotation

Trees: TypeAlias = tuple[str, Annotation]
"""A split and the kind of its trees."""

Key = TypeVar("Key")

_KINDS = {kind.value: kind for kind in Annotation}


def files_by_split(pairs: Sequence[str], option: str) -> dict[Trees, Path]:
    """Map the trees of splits to files, in the order given.

    Args:
        pairs: values of the option, `SPLIT:ANNOTATION=FILE`; no name of a split holds a `:` or a `=`.
        option: the option's name, for messages.

    Raises:
        InputError: if a value is no such pair, or the trees of a split come twice.
    """

    def key(name: str) -> Trees | None:
        split, _, annotation = name.partition(":")
        return (split, _KINDS[annotation]) if split and annotation in _KINDS else None

    return _files(pairs, option, "SPLIT:ANNOTATION", key)


def files_by_annotation(pairs: Sequence[str], option: str) -> dict[Annotation, Path]:
    """Map kinds of trees to files, in the order given.

    Args:
        pairs: values of the option, `ANNOTATION=FILE`.
        option: the option's name, for messages.

    Raises:
        InputError: if a value is no such pair, or a kind of trees comes twice.
    """
    return _files(pairs, option, "ANNOTATION", _KINDS.get)


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


def _files(pairs: Sequence[str], option: str, form: str, key: Callable[[str], Key | None]) -> dict[Key, Path]:
    files: dict[Key, Path] = {}
    for pair in pairs:
        name, _, path = pair.partition("=")
        found = key(name)
        if found is None or not path:
            kinds = " or ".join(_KINDS)
            raise InputError(
                f"{option} {pair!r} is not of the form {form}=FILE with {kinds} for ANNOTATION; correct it"
            )
        if found in files:
            raise InputError(f"{option} names {name} twice; give it once")
        files[found] = Path(path)
    return files
