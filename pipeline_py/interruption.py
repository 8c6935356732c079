"""Ctrl-C ends a command with one sentence, also while it is still importing libraries."""

import os
import sys
from types import TracebackType
from typing import NoReturn

EXIT_CODE = 130
"""128 and the number of SIGINT, as shells report it."""


def report_interruptions() -> None:
    """Report Ctrl-C in one sentence wherever this process is interrupted."""
    sys.excepthook = _report


def _report(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        end_interrupted()
    sys.__excepthook__(kind, error, traceback)


def end_interrupted() -> NoReturn:
    """End this process, which Ctrl-C has interrupted."""
    print("error: interrupted; run the same command again", file=sys.stderr, flush=True)
    os._exit(EXIT_CODE)
