"""Command-line interfaces generated from function signatures.

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
    """Limits of an option in addition to its type: `Annotated[int, OptionLimits(minimum=0)]`.

    Attributes:
        minimum: smallest accepted number.
    """

    minimum: int | None = None


def parse_arguments(function: Callable[..., Any], program: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Parse command-line arguments into the keyword arguments of a function, including defaults.

    Each parameter has an option (`max_length` → `--max-length`), which is required if the parameter has no default. A
    list option takes several values and is repeatable; a `bool` has the options `--flag` and `--no-flag`. `--help`
    shows the docstring. An invalid command line ends the process with exit code 2.
    """
    summary, option_texts = _parse_docstring(function) if "--help" in arguments else ("", {})
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
        _add_option(parser, parameter, option_texts.get(parameter.name, "").replace("%", "%%"))
    # argparse would parse a default that is text, so it does not get the defaults.
    defaults = {parameter.name: parameter.default for parameter in parameters}
    return defaults | vars(parser.parse_args(arguments))


def _add_option(parser: argparse.ArgumentParser, parameter: inspect.Parameter, help_text: str) -> None:
    kind, option = parameter.annotation, OptionLimits()
    if get_origin(kind) is Annotated:
        kind, option = get_args(kind)
    if isinstance(kind, UnionType):
        (kind,) = (argument for argument in get_args(kind) if argument is not NoneType)
    name = f"--{parameter.name.replace('_', '-')}"
    is_required = parameter.default is parameter.empty
    if kind is bool:
        switch = parser.add_mutually_exclusive_group(required=is_required)
        switch.add_argument(name, dest=parameter.name, action="store_true", help=help_text)
        switch.add_argument(f"--no-{name[2:]}", dest=parameter.name, action="store_false")
        return
    is_list = get_origin(kind) is list
    if is_list:
        (kind,) = get_args(kind)
    choices: Sequence[Any] = (
        get_args(kind) if get_origin(kind) is Literal else [*kind] if issubclass(kind, Enum) else []
    )
    parser.add_argument(
        name,
        action="extend" if is_list else "store",
        nargs="+" if is_list else None,
        required=is_required,
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
    """Return the description in a function's docstring, and the text for each parameter."""
    import docstring_parser

    docstring = docstring_parser.parse(function.__doc__ or "")
    paragraphs = filter(None, (docstring.short_description, docstring.long_description))
    return "\n\n".join(paragraphs), {argument.arg_name: argument.description or "" for argument in docstring.params}


GARBAGE_COLLECTOR_THRESHOLD = 50_000
"""Number of new objects (some megabytes) before the garbage collector searches for cycles."""


def run_command(function: Callable[..., None]) -> None:
    """Call a function with the arguments of the command line (`parse_arguments`), and end the process.

    All its paths, except `output` and `*_output`, are checked against their records.
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
    """Call a function, and end the process.

    The exit code is 1 after an `InputError` or a failure of the machine (`errors.describe_failure`), which are reported
    in one sentence on stderr, and 130 after Ctrl-C.
    """
    exit_with_snakemake()
    gc.set_threshold(GARBAGE_COLLECTOR_THRESHOLD)  # imports are 10 % faster; they make many objects and no garbage
    try:
        work()
        sys.stdout.flush()
    except Exception as error:
        message = str(error) if isinstance(error, InputError) else errors.describe_failure(error)
        if message is None:
            raise
        print(f"error: {message}", file=sys.stderr)
        sys.stderr.flush()
        os._exit(1)  # a normal exit would report a closed stdout again
    except KeyboardInterrupt:
        exit_interrupted()
    sys.stderr.flush()
    os._exit(0)  # a normal exit takes 0.25 s longer if torch is imported
