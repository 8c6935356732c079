"""What a run of the workflow imports and reads of the project before it plans: done once, for all runs of a process."""

import smart_open  # noqa: F401
import snakemake.cli  # noqa: F401

import pipeline_py.plan.page
import pipeline_py.plan.plan  # noqa: F401
from pipeline_py.provenance import FOLDER, _read

for file in FOLDER.rglob("*.py"):
    _read(".".join(file.relative_to(FOLDER.parent).with_suffix("").parts))
