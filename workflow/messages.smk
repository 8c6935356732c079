"""Replace Snakemake's messages about user errors, and report the answers at the end of a run."""

import logging
import re

from snakemake.logging import logger
from snakemake.settings.types import RerunTrigger

from pipeline_py.config.load_experiment import format_unknown_target_error

MESSAGE_PATTERNS = {
    "InputError": re.compile(r'InputError in file ".+:\n(.+)'),
    "InputFunctionException": re.compile(r"Error:\n  InputError: (.+)"),
    "MissingRuleException": re.compile(r"No rule to produce (.+?) \(if you use input functions"),
}
"""Patterns of the message in Snakemake's text for an exception; for the last one, of the unknown target."""


class UserErrorFilter(logging.Filter):
    """Reports user errors without a traceback, and suggests similar names for an unknown target."""

    def filter(self, record: logging.LogRecord) -> bool:
        exception = getattr(record, "exception", None)
        match = exception in MESSAGE_PATTERNS and MESSAGE_PATTERNS[exception].search(str(record.msg))
        if match and exception == "MissingRuleException":
            names = [rule.name for rule in workflow.rules if not rule.has_wildcards()]
            record.msg = format_unknown_target_error(match[1], EXPERIMENT, names)
        elif match:
            record.msg = match[1]
        return True


logger.addFilter(UserErrorFilter())


def is_current(file):
    """Return whether a file is up to date with inputs, settings and code after this run.

    A run with `--until`, `--omit-from`, `--touch` or fewer `--rerun-triggers` may keep the file of an earlier run.
    """
    if workflow.touch or workflow.rerun_triggers != RerunTrigger.all():
        return False
    dag = workflow.dag
    job = next((job for job in dag.jobs if file in job.output), None)
    if job is None:  # not part of this run
        return False
    is_considered = not (dag.untilrules or dag.untilfiles) or job in dag.bfs(dag.dependencies, *dag.targetjobs)
    return is_considered and all(
        dag.finished(ancestor) or not dag.needrun(ancestor) for ancestor in dag.bfs(dag.dependencies, job)
    )


def log_answers():
    """Log the answers of a finished run and the files with details, or the command that updates them."""
    from pipeline_py.report.answers import read_answers, render_terminal_summary
    from pipeline_py.report.stage_results import read_ceilings, read_verdict_exclusions
    from pipeline_py.run.job_record import check_input_file

    results = EXPERIMENT.get_output_folder("results")
    answers, notes, files = [], [], []
    for table in plan.claims.answer_tables:
        claims, exclusions = (
            get_path(table).replace("<results>", results)
            for get_path in (plan.claims.get_claims_path, plan.claims.get_exclusions_path)
        )
        if not is_current(claims):
            command = plan.page.format_command(
                workflow.overwrite_configfiles or [],
                workflow.config_settings.config,
                sorted(workflow.dag_settings.targets),
            )
            logger.info(f"\nSome answers are out of date after this run. To update them: {command}")
            return
        for path in (claims, exclusions):
            check_input_file(Path(path))
        answers += read_answers(Path(claims))
        notes += read_verdict_exclusions(Path(exclusions)).descriptions
        files.append(claims)
    if answers:
        ceiling_file = Path(plan.evaluation.ceiling_path.replace("<results>", results))
        if ceiling_file.exists():  # a run that makes only a file of claims does not make it
            check_input_file(ceiling_file)
            ceilings = read_ceilings(ceiling_file)
            notes = [*(ceiling.warning_message for ceiling in ceilings if ceiling.is_low), *notes]
        files += [f"{results}/{file}" for file in plan.report.get_displayed_files()]
        lines = render_terminal_summary(answers, [*dict.fromkeys(notes)])
        logger.info("\n".join(["", *lines, f"More in: {', '.join(filter(os.path.exists, files))}"]))
