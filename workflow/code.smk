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


def find_code_folder():
    """Return the folder of the package: that of the Snakefile, or in an installed wheel the one of all packages."""
    folder = Path(PROJECT_FOLDER)
    return folder.parents[1] if (folder.name, folder.parent.name) == ("project", PACKAGE) else folder


code_folder = str(find_code_folder())
package_folder = Path(code_folder, PACKAGE).resolve()
sys.path.insert(0, code_folder)
if PACKAGE in sys.modules and find_imported_package() != package_folder:
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
if find_imported_package() != package_folder:
    raise WorkflowError(
        f"{package_folder} does not exist, and the code of another folder ({find_imported_package()}) must not take its place; "
        "run Snakemake with the Snakefile of a complete copy of the project"
    )
sys.path[:] = [*(path for path in sys.path if os.path.abspath(path) != code_folder), code_folder]

# Jobs: whatever folder they run in, and whatever that contains.
other_folders = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path != code_folder]
os.environ.update(
    PYTHONPATH=os.pathsep.join([code_folder, *filter(None, other_folders)]),
    PYTHONSAFEPATH="1",
)
