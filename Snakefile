"""Does syntax help? From raw text to a table of translation systems with significance marks.

snakemake --cores 8 results/table1.tsv
"""

import gc
import os
import sys
from pathlib import Path

from snakemake.logging import logger
from snakemake.utils import min_version


include: "workflow/code.smk"


from pipeline_py.config.files import check_files
from pipeline_py.config.inherited_entries import sentence_about
from pipeline_py.config.load import load
from pipeline_py.config.base import check_encoding, is_path
from pipeline_py.run.contents import Contents
from pipeline_py.corpus.shared_sentences import shared_sentences
from pipeline_py.plan import page
from pipeline_py.plan.evaluation import TESTS
from pipeline_py.plan.paths import one_of
from pipeline_py.plan.plan import Plan
from pipeline_py.plan.recipe_suggestion import suggest_recipe
from pipeline_py.plan.report import called
from pipeline_py.plan.subword import INHERITED
from pipeline_py.run.usage import count_processors
from pipeline_py.run.errors import InputError
from pipeline_py.run.interruption import RUNNER
from pipeline_py.run.command import OBJECTS

min_version("9.27")
gc.set_threshold(OBJECTS)  # a plan makes many objects and little garbage


include: "workflow/messages.smk"


if not is_path(workflow.basedir):
    raise InputError("braces and < > in a path have a meaning in Snakemake; rename the folder", workflow.basedir)
check_encoding([workflow.basedir, os.getcwd()])

if workflow.is_main_process:
    check_files([*filter(Path.exists, [Path("config.yaml")]), *workflow.overwrite_configfiles])


configfile: "config.yaml"


EXPERIMENT = load(
    config,
    command_line=workflow.config_settings.config,
    own=workflow.config_settings.overwrite_config or None,
)

# Beside what Snakemake knows of the files in this folder: whoever removes that begins anew.
known_contents = Path(".snakemake/contents.json")
shared = shared_sentences(EXPERIMENT, Contents(known_contents).of, Path(".snakemake/shared_sentences.json"))
project = Path(os.path.relpath(workflow.basedir))  # so that the folder may be renamed
plan = Plan(EXPERIMENT, project, known_contents, shared)

if workflow.is_main_process and EXPERIMENT.left_out:
    logger.warning(sentence_about(EXPERIMENT.left_out))
if workflow.is_main_process and (suggestion := suggest_recipe(EXPERIMENT)):
    logger.warning(suggestion)

# More compute-bound jobs than processors only slow each other down. On a cluster, its scheduler decides.
cores_asked = workflow.cores if workflow.nodes is None else None
if cores_asked is not None:
    workflow.global_resources["_cores"] = min(cores_asked, count_processors())

# Stages run under the interpreter that runs Snakemake, whether or not its environment is activated.
os.environ.update(PATH=os.pathsep.join([os.path.dirname(sys.executable), *os.get_exec_path()]))
os.environ[RUNNER] = str(os.getpid())  # jobs end with the Snakemake that runs them, on a node with that of the node

# A rule's small jobs that follow each other, its group, are one job of a cluster; elsewhere a group is no matter.
on_cluster = str if workflow.nodes is not None else lambda group: None


pathvars:
    results=EXPERIMENT.folder("results"),
    logs=EXPERIMENT.folder("logs"),
    benchmarks=EXPERIMENT.times_folder,


wildcard_constraints:
    split=one_of([*EXPERIMENT.corpora.texts, TESTS]),
    side=r"source|target\d*",
    parser=one_of(EXPERIMENT.parsers),
    system=one_of(EXPERIMENT.systems),
    run=r"seed\d+|run\d+|single",
    units=one_of(EXPERIMENT.units),
    table=one_of(EXPERIMENT.tables),
    figure=one_of(EXPERIMENT.figures),
    grouping=rf"words|({one_of(EXPERIMENT.parsers)})\.(conllu|ptb)",


include: "workflow/inputs.smk"
include: "workflow/records.smk"
include: "workflow/jobs.smk"
include: "workflow/lock.smk"
include: "workflow/job_server.smk"
include: "workflow/terminal.smk"
include: "workflow/forecast.smk"
include: "workflow/rules/base.smk"
include: "workflow/rules/corpus/texts.smk"
include: "workflow/rules/corpus/contrastive.smk"
include: "workflow/rules/corpus/tokens.smk"
include: "workflow/rules/syntax/trees.smk"
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
        [file for table in EXPERIMENT.asked(EXPERIMENT.tables) for file in plan.report.everything_of(table)],
        [file for figure in EXPERIMENT.asked(EXPERIMENT.figures) for file in plan.report.pictures_of(figure)],
        expand("<results>/syntax/{parser}/accuracy.tsv", parser=EXPERIMENT.trained_parsers),
        plan.syntax.reports_of_parsers(),
    localrule: True


onstart:
    lock_results()
    start_job_server()
    # Else all jobs that wait are weighed anew every second, and after each job that ends once more in every second.
    if workflow.nodes is None:
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    tell_answers()
