"""A stage is one public function with typed arguments; its command line is made from it.

    if __name__ == "__main__":
        stage.run(tokenize)

Whoever runs a stage sees one sentence when the input is at fault, and a traceback only when we are.
"""

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer


class InputError(Exception):
    """The user's input is at fault; the message is one sentence naming file, line and remedy."""

    def __init__(self, message: str, path: Path | str | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        super().__init__(place + message)


def run(function: Callable[..., Any]) -> None:
    """Run `function` with the arguments of the command line.

    Parameters become options of the same name (`max_length` → `--max-length`); the docstring becomes `--help`.
    An `InputError` or a missing file ends the command with one sentence on stderr and exit code 1.
    """
    parameters = inspect.signature(function).parameters.values()
    positional = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    if positional:
        raise TypeError(f"{function.__name__}: a stage takes keyword-only arguments, not {positional}")
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command()(function)
    try:
        app()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except FileNotFoundError as error:
        print(f"error: {error.filename}: no such file; check the path in the configuration", file=sys.stderr)
        sys.exit(1)
