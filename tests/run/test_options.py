"""Parsing of command-line arguments for all kinds of parameters."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import pytest

from pipeline_py.run.command_line import OptionLimits, parse_arguments


class Shape(StrEnum):
    RIGHT_BRANCHING = "right-branching"
    CHAIN = "chain"


def draw(
    *,
    shape: Shape,
    files: list[Path],
    share: float = 0.5,
    samples: Annotated[int, OptionLimits(minimum=1)] = 1000,
    numbers: list[int] | None = None,
    tokenizer: Literal["13a", "none"] = "13a",
    output: Path | None = None,
    keep_all: bool = False,
    lowercase: bool = True,
) -> None:
    """Draw trees, 100% of them.

    Not all are beautiful.

    Args:
        shape: of the trees.
        files: where to; half of them (50%) may be empty.
        share: of the sentences.
        samples: how many.
        numbers: of the sentences.
        tokenizer: of the text.
        output: the picture.
        keep_all: none is left out.
        lowercase: whether case is ignored.
    """


REQUIRED = ["--shape", "chain", "--files", "a"]


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ([], {}),
        (["--files=b"], {"files": [Path("a"), Path("b")]}),
        (["--share", "-1.5"], {"share": -1.5}),
        (["--samples", "1"], {"samples": 1}),
        (["--numbers", "3", "--numbers=4"], {"numbers": [3, 4]}),
        (["--numbers", "3", "4", "--keep-all", "--numbers", "5"], {"numbers": [3, 4, 5], "keep_all": True}),
        (["--tokenizer", "none"], {"tokenizer": "none"}),
        (["--output=--strange"], {"output": Path("--strange")}),
        (["--keep-all", "--no-lowercase"], {"keep_all": True, "lowercase": False}),
        (["--no-keep-all", "--lowercase"], {"keep_all": False, "lowercase": True}),
    ],
)
def test_parameters_are_options(arguments, values):
    required = {"shape": Shape.CHAIN, "files": [Path("a")]}
    assert parse_arguments(draw, "draw", [*REQUIRED, *arguments]) == {
        **(draw.__kwdefaults__ or {}),
        **required,
        **values,
    }


def test_a_choice_is_a_member():
    assert parse_arguments(draw, "draw", REQUIRED)["shape"] is Shape.CHAIN


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--files", "a"], "required: --shape"),
        (["--shape", "round", "--files", "a"], "--shape: 'round' is not one of right-branching, chain"),
        ([*REQUIRED, "--tokenizer", "14a"], "--tokenizer: '14a' is not one of 13a, none"),
        ([*REQUIRED, "--samples", "0"], "--samples: 0 is less than 1"),
        ([*REQUIRED, "--samples", "many"], "--samples: 'many' is not of type int"),
        ([*REQUIRED, "--sample", "3"], "unrecognized arguments: --sample"),
        ([*REQUIRED, "--no-share"], "unrecognized arguments: --no-share"),
        ([*REQUIRED, "--keep-all", "stray"], "unrecognized arguments: stray"),
    ],
)
def test_invalid_arguments_are_reported(arguments, complaint, capsys):
    with pytest.raises(SystemExit) as end:
        parse_arguments(draw, "draw", arguments)
    assert end.value.code == 2 and complaint in capsys.readouterr().err


def test_help_is_the_docstring(capsys):
    with pytest.raises(SystemExit) as end:
        parse_arguments(draw, "python -m draw", ["--help"])
    shown = capsys.readouterr().out
    assert end.value.code == 0
    for text in (
        "usage: python -m draw ",
        "Draw trees, 100% of them.\n\nNot all are beautiful.",
        "--shape right-branching|chain",
        "--files PATH",
        "where to; half of them (50%) may be empty.",
        "--no-lowercase",
    ):
        assert text in shown


def test_a_stage_takes_keyword_only_arguments():
    def positional(name: str) -> None: ...

    with pytest.raises(TypeError, match="positional: a stage takes keyword-only arguments, not name"):
        parse_arguments(positional, "positional", [])
