"""The import path of commands: files of the working folder must not take the place of modules of libraries.

`python -m` puts the working folder first, and jobs get the folder of the project by PYTHONPATH: a library that imports
`random` would import a file `random.py` there. This module only imports what Python has imported before it.
"""

import os
import sys

PACKAGE_NAME = __name__.partition(".")[0]


def is_package_command() -> bool:
    """Return whether this process is `python -m pipeline_py.STAGE`, and is just importing the package."""
    words = (word.partition(".")[0] for word in sys.orig_argv)
    return sys.argv[:1] == ["-m"] and PACKAGE_NAME in words


def move_project_last() -> None:
    """Remove the working folder from the import path, and put the folder of the project behind all others.

    The package itself is imported already, and its modules are found by its own path.
    """
    project = os.path.realpath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))  # noqa: PTH118, PTH120 (imports less)
    if not sys.flags.safe_path:
        del sys.path[0]
    sys.path[:] = [*(path for path in sys.path if os.path.realpath(path) != project), project]
