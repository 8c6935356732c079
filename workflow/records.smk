"""Run jobs again whose outputs have no record, or the record of a job that this plan does not have.

Snakemake compares jobs with its own metadata, which may be lost, damaged or older than the results. The records next to
outputs are compared without that metadata.
"""

from functools import cache

from snakemake.settings.types import RerunTrigger

from pipeline_py.plan.outdated_outputs import find_outdated_outputs


@cache
def force_outdated_jobs():
    """Make Snakemake run the jobs of all outdated outputs; called once the job graph is being built."""
    if workflow.is_main_process and not workflow.touch and workflow.rerun_triggers == RerunTrigger.all():
        workflow.dag.forcefiles.update(find_outdated_outputs(plan, Path(EXPERIMENT.get_output_folder("results"))))
