"""Command lines made from the signatures of functions.

    if __name__ == "__main__":
        run_command(translate)

A stage reports bad input in one sentence; a traceback always means a bug.
"""

import argparse
import gc
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from pipeline_py.run import errors
from pipeline_py.run.errors import InputError
from pipeline_py.run.interruption import end_interrupted, end_with_runner
from pipeline_py.run.job import is_output, list_files
from pipeline_py.run.record import check_input


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


OBJECTS = 50_000
"""How many new objects there must be before the garbage collector looks for cycles; they take some megabytes."""


def run_command(function: Callable[..., None]) -> None:
    """Call a function with the arguments of the command line (`options.parsed`), and end the process.

    Files that it reads are compared with their records. All its paths count as such, except `output` and `*_output`.
    """
    module = sys.modules["__main__"].__spec__
    program = f"python -m {function.__name__ if module is None else module.name}"

    def work() -> None:
        arguments = parsed(function, program, sys.argv[1:])
        for name, value in arguments.items():
            if not is_output(name):
                for path in list_files(value):
                    check_input(path)
        function(**arguments)

    end_after(work)


def end_after(work: Callable[[], None]) -> None:
    """Do some work, and end the process.

    An `InputError`, or what the machine fails with (`failures.about`), ends it with one sentence on stderr and exit
    code 1, and Ctrl-C with exit code 130.
    """
    end_with_runner()
    gc.set_threshold(OBJECTS)  # to import a library makes many objects and no garbage, and is a tenth faster so
    try:
        work()
        sys.stdout.flush()
    except Exception as error:
        said = str(error) if isinstance(error, InputError) else errors.describe_failure(error)
        if said is None:
            raise
        print(f"error: {said}", file=sys.stderr)
        sys.stderr.flush()
        os._exit(1)  # whose stdout cannot be written would be told so once more
    except KeyboardInterrupt:
        end_interrupted()
    sys.stderr.flush()
    os._exit(0)  # to take a process apart that has imported torch takes a quarter of a second more
