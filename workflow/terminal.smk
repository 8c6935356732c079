"""Show a short progress report on the terminal: the plan, long jobs, messages of stages, errors and answers.

Snakemake's log has all details. `--verbose`, `--printshellcmds` and `--quiet` work as in Snakemake.
"""

import logging
from pathlib import PurePath

import snakemake
from snakemake.logging import ColorizingTextHandler, logger
from snakemake_interface_logger_plugins.common import LogEvent

from pipeline_py.plan.forecast import JobProgress

SNAKEMAKE_FOLDER = str(Path(snakemake.__file__).parent)
LOG_ONLY_EVENTS = (
    LogEvent.WORKFLOW_STARTED,
    LogEvent.RUN_INFO,
    LogEvent.RESOURCES_INFO,
    LogEvent.JOB_STARTED,
    LogEvent.SHELLCMD,
)
FINAL_MESSAGES = ("Nothing to be done", "Complete log", "Elapsed time", "Unlocked")
"""Beginnings of the messages that Snakemake logs at the end of a run."""

job_progress = JobProgress()


class TerminalFilter(logging.Filter):
    """Keeps technical records out of the terminal, and reports jobs in one line each."""

    def __init__(self, handler: ColorizingTextHandler) -> None:
        super().__init__()
        self.handler = handler

    def filter(self, record: logging.LogRecord) -> bool:
        event = getattr(record, "event", None)
        if event == LogEvent.JOB_INFO:
            if record.benchmark:
                times = PurePath(record.benchmark).relative_to(EXPERIMENT.times_folder)
                self._write_line(job_progress.start(record.jobid, str(times)))
        elif event == LogEvent.JOB_FINISHED:
            job_progress.finish(record.job_id)
        elif event == LogEvent.PROGRESS:
            self._write_line(job_progress.report_progress(record.done, record.total))
        elif event == LogEvent.JOB_ERROR:
            self._write_line(job_progress.fail(record.jobid, record.rule_name, record.log or []))
        elif event in LOG_ONLY_EVENTS or (event == LogEvent.ERROR and "CalledProcessError" in str(record.msg)):
            return False
        elif event is None and record.levelno == logging.INFO and record.pathname.startswith(SNAKEMAKE_FOLDER):
            return str(record.msg).startswith(FINAL_MESSAGES)
        else:
            return True
        return False

    def _write_line(self, line: str) -> None:
        if line:
            self.handler.stream.write(f"{line}\n")
            self.handler.flush()


class DryRunFilter(logging.Filter):
    """Keeps Snakemake's description of the machine, its counts of jobs and its advice out of the plan of a dry run."""

    def filter(self, record: logging.LogRecord) -> bool:
        event = getattr(record, "event", None)
        if event is None and record.levelno == logging.INFO and record.pathname.startswith(SNAKEMAKE_FOLDER):
            return str(record.msg).startswith(FINAL_MESSAGES)
        return event not in LOG_ONLY_EVENTS


def select_terminal_filter(handler: ColorizingTextHandler) -> logging.Filter | None:
    settings = workflow.output_settings
    if settings.verbose or settings.printshellcmds or settings.debug_dag:
        return None
    if settings.dryrun:
        return DryRunFilter()
    return None if settings.quiet else TerminalFilter(handler)


if workflow.is_main_process:
    for handler in logger.handlers:
        if isinstance(handler, ColorizingTextHandler) and (terminal_filter := select_terminal_filter(handler)):
            handler.addFilter(terminal_filter)
