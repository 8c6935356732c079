"""The launch of the processes of a distributed training."""

import json
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

from pipeline_py.run.command_line import run_and_exit
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_runner import StageFunction

WORLD_SIZE_VARIABLE = "WORLD_SIZE"
"""Environment variable in which torchrun passes the number of processes."""


def is_torchrun_worker(process_count: int) -> bool:
    """Return whether torchrun has started this process for a distributed training.

    Raises:
        InputError: torchrun has started more or fewer than `process_count`.
    """
    if process_count == 1 or WORLD_SIZE_VARIABLE not in os.environ:
        return False
    if os.environ[WORLD_SIZE_VARIABLE] != str(process_count):
        raise InputError(
            f"training.processes is {process_count} and {os.environ[WORLD_SIZE_VARIABLE]} were started; start as many"
        )
    return True


def launch_processes(process_count: int, stage_name: str, arguments: Mapping[str, Any]) -> None:
    """Run a stage in several processes of this machine with torchrun, and wait for them.

    Args:
        process_count: number of processes.
        stage_name: name of the stage, e.g. "nmt.train".
        arguments: arguments of the stage function.

    Raises:
        SystemExit: a process failed and printed its error; the others are terminated.
        KeyboardInterrupt: Ctrl-C terminated all processes.
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import main

    worker_arguments = [stage_name, to_json(arguments).decode()]
    try:
        main(
            [
                "--standalone",
                f"--nproc-per-node={process_count}",
                "-m",
                "pipeline_py.nmt.training.launch",
                *worker_arguments,
            ]
        )
    except ChildFailedError:
        sys.exit(1)
    except SignalException as error:
        if error.sigval == signal.SIGINT:
            raise KeyboardInterrupt from None
        raise


def run_worker(stage_name: str, arguments_json: str) -> None:
    """Run a stage in one of the processes.

    Args:
        stage_name: name of the stage.
        arguments_json: arguments of the stage function as JSON.
    """
    stage = StageFunction(stage_name)
    stage.call_function(stage.validate_arguments(json.loads(arguments_json)))


if __name__ == "__main__":
    run_and_exit(lambda: run_worker(*sys.argv[1:]))
