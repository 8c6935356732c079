"""What is said of mistakes, in our words in the place of Snakemake's."""

import logging
import re

from snakemake.logging import logger
from snakemake.settings.types import RerunTrigger

from pipeline_py.config.load import no_target

SENTENCES = {
    "InputError": re.compile(r'InputError in file ".+:\n(.+)'),
    "InputFunctionException": re.compile(r"Error:\n  InputError: (.+)"),
    "MissingRuleException": re.compile(r"No rule to produce (.+?) \(if you use input functions"),
}
"""Where the sentence stands in what Snakemake says of an exception; of the last it is the target that nothing makes."""


class OurWords(logging.Filter):
    """Tells a mistake of the user's without a traceback, and what is near where nothing makes a target."""

    def filter(self, record: logging.LogRecord) -> bool:
        exception = getattr(record, "exception", None)
        said = exception in SENTENCES and SENTENCES[exception].search(str(record.msg))
        if said and exception == "MissingRuleException":
            names = [each.name for each in workflow.rules if not each.has_wildcards()]
            record.msg = no_target(said[1], EXPERIMENT, names)
        elif said:
            record.msg = said[1]
        return True


logger.addFilter(OurWords())


def is_current(file):
    """Return whether this run has seen to it that a file is up to date with inputs, settings and code.

    A run with `--until`, `--omit-from`, `--touch` or fewer `--rerun-triggers` may leave it as an earlier run made it.
    """
    if workflow.touch or workflow.rerun_triggers != RerunTrigger.all():
        return False
    dag = workflow.dag
    job = next((job for job in dag.jobs if file in job.output), None)
    if job is None:  # left out of this run
        return False
    is_considered = not (dag.untilrules or dag.untilfiles) or job in dag.bfs(dag.dependencies, *dag.targetjobs)
    return is_considered and all(dag.finished(each) or not dag.needrun(each) for each in dag.bfs(dag.dependencies, job))


def tell_answers():
    """Log at the end of a run its answers and the files with more of them, or how to bring them up to date."""
    from pipeline_py.report.answers import read_answers, render_for_terminal
    from pipeline_py.report.stage_results import read_ceilings, read_exclusions
    from pipeline_py.run.record import check_input

    results = EXPERIMENT.folder("results")
    answers, notes, files = [], [], []
    for table in plan.claims.shown_tables:
        claims, exclusions = (
            file(table).replace("<results>", results) for file in (plan.claims.file, plan.claims.exclusions_file)
        )
        if not is_current(claims):
            command = plan.page.command(
                workflow.overwrite_configfiles or [],
                workflow.config_settings.config,
                sorted(workflow.dag_settings.targets),
            )
            logger.info(f"\nThis run has not brought all answers up to date. This does: {command}")
            return
        for path in (claims, exclusions):
            check_input(Path(path))
        answers += read_answers(Path(claims))
        notes += read_exclusions(Path(exclusions)).sentences
        files.append(claims)
    if answers:
        ceiling_file = Path(plan.evaluation.ceilings.replace("<results>", results))
        check_input(ceiling_file)
        ceilings = read_ceilings(ceiling_file)
        notes = [*(ceiling.warning for ceiling in ceilings if ceiling.is_low), *notes]
        files += [f"{results}/{file}" for file in plan.report.shown_of_run()]
        lines = render_for_terminal(answers, [*dict.fromkeys(notes)])
        logger.info("\n".join(["", *lines, f"More in: {', '.join(filter(os.path.exists, files))}"]))
