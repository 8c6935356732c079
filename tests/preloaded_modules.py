"""Import and parse the modules that the workflow needs to plan, and import the libraries of its longest jobs.

This happens once for all runs of a process.
"""

import machine.translation.thot  # noqa: F401
import matplotlib.figure  # noqa: F401
import pandas  # noqa: F401
import sacrebleu  # noqa: F401
import sacremoses  # noqa: F401
import scipy.stats  # noqa: F401
import smart_open  # noqa: F401
import snakemake.cli  # noqa: F401
import stanza.pipeline.core  # noqa: F401
import torch  # noqa: F401

import pipeline_py.plan.page
import pipeline_py.plan.plan  # noqa: F401
from pipeline_py.run.provenance import PACKAGE_NAMES, PROJECT_FOLDER, _parse_module

for package in PACKAGE_NAMES:
    for file in (PROJECT_FOLDER / package).rglob("*.py"):
        _parse_module(".".join(file.relative_to(PROJECT_FOLDER).with_suffix("").parts))
