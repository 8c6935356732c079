"""The end of a process by Ctrl-C, or because its Snakemake is gone."""

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NoReturn

EXIT_CODE = 130
"""128 and the number of SIGINT, as shells report it."""


def report_interruptions() -> None:
    """Report Ctrl-C in one sentence wherever this process is interrupted."""
    sys.excepthook = _report


def _report(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        end_interrupted()
    sys.__excepthook__(kind, error, traceback)


def end_interrupted() -> NoReturn:
    """End this process, which Ctrl-C has interrupted."""
    print("error: interrupted; run the same command again", file=sys.stderr, flush=True)
    os._exit(EXIT_CODE)


RUNNER = "ARBITREE_SNAKEMAKE"
"""The environment variable with the number of the Snakemake process that runs a job, which the Snakefile sets."""


def end_with_runner() -> None:
    """End this process and those that it has started as soon as its Snakemake ends, however that does.

    A stage that Snakemake does not run is left alone, and so is any on another system than Linux.
    """
    runner = os.environ.get(RUNNER, "")
    if not hasattr(os, "pidfd_open") or not runner.isdecimal() or int(runner) not in _ancestors():
        return
    try:
        handle = os.pidfd_open(int(runner))
    except OSError:
        return
    threading.Thread(target=_wait, args=(handle, runner), daemon=True).start()


def _wait(handle: int, runner: str) -> None:
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    waiting.poll()
    print(f"error: Snakemake (process {runner}) has ended, and with it this job; run it again", file=sys.stderr)
    sys.stderr.flush()
    for process in [*_descendants(os.getpid()), os.getpid()]:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _parent(process: int) -> int:
    """Return the number of a process's parent; 0 without one."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return int(status.rpartition(")")[2].split()[1])  # the name of a process may hold anything, also brackets


def _ancestors() -> Iterator[int]:
    process = os.getppid()
    while process:
        yield process
        process = _parent(process)


def _descendants(process: int) -> list[int]:
    numbers = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdecimal()]
    children = [number for number in numbers if _parent(number) == process]
    return [descendant for child in children for descendant in (*_descendants(child), child)]
