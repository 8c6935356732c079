"""How much of a stage's process is the stage's work: its function runs, and imports nothing.

Stages import heavy libraries inside their functions, once their options are known to be good; so the time of imports
is taken out of that of the function. `python -m benchmarks.overhead` adds up what is recorded here.
"""

import builtins
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

RECORDS = "STAGE_TIMES"
"""The environment variable that names the file of records; without it nothing is measured."""

SHORTEST = 1e-3
"""Seconds; shorter imports, of modules that are there already, count and are not listed."""


@contextmanager
def recorded(stage: str) -> Iterator[None]:
    """Append a line to the file of records about what is done meanwhile, where such a file is asked for.

    The line is a JSON object: `stage`; `began`, `ended` (seconds since the epoch); `imports`, a list of [began, ended];
    and, in seconds of the CPU, `cpu_before` (from the start of the process), `cpu` (all of it from `began` to `ended`)
    and `cpu_imports` (the part of this for imports).
    """
    if RECORDS not in os.environ:
        yield
        return
    imports = _Imports(builtins.__import__)
    began, cpu_before = time.time(), time.process_time()
    builtins.__import__ = imports
    try:
        yield
    finally:
        builtins.__import__ = imports.original
        record = {
            "stage": stage,
            "began": began,
            "ended": time.time(),
            "imports": imports.listed,
            "cpu_before": cpu_before,
            "cpu": time.process_time() - cpu_before,
            "cpu_imports": imports.cpu,
        }
        with Path(os.environ[RECORDS]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")  # at once: processes do not write into each other's lines


class _Imports:
    """Imports as before, with a clock that runs during the outermost of them."""

    def __init__(self, original: Callable[..., Any]) -> None:
        self.original = original
        self.listed: list[tuple[float, float]] = []
        self.cpu = 0.0
        self._inside = False

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        if self._inside:
            return self.original(*arguments, **options)
        began, cpu = time.time(), time.process_time()
        self._inside = True
        try:
            return self.original(*arguments, **options)
        finally:
            self._inside = False
            self.cpu += time.process_time() - cpu
            if time.time() - began > SHORTEST:
                self.listed.append((began, time.time()))
