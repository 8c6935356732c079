"""Import path of commands, in which files of the working folder do not shadow modules of libraries.

`python -m` puts the working folder first, and PYTHONPATH the project folder; a library that imports `random` would
import a file `random.py` there. This module only imports modules that Python has already imported.
"""

import os
import sys

PACKAGE_NAME = __name__.partition(".")[0]


def is_package_command() -> bool:
    """Return whether this process is `python -m pipeline_py.STAGE` and still imports the package."""
    words = (word.partition(".")[0] for word in sys.orig_argv)
    return sys.argv[:1] == ["-m"] and PACKAGE_NAME in words


def move_project_last() -> None:
    """Remove the working folder from the import path, and move the project folder to its end.

    The package is already imported and has its own path for submodules.
    """
    project = os.path.realpath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))  # noqa: PTH118, PTH120 (imports less)
    if not sys.flags.safe_path:
        del sys.path[0]
    sys.path[:] = [*(path for path in sys.path if os.path.realpath(path) != project), project]
