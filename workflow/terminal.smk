"""What the terminal shows of a run: the plan, costly jobs, what stages say, mistakes, answers.

Snakemake's own detail is in its log, which it names in the end; `--verbose`, `--printshellcmds` and `--quiet` show what
they always do.
"""

import logging
from pathlib import PurePath

import snakemake
from snakemake.logging import ColorizingTextHandler, logger
from snakemake_interface_logger_plugins.common import LogEvent

from pipeline_py.plan.forecast import RunLines

OF_SNAKEMAKE = str(Path(snakemake.__file__).parent)
DETAIL = (
    LogEvent.WORKFLOW_STARTED,
    LogEvent.RUN_INFO,
    LogEvent.RESOURCES_INFO,
    LogEvent.JOB_STARTED,
    LogEvent.SHELLCMD,
)
END = ("Nothing to be done", "Complete log", "Elapsed time", "Unlocked")
"""What Snakemake says at the end of a run."""

run_lines = RunLines()


class Terminal(logging.Filter):
    """Leaves to the log what is of no use to a person, and tells of jobs in lines of our own."""

    def __init__(self, handler: ColorizingTextHandler) -> None:
        super().__init__()
        self.handler = handler

    def filter(self, record: logging.LogRecord) -> bool:
        event = getattr(record, "event", None)
        if event == LogEvent.JOB_INFO:
            if record.benchmark:
                times = PurePath(record.benchmark).relative_to(EXPERIMENT.times_folder)
                self._tell(run_lines.begin(record.jobid, str(times)))
        elif event == LogEvent.JOB_FINISHED:
            run_lines.end(record.job_id)
        elif event == LogEvent.PROGRESS:
            self._tell(run_lines.progress(record.done, record.total))
        elif event == LogEvent.JOB_ERROR:
            self._tell(run_lines.fail(record.jobid, record.rule_name, record.log or []))
        elif event in DETAIL or (event == LogEvent.ERROR and "CalledProcessError" in str(record.msg)):
            return False
        elif event is None and record.levelno == logging.INFO and record.pathname.startswith(OF_SNAKEMAKE):
            return str(record.msg).startswith(END)
        else:
            return True
        return False

    def _tell(self, line: str) -> None:
        if line:
            self.handler.stream.write(f"{line}\n")
            self.handler.flush()


def is_asked_for_detail() -> bool:
    settings = workflow.output_settings
    asked = (settings.dryrun, settings.verbose, settings.printshellcmds, settings.quiet, settings.debug_dag)
    return any(map(bool, asked))


if workflow.is_main_process and not is_asked_for_detail():
    for handler in logger.handlers:
        if isinstance(handler, ColorizingTextHandler):
            handler.addFilter(Terminal(handler))
