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
from pipeline_py.run.interruption import exit_interrupted, exit_with_snakemake
from pipeline_py.run.job import is_output_parameter, iterate_argument_paths
from pipeline_py.run.job_record import check_input_file


class OptionLimits(NamedTuple):
    """Properties of an option in addition to its type: `Annotated[int, Option(min=0)]`.

    Attributes:
        minimum: smallest number that is accepted.
    """

    minimum: int | None = None


def parse_arguments(function: Callable[..., Any], program: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Give the arguments of a command line, or else their defaults, to the parameters of a function.

    An option is called like its parameter (`max_length` → `--max-length`) and is required where this has no default.
    That of a list takes several values and can be given several times; of `bool` there are two, `--flag` and
    `--no-flag`. The docstring becomes `--help`, its `Args` the help of each option. A command line that does not fit
    ends the process with exit code 2.
    """
    summary, documented = _parse_docstring(function) if "--help" in arguments else ("", {})
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
        _add_option(parser, parameter, documented.get(parameter.name, "").replace("%", "%%"))
    # A default that is text would be read as if it were given, so the parser is told of none.
    defaults = {parameter.name: parameter.default for parameter in parameters}
    return defaults | vars(parser.parse_args(arguments))


def _add_option(parser: argparse.ArgumentParser, parameter: inspect.Parameter, help_text: str) -> None:
    kind, option = parameter.annotation, OptionLimits()
    if get_origin(kind) is Annotated:
        kind, option = get_args(kind)
    if isinstance(kind, UnionType):
        (kind,) = (one for one in get_args(kind) if one is not NoneType)
    name = f"--{parameter.name.replace('_', '-')}"
    required = parameter.default is parameter.empty
    if kind is bool:
        switch = parser.add_mutually_exclusive_group(required=required)
        switch.add_argument(name, dest=parameter.name, action="store_true", help=help_text)
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
        type=_build_choice_parser(choices) if choices else _build_number_parser(kind, option.minimum),
        metavar="|".join(choices) or kind.__name__.upper(),
        help=help_text,
    )


def _build_choice_parser(choices: Sequence[str]) -> Callable[[str], Any]:
    def parse_choice(text: str) -> Any:
        if text not in choices:
            raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(choices)}")
        return choices[choices.index(text)]

    return parse_choice


def _build_number_parser(number_type: Any, minimum: int | None) -> Callable[[str], Any]:
    def parse_number(text: str) -> Any:
        try:
            number = number_type(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not of type {number_type.__name__}") from None
        if minimum is not None and number < minimum:
            raise argparse.ArgumentTypeError(f"{text} is less than {minimum}")
        return number

    return parse_number


def _parse_docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """A function's docstring: what stands before its `Args`, and what it says of each."""
    import docstring_parser

    docstring = docstring_parser.parse(function.__doc__ or "")
    paragraphs = filter(None, (docstring.short_description, docstring.long_description))
    return "\n\n".join(paragraphs), {argument.arg_name: argument.description or "" for argument in docstring.params}


GARBAGE_COLLECTOR_THRESHOLD = 50_000
"""How many new objects there must be before the garbage collector looks for cycles; they take some megabytes."""


def run_command(function: Callable[..., None]) -> None:
    """Call a function with the arguments of the command line (`options.parsed`), and end the process.

    Files that it reads are compared with their records. All its paths count as such, except `output` and `*_output`.
    """
    module = sys.modules["__main__"].__spec__
    program = f"python -m {function.__name__ if module is None else module.name}"

    def run_function() -> None:
        arguments = parse_arguments(function, program, sys.argv[1:])
        for name, value in arguments.items():
            if not is_output_parameter(name):
                for path in iterate_argument_paths(value):
                    check_input_file(path)
        function(**arguments)

    run_and_exit(run_function)


def run_and_exit(work: Callable[[], None]) -> None:
    """Do some work, and end the process.

    An `InputError`, or what the machine fails with (`failures.about`), ends it with one sentence on stderr and exit
    code 1, and Ctrl-C with exit code 130.
    """
    exit_with_snakemake()
    gc.set_threshold(
        GARBAGE_COLLECTOR_THRESHOLD
    )  # to import a library makes many objects and no garbage, and is a tenth faster so
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
        exit_interrupted()
    sys.stderr.flush()
    os._exit(0)  # to take a process apart that has imported torch takes a quarter of a second more
