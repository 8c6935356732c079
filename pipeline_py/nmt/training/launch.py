"""Starting the processes of one training."""

import os
import signal
import sys

from pipeline_py.input_error import InputError

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


def launch(count: int) -> None:
    """Run this command in several processes of this machine, as torchrun does, and wait for them.

    Raises:
        SystemExit: one of them has failed, and said why; the others are ended.
        KeyboardInterrupt: Ctrl-C has ended all of them.
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import main

    module = sys.modules["__main__"].__spec__
    assert module is not None, "stages are run as modules"
    try:
        main(["--standalone", f"--nproc-per-node={count}", "-m", module.name, *sys.argv[1:]])
    except ChildFailedError:
        sys.exit(1)
    except SignalException as error:
        if error.sigval == signal.SIGINT:
            raise KeyboardInterrupt from None
        raise
