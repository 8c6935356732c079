"""Run a job: `python -m pipeline_py.run JOB`, with a job as JSON, or the record of a job to run again."""

import json
import sys
from pathlib import Path

from pipeline_py.run.command import end_after
from pipeline_py.run.runner import run_again, run_job


def main(job: str) -> None:
    """Run a job, given as JSON or as the path of a record."""
    if job.startswith("{"):
        run_job(json.loads(job))
    else:
        run_again(Path(job))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m pipeline_py.run JOB, a job as JSON or the file NAME.job.json of one to run again")
    end_after(lambda: main(sys.argv[1]))
