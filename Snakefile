"""Does syntax help? From raw text to a table of translation systems with significance marks.

snakemake --cores 8 results/table1.tsv
"""

import os
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.utils import min_version

from pipeline_py.config.files import check_files
from pipeline_py.config.leaving_out import sentence_about
from pipeline_py.config.loading import load
from pipeline_py.config.names import is_path
from pipeline_py.provenance import made_by
from pipeline_py.stage import InputError

min_version("9.27")

try:
    if workflow.is_main_process:
        check_files([*filter(Path.exists, [Path("config.yaml")]), *workflow.overwrite_configfiles])
except InputError as error:
    raise WorkflowError(str(error)) from None

if not is_path(workflow.basedir):
    raise WorkflowError(f"{workflow.basedir}: Snakemake takes braces and < > in a path for its own; rename the folder")


configfile: "config.yaml"


try:
    EXPERIMENT = load(
        config,
        command_line=workflow.config_settings.config,
        own=workflow.config_settings.overwrite_config or None,
    )
except InputError as error:
    raise WorkflowError(str(error)) from None

if workflow.is_main_process and EXPERIMENT.left_out:
    logger.warning(sentence_about(EXPERIMENT.left_out))

# Stages run under the interpreter that runs Snakemake, whether or not its environment is activated.
os.environ.update(PATH=os.pathsep.join([os.path.dirname(sys.executable), *os.get_exec_path()]))


include: "workflow/plan/paths.smk"


pathvars:
    results=EXPERIMENT.folder("results"),
    logs=EXPERIMENT.folder("logs"),
    benchmarks=EXPERIMENT.folder("benchmarks"),


wildcard_constraints:
    split="[^/.]+",
    side=r"source|target\d*",
    parser=one_of(EXPERIMENT.parsers),
    system=one_of(EXPERIMENT.systems),
    run=r"seed\d+|single",
    units=one_of(EXPERIMENT.units),
    table=one_of(EXPERIMENT.tables),
    figure=one_of(EXPERIMENT.figures),


# A room's plan says what the configuration means for its rules.


include: "workflow/plan/corpus.smk"
include: "workflow/plan/syntax.smk"
include: "workflow/plan/subword.smk"
include: "workflow/plan/smt.smk"
include: "workflow/plan/nmt.smk"
include: "workflow/plan/evaluation.smk"
include: "workflow/plan/report.smk"
include: "workflow/plan/forecast.smk"
include: "workflow/plan/targets.smk"
include: "workflow/rules/corpus.smk"
include: "workflow/rules/syntax/trees.smk"
include: "workflow/rules/syntax/parsers.smk"
include: "workflow/rules/syntax/views.smk"
include: "workflow/rules/syntax/reports.smk"
include: "workflow/rules/subword.smk"
include: "workflow/rules/smt.smk"
include: "workflow/rules/nmt.smk"
include: "workflow/rules/evaluation/scores.smk"
include: "workflow/rules/evaluation/comparisons.smk"
include: "workflow/rules/evaluation/breakdowns.smk"
include: "workflow/rules/report/tables.smk"
include: "workflow/rules/report/counts.smk"
include: "workflow/rules/report/figures.smk"
include: "workflow/rules/report/page.smk"


rule all:
    default_target: True
    input:
        "<results>/report.html",
        [file for table in EXPERIMENT.asked(EXPERIMENT.tables) for file in everything_of(table)],
        [file for figure in EXPERIMENT.asked(EXPERIMENT.figures) for file in pictures_of(figure)],
        expand("<results>/syntax/{parser}/accuracy.tsv", parser=EXPERIMENT.trained_parsers),
        reports_of_parsers(),
    localrule: True
