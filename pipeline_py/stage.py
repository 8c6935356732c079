"""The command line of a function, and the end of a process.

    if __name__ == "__main__":
        stage.run(translate)

A stage reports bad input in one sentence; a traceback always means a bug.
"""

import gc
import os
import sys
from collections.abc import Callable

from pipeline_py import failures
from pipeline_py.input_error import InputError
from pipeline_py.interruption import end_interrupted
from pipeline_py.options import parsed
from pipeline_py.orphans import end_with_runner
from pipeline_py.run.job import is_output, list_files
from pipeline_py.run.record import check_input

OBJECTS = 50_000
"""How many new objects there must be before the garbage collector looks for cycles; they take some megabytes."""


def run(function: Callable[..., None]) -> None:
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
