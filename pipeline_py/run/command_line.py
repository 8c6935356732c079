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
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from pipeline_py.run import errors
from pipeline_py.run.errors import InputError
from pipeline_py.run.interruption import exit_interrupted, exit_with_snakemake
from pipeline_py.run.job import is_output_parameter, iterate_argument_paths
from pipeline_py.run.job_record import check_input_file

POSITIONAL_KEY = "positional"
"""Key of the value that is given without the name of its option."""


class OptionLimits(NamedTuple):
    """Limits of an option in addition to its type: `Annotated[int, OptionLimits(minimum=0)]`.

    Attributes:
        minimum: smallest accepted number.
    """

    minimum: int | None = None


class CommandOption(NamedTuple):
    """An option of a command line, made from a parameter of a function.

    Attributes:
        parameter_name: name of the parameter, e.g. `max_length`.
        value_type: type of a value; of a list, type of its items.
        choices: accepted values; empty if there are others.
        minimum: smallest accepted number.
        is_list: whether it takes several values.
        default: default of the parameter, or `inspect.Parameter.empty`.
        description: its help text.
    """

    parameter_name: str
    value_type: Any
    choices: Sequence[Any]
    minimum: int | None
    is_list: bool
    default: Any
    description: str

    @property
    def name(self) -> str:
        """The name on the command line, e.g. `--max-length`."""
        return f"--{self.parameter_name.replace('_', '-')}"

    @property
    def is_flag(self) -> bool:
        """True if it takes no value."""
        return self.value_type is bool

    @property
    def negated_name(self) -> str:
        """The name of the option that switches a flag off."""
        return f"--no-{self.name[2:]}"

    @property
    def is_required(self) -> bool:
        """True if the parameter has no default."""
        return self.default is inspect.Parameter.empty

    @property
    def placeholder(self) -> str:
        """The name of its value in help texts."""
        return "|".join(self.choices) or self.value_type.__name__.upper()


def list_options(function: Callable[..., Any], descriptions: Mapping[str, str]) -> list[CommandOption]:
    """Return the options of a function's command line.

    Args:
        function: a function with keyword-only parameters.
        descriptions: help texts by parameter.
    """
    return [
        _build_option(function, parameter, descriptions.get(parameter.name, ""))
        for parameter in inspect.signature(function, eval_str=True).parameters.values()
    ]


def _build_option(function: Callable[..., Any], parameter: inspect.Parameter, description: str) -> CommandOption:
    if parameter.kind is not parameter.KEYWORD_ONLY:
        raise TypeError(f"{function.__name__}: a stage takes keyword-only arguments, not {parameter.name}")
    kind, limits = parameter.annotation, OptionLimits()
    if get_origin(kind) is Annotated:
        kind, limits = get_args(kind)
    if isinstance(kind, UnionType):
        (kind,) = (argument for argument in get_args(kind) if argument is not NoneType)
    is_list = get_origin(kind) is list
    if is_list:
        (kind,) = get_args(kind)
    is_literal = get_origin(kind) is Literal
    choices: Sequence[Any] = get_args(kind) if is_literal else [*kind] if issubclass(kind, Enum) else []
    return CommandOption(parameter.name, kind, choices, limits.minimum, is_list, parameter.default, description)


def parse_arguments(
    function: Callable[..., Any], program: str, arguments: Sequence[str], positional: str | None = None
) -> dict[str, Any]:
    """Parse command-line arguments into the keyword arguments of a function, including defaults.

    Each parameter has an option (`max_length` → `--max-length`), which is required if the parameter has no default. A
    list option takes several values and is repeatable; a `bool` has the options `--flag` and `--no-flag`. `--help`
    shows the docstring. An invalid command line ends the process with exit code 2.

    Args:
        function: a function with keyword-only parameters.
        program: the name of the command.
        arguments: the words after it.
        positional: name of a parameter whose value may be given without the option's name.
    """
    summary, descriptions = parse_docstring(function) if {"-h", "--help"} & {*arguments} else ("", {})
    parser = argparse.ArgumentParser(
        program,
        description=summary,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    options = list_options(function, descriptions)
    for option in options:
        _add_option(parser, option, option.parameter_name == positional)
    # argparse would parse a default that is text, so it does not get the defaults.
    defaults = {option.parameter_name: option.default for option in options if not option.is_required}
    values = defaults | vars(parser.parse_intermixed_args(arguments))
    if positional is not None:
        value = values.pop(POSITIONAL_KEY)
        if value is not None:
            values[positional] = value
        elif positional not in values:
            parser.error(f"{positional.upper()} is missing")
    return values


def _add_option(parser: argparse.ArgumentParser, option: CommandOption, is_positional: bool) -> None:
    help_text = option.description.replace("%", "%%")
    if option.is_flag:
        switch = parser.add_mutually_exclusive_group(required=option.is_required)
        switch.add_argument(option.name, dest=option.parameter_name, action="store_true", help=help_text)
        switch.add_argument(option.negated_name, dest=option.parameter_name, action="store_false")
        return
    value_parser = (
        _build_choice_parser(option.choices)
        if option.choices
        else _build_number_parser(option.value_type, option.minimum)
    )
    if is_positional:
        parser.add_argument(
            POSITIONAL_KEY,
            nargs="?",
            default=None,
            type=value_parser,
            metavar=option.parameter_name.upper(),
            help=help_text,
        )
    parser.add_argument(
        option.name,
        action="extend" if option.is_list else "store",
        nargs="+" if option.is_list else None,
        required=option.is_required and not is_positional,
        type=value_parser,
        metavar=option.placeholder,
        help=argparse.SUPPRESS if is_positional else help_text,
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


def parse_docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
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
