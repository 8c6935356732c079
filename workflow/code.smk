"""Make the code next to the Snakefile the code that runs: in the plan, in its hashes and in every job.

Python would find the clone that its environment has installed, and a profile may have imported that one already. The
main Snakefile may be another one, which includes this Snakefile or uses it as a module.
"""

import os
import sys
from importlib import import_module
from pathlib import Path

from snakemake.exceptions import WorkflowError

PACKAGE = "pipeline_py"


def find_imported_package():
    """Return the folder that the package is imported from."""
    return Path(import_module(PACKAGE).__file__).parent.resolve()


if not isinstance(workflow.current_basedir, os.PathLike):
    raise WorkflowError(
        f"{workflow.current_basedir}: jobs need the Python code next to the Snakefile, which Snakemake does not fetch; "
        "clone the repository and give the path of its Snakefile"
    )
PROJECT_FOLDER = os.path.dirname(workflow.current_basedir)

package_folder = Path(PROJECT_FOLDER, PACKAGE).resolve()
sys.path.insert(0, PROJECT_FOLDER)
if PACKAGE in sys.modules and find_imported_package() != package_folder:
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
if find_imported_package() != package_folder:
    raise WorkflowError(
        f"{package_folder} does not exist, and the code of another folder ({find_imported_package()}) must not take its place; "
        "run Snakemake with the Snakefile of a complete copy of the project"
    )
sys.path[:] = [*(path for path in sys.path if os.path.abspath(path) != PROJECT_FOLDER), PROJECT_FOLDER]

# Jobs: whatever folder they run in, and whatever that contains.
other_folders = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path != PROJECT_FOLDER]
os.environ.update(
    PYTHONPATH=os.pathsep.join([PROJECT_FOLDER, *filter(None, other_folders)]),
    PYTHONSAFEPATH="1",
)
