"""A stage is one public function with typed arguments; its command line is made from it.

    if __name__ == "__main__":
        stage.run(tokenize)

Whoever runs a stage sees one sentence when the input is at fault, and a traceback only when we are.
"""

import functools
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args

import docstring_parser
import typer


class InputError(Exception):
    """The user's input is at fault; the message is one sentence naming file, line and remedy."""

    def __init__(self, message: str, path: Path | str | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        super().__init__(place + message)


def run(function: Callable[..., Any]) -> None:
    """Run `function` with the arguments of the command line.

    Keyword-only parameters become options of the same name (`max_length` → `--max-length`); the docstring becomes
    `--help`, its `Args` the help of each option. An `InputError` or a file that cannot be opened ends the command
    with one sentence on stderr and exit code 1.
    """
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(help=_description(function))(_with_options(function))
    try:
        app()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except FileNotFoundError as error:
        print(f"error: {error.filename}: no such file; check the path in the configuration", file=sys.stderr)
        sys.exit(1)
    except (IsADirectoryError, NotADirectoryError, PermissionError) as error:
        reason = (error.strerror or "cannot be opened").lower()
        print(f"error: {error.filename}: {reason}; check the path in the configuration", file=sys.stderr)
        sys.exit(1)


def _with_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make every parameter an option: typer would make those without a default positional."""
    documented = {arg.arg_name: arg.description for arg in docstring_parser.parse(function.__doc__ or "").params}
    signature = inspect.signature(function, eval_str=True)
    parameters = []
    for parameter in signature.parameters.values():
        if parameter.kind is not parameter.KEYWORD_ONLY:
            raise TypeError(f"{function.__name__}: a stage takes keyword-only arguments, not {parameter.name}")
        annotated = hasattr(parameter.annotation, "__metadata__")
        typed, option = get_args(parameter.annotation) if annotated else (parameter.annotation, typer.Option())
        option.help = option.help or documented.get(parameter.name)
        parameters.append(parameter.replace(annotation=Annotated[typed, option]))

    @functools.wraps(function)
    def command(**arguments: Any) -> Any:
        return function(**arguments)

    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _description(function: Callable[..., Any]) -> str:
    docstring = docstring_parser.parse(function.__doc__ or "")
    return "\n\n".join(part for part in (docstring.short_description, docstring.long_description) if part)
