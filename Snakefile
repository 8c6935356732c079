"""Train and compare translation systems: from raw text to tables with significance marks.

snakemake --cores 8 results/table1.tsv
"""

import gc
import os
import sys
from pathlib import Path

from snakemake.logging import logger
from snakemake.utils import min_version


include: "workflow/code.smk"


from pipeline_py.application.experiment_reader import plan_experiment
from pipeline_py.config.config_files import check_config_files
from pipeline_py.config.inherited_entries import format_omission_warning
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.config.base import check_utf8_paths, is_valid_snakemake_path
from pipeline_py.plan import page
from pipeline_py.plan.evaluation import ALL_TEST_SETS
from pipeline_py.plan.paths import build_name_pattern, build_system_pattern
from pipeline_py.plan.recipe_suggestion import suggest_recipe
from pipeline_py.plan.report import match_targets
from pipeline_py.plan.subword import SYNTAX_NAME_BY_SUFFIX
from pipeline_py.run.cpu_usage import count_processors
from pipeline_py.run.errors import InputError
from pipeline_py.run.interruption import SNAKEMAKE_PID_VARIABLE
from pipeline_py.run.command_line import GARBAGE_COLLECTOR_THRESHOLD
from pipeline_py.run.workflow_files import find_default_config

min_version("9.27")
gc.set_threshold(GARBAGE_COLLECTOR_THRESHOLD)  # a plan makes many objects and little garbage


include: "workflow/messages.smk"


if not is_valid_snakemake_path(PROJECT_FOLDER):
    raise InputError("braces and < > in a path have a meaning in Snakemake; rename the folder", PROJECT_FOLDER)
check_utf8_paths([PROJECT_FOLDER, os.getcwd()])

if workflow.is_main_process:
    check_config_files([find_default_config(Path()), *workflow.overwrite_configfiles])


configfile: str(find_default_config(Path()))


EXPERIMENT = load_experiment(
    config,
    command_line_config=workflow.config_settings.config,
    own_config=workflow.config_settings.overwrite_config or None,
)

plan = plan_experiment(EXPERIMENT, Path(os.path.relpath(PROJECT_FOLDER)))  # relative, so that the folder may be renamed

if workflow.is_main_process and EXPERIMENT.omitted_entries:
    logger.warning(format_omission_warning(EXPERIMENT.omitted_entries))
if workflow.is_main_process and (suggestion := suggest_recipe(EXPERIMENT)):
    logger.warning(suggestion)

# More compute-bound jobs than processors only slow each other down. On a cluster, its scheduler decides.
requested_cores = workflow.cores if workflow.nodes is None else None
if requested_cores is not None:
    workflow.global_resources["_cores"] = min(requested_cores, count_processors())

# Stages run under the interpreter that runs Snakemake, whether or not its environment is activated.
os.environ.update(PATH=os.pathsep.join([os.path.dirname(sys.executable), *os.get_exec_path()]))
os.environ[SNAKEMAKE_PID_VARIABLE] = str(os.getpid())  # a job ends when its Snakemake process ends

# On a cluster, consecutive small jobs of one group are submitted as one job; elsewhere groups have no effect.
on_cluster = str if workflow.nodes is not None else lambda group: None


pathvars:
    results=EXPERIMENT.get_output_folder("results"),
    logs=EXPERIMENT.get_output_folder("logs"),
    benchmarks=EXPERIMENT.times_folder,


wildcard_constraints:
    split=build_name_pattern(
        [*EXPERIMENT.corpora.splits_and_contrastive_sets, *EXPERIMENT.corpora.length_texts_by_name, ALL_TEST_SETS]
    ),
    side=r"source|target\d*",
    parser=build_name_pattern(EXPERIMENT.parsers),
    system=build_system_pattern(EXPERIMENT.systems),
    run=r"seed\d+|run\d+|single",
    units=build_name_pattern(EXPERIMENT.subword_configs),
    table=build_name_pattern(EXPERIMENT.tables),
    figure=build_name_pattern(EXPERIMENT.figures),
    grouping=rf"words|({build_name_pattern(EXPERIMENT.parsers)})\.(conllu|ptb)",


include: "workflow/inputs.smk"
include: "workflow/records.smk"
include: "workflow/jobs.smk"
include: "workflow/memory.smk"
include: "workflow/lock.smk"
include: "workflow/job_server.smk"
include: "workflow/terminal.smk"
include: "workflow/forecast.smk"
include: "workflow/rules/base.smk"
include: "workflow/rules/corpus/texts.smk"
include: "workflow/rules/corpus/contrastive.smk"
include: "workflow/rules/corpus/tokens.smk"
include: "workflow/rules/syntax/trees.smk"
include: "workflow/rules/syntax/fallbacks.smk"
include: "workflow/rules/syntax/parsers.smk"
include: "workflow/rules/syntax/views.smk"
include: "workflow/rules/syntax/reports.smk"
include: "workflow/rules/subword.smk"
include: "workflow/rules/smt.smk"
include: "workflow/rules/nmt.smk"
include: "workflow/rules/evaluation/statistics.smk"
include: "workflow/rules/evaluation/comparisons.smk"
include: "workflow/rules/evaluation/outputs.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        "<results>/report.html",
        [
            file
            for table in EXPERIMENT.select_requested_names(EXPERIMENT.tables)
            for file in plan.report.get_table_outputs(table)
        ],
        [
            file
            for figure in EXPERIMENT.select_requested_names(EXPERIMENT.figures)
            for file in plan.report.get_figure_outputs(figure)
        ],
        expand("<results>/syntax/{parser}/accuracy.tsv", parser=EXPERIMENT.requested_trained_parsers),
        plan.syntax.get_parser_report_paths(),
    localrule: True


onstart:
    lock_results()
    start_job_server()
    # Otherwise Snakemake evaluates all waiting jobs every second, and again after each finished job.
    if workflow.nodes is None:
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    log_answers()
