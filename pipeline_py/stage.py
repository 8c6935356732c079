"""A stage is one public function with typed arguments; its command line is made from it.

    if __name__ == "__main__":
        stage.run(tokenize)

Whoever runs a stage sees one sentence when the input is at fault, and a traceback only when we are.
"""

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline_py import checksum, failures
from pipeline_py.input_error import InputError
from pipeline_py.interruption import end_interrupted
from pipeline_py.options import parsed
from pipeline_py.orphans import end_with_runner

OBJECTS = 50_000
"""How many new objects there must be before the garbage collector looks for cycles; they take some megabytes."""


def run(function: Callable[..., Any], checksums: bool = True) -> None:
    """Run `function` with the arguments of the command line (`options.parsed`), and end the process.

    Args:
        function: the stage.
        checksums: leave those of its outputs beside them; not for outputs that the user is to edit.
    """
    module = sys.modules["__main__"].__spec__
    name = function.__name__ if module is None else module.name
    end_after(lambda: call(function, f"python -m {name}", sys.argv[1:], checksums))


def call(function: Callable[..., Any], program: str, words: Sequence[str], checksums: bool = True) -> None:
    """Run `function` with the arguments of a command line.

    Args:
        function: the stage.
        program: what messages about the command line call it.
        words: the command line behind the program.
        checksums: leave those of its outputs beside them.

    Raises:
        InputError: what the stage says of its input, or an input has changed since a stage wrote it.
    """
    arguments = parsed(function, program, words)
    for path in inputs(arguments):
        if not checksum.is_whole(path):
            raise InputError(checksum.DAMAGED, path)
    made = [path for path in outputs(arguments) if checksums]
    for path in made:
        checksum.forget(path)  # whoever is killed from now on leaves none that belongs to another content
    function(**arguments)
    for path in made:
        if path.exists():
            checksum.record(path)


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
        said = str(error) if isinstance(error, InputError) else failures.about(error)
        if said is None:
            raise
        print(f"error: {said}", file=sys.stderr)
        sys.stderr.flush()
        os._exit(1)  # whose stdout cannot be written would be told so once more
    except KeyboardInterrupt:
        end_interrupted()
    sys.stderr.flush()
    os._exit(0)  # to take a process apart that has imported torch takes a quarter of a second more


def _is_output(option: str) -> bool:
    return option == "output" or option.endswith("_output")


def outputs(arguments: Mapping[str, Any]) -> Iterator[Path]:
    """Yield what a stage is told to make: the values of `output`, and of options whose names end with it."""
    for option, value in arguments.items():
        if _is_output(option):
            yield from value if isinstance(value, list) else [] if value is None else [value]


def inputs(arguments: Mapping[str, Any]) -> Iterator[Path]:
    """Yield what a stage may read: other paths, and in lists what stands behind each `=`, as names may hold one too."""
    for option, value in arguments.items():
        if not _is_output(option):
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, Path):
                    yield one
                elif isinstance(one, str) and isinstance(value, list):
                    parts = one.split("=")
                    yield from (Path("=".join(parts[place:])) for place in range(1, len(parts)))
