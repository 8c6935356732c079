"""Make the code next to the Snakefile the code that runs: in the plan, in its hashes and in every job.

Python would find the clone that its environment has installed, and a profile may have imported that one already.
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


package_folder = Path(workflow.basedir, PACKAGE).resolve()
sys.path.insert(0, workflow.basedir)
if PACKAGE in sys.modules and find_imported_package() != package_folder:
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
if find_imported_package() != package_folder:
    raise WorkflowError(
        f"{package_folder} does not exist, and the code of another folder ({find_imported_package()}) must not take its place; "
        "run Snakemake with the Snakefile of a complete copy of the project"
    )
sys.path[:] = [*(path for path in sys.path if path != workflow.basedir), workflow.basedir]

# Jobs: whatever folder they run in, and whatever that contains.
other_folders = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path != workflow.basedir]
os.environ.update(
    PYTHONPATH=os.pathsep.join([workflow.basedir, *filter(None, other_folders)]),
    PYTHONSAFEPATH="1",
)
