"""Run a job (`python -m pipeline_py.run JOB`) given as JSON or as the path of a record."""

import sys

from pipeline_py.run.job_server import request_job


def run_job_argument(job_argument: str) -> None:
    """Run a job from JSON, or rerun the job of a record."""
    import json
    from pathlib import Path

    from pipeline_py.run.job_runner import rerun_job, run_job

    if job_argument.startswith("{"):
        run_job(json.loads(job_argument))
    else:
        rerun_job(Path(job_argument))


def main() -> None:
    """Run the job of the command line, in the job server if there is one."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m pipeline_py.run JOB, a job as JSON or the file NAME.job.json of one to run again")
    code = request_job(sys.argv[1])
    if code is not None:
        sys.exit(code)
    from pipeline_py.run.command_line import run_and_exit

    run_and_exit(lambda: run_job_argument(sys.argv[1]))


if __name__ == "__main__":
    main()
