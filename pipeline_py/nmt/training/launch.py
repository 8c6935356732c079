"""Starting the processes of one training."""

import json
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

from pipeline_py.run.command import end_after
from pipeline_py.run.errors import InputError
from pipeline_py.run.runner import Stage

COUNT = "WORLD_SIZE"
"""A variable of the environment in which torchrun tells a process how many there are."""


def is_one_of_several(count: int) -> bool:
    """Say whether this is one of the processes that train together, started by torchrun.

    Raises:
        InputError: torchrun has started more or fewer than `count`.
    """
    if count == 1 or COUNT not in os.environ:
        return False
    if os.environ[COUNT] != str(count):
        raise InputError(f"training.processes is {count} and {os.environ[COUNT]} were started; start as many")
    return True


def launch(count: int, stage: str, arguments: Mapping[str, Any]) -> None:
    """Run a stage in several processes of this machine, as torchrun does, and wait for them.

    Args:
        count: how many.
        stage: its name, "nmt.train".
        arguments: of its function.

    Raises:
        SystemExit: one of them has failed and printed why; the others are ended.
        KeyboardInterrupt: Ctrl-C has ended all of them.
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import main

    call = [stage, to_json(arguments).decode()]
    try:
        main(["--standalone", f"--nproc-per-node={count}", "-m", "pipeline_py.nmt.training.launch", *call])
    except ChildFailedError:
        sys.exit(1)
    except SignalException as error:
        if error.sigval == signal.SIGINT:
            raise KeyboardInterrupt from None
        raise


def run_process(stage: str, arguments: str) -> None:
    """Run a stage in one of the processes.

    Args:
        stage: its name.
        arguments: of its function, as JSON.
    """
    called = Stage(stage)
    called.call(called.validate(json.loads(arguments)))


if __name__ == "__main__":
    end_after(lambda: run_process(*sys.argv[1:]))
