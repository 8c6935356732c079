"""Starting the processes of one training."""

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
"""A variable of the environment in which torchrun tells a process how many there are."""


def is_torchrun_worker(process_count: int) -> bool:
    """Say whether this is one of the processes that train together, started by torchrun.

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
    """Run a stage in several processes of this machine, as torchrun does, and wait for them.

    Args:
        process_count: how many.
        stage_name: its name, "nmt.train".
        arguments: of its function.

    Raises:
        SystemExit: one of them has failed and printed why; the others are ended.
        KeyboardInterrupt: Ctrl-C has ended all of them.
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import main

    call = [stage_name, to_json(arguments).decode()]
    try:
        main(["--standalone", f"--nproc-per-node={process_count}", "-m", "pipeline_py.nmt.training.launch", *call])
    except ChildFailedError:
        sys.exit(1)
    except SignalException as error:
        if error.sigval == signal.SIGINT:
            raise KeyboardInterrupt from None
        raise


def run_worker(stage_name: str, arguments_json: str) -> None:
    """Run a stage in one of the processes.

    Args:
        stage_name: its name.
        arguments_json: of its function, as JSON.
    """
    called = StageFunction(stage_name)
    called.call_function(called.validate_arguments(json.loads(arguments_json)))


if __name__ == "__main__":
    run_and_exit(lambda: run_worker(*sys.argv[1:]))
