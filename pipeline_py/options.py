"""The command line of a function: each of its keyword-only parameters is an option."""

import argparse
import inspect
from collections.abc import Callable, Sequence
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin


class Option(NamedTuple):
    """Properties of an option in addition to its type: `Annotated[int, Option(min=0)]`.

    Attributes:
        min: smallest number that is accepted.
    """

    min: int | None = None


def parsed(function: Callable[..., Any], program: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Give the arguments of a command line, or else their defaults, to the parameters of a function.

    An option is called like its parameter (`max_length` → `--max-length`) and is required where this has no default.
    That of a list takes several values and can be given several times; of `bool` there are two, `--flag` and
    `--no-flag`. The docstring becomes `--help`, its `Args` the help of each option. A command line that does not fit
    ends the process with exit code 2.
    """
    summary, documented = _documentation(function) if "--help" in arguments else ("", {})
    parser = argparse.ArgumentParser(
        program,
        description=summary,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    for parameter in parameters:
        if parameter.kind is not parameter.KEYWORD_ONLY:
            raise TypeError(f"{function.__name__}: a stage takes keyword-only arguments, not {parameter.name}")
        _add(parser, parameter, documented.get(parameter.name, "").replace("%", "%%"))
    # A default that is text would be read as if it were given, so the parser is told of none.
    defaults = {parameter.name: parameter.default for parameter in parameters}
    return defaults | vars(parser.parse_args(arguments))


def _add(parser: argparse.ArgumentParser, parameter: inspect.Parameter, text: str) -> None:
    kind, option = parameter.annotation, Option()
    if get_origin(kind) is Annotated:
        kind, option = get_args(kind)
    if isinstance(kind, UnionType):
        (kind,) = (one for one in get_args(kind) if one is not NoneType)
    name = f"--{parameter.name.replace('_', '-')}"
    required = parameter.default is parameter.empty
    if kind is bool:
        switch = parser.add_mutually_exclusive_group(required=required)
        switch.add_argument(name, dest=parameter.name, action="store_true", help=text)
        switch.add_argument(f"--no-{name[2:]}", dest=parameter.name, action="store_false")
        return
    several = get_origin(kind) is list
    if several:
        (kind,) = get_args(kind)
    choices: Sequence[Any] = (
        get_args(kind) if get_origin(kind) is Literal else [*kind] if issubclass(kind, Enum) else []
    )
    parser.add_argument(
        name,
        action="extend" if several else "store",
        nargs="+" if several else None,
        required=required,
        type=_chosen(choices) if choices else _read(kind, option.min),
        metavar="|".join(choices) or kind.__name__.upper(),
        help=text,
    )


def _chosen(choices: Sequence[str]) -> Callable[[str], Any]:
    def value(text: str) -> Any:
        if text not in choices:
            raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(choices)}")
        return choices[choices.index(text)]

    return value


def _read(kind: Any, least: int | None) -> Callable[[str], Any]:
    def value(text: str) -> Any:
        try:
            number = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not of type {kind.__name__}") from None
        if least is not None and number < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return number

    return value


def _documentation(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """A function's docstring: what stands before its `Args`, and what it says of each."""
    import docstring_parser

    docstring = docstring_parser.parse(function.__doc__ or "")
    paragraphs = filter(None, (docstring.short_description, docstring.long_description))
    return "\n\n".join(paragraphs), {argument.arg_name: argument.description or "" for argument in docstring.params}
